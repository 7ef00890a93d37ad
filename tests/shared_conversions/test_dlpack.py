# SPDX-License-Identifier: Apache-2.0
"""Objects of other libraries, through DLPack."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_light_ort_host._conversions import ConversionError, TensorView

CPU, CUDA = 1, 2


class Foreign:
    """A tensor of another library: it has the DLPack methods and nothing else."""

    def __init__(self, array: np.ndarray, device: int = CPU) -> None:
        self.array = array
        self.device = device

    def __dlpack__(self, **options: object) -> object:
        assert self.device == CPU, "memory of another device must not be asked for"
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64"])
def test_cpu_memory_is_borrowed(dtype):
    array = np.ones((2, 3), dtype)
    view = TensorView(Foreign(array), {"float32": "float"}.get(dtype, dtype), [2, "n"])
    assert view.address == array.ctypes.data
    assert view.shape == (2, 3)


def test_read_only_memory_is_borrowed():
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    assert TensorView(Foreign(array), "float").address == array.ctypes.data


def test_memory_lives_as_long_as_the_view():
    view = TensorView(Foreign(np.arange(1000, dtype=np.int64)), "int64")
    assert view.tobytes() == np.arange(1000, dtype=np.int64).tobytes()


def test_strided_memory_is_copied():
    array = np.arange(6, dtype=np.float32)[::2]
    assert TensorView(Foreign(array), "float").tobytes() == np.array([0, 2, 4], np.float32).tobytes()


def test_other_devices_are_refused(refuses):
    foreign = Foreign(np.ones(3, np.float32), CUDA)
    refuses(
        "input 'x': expected CPU memory (DLPack device type 1), got device type 2", foreign, "float", None, "input 'x'"
    )


def test_type_and_shape_are_checked(refuses):
    foreign = Foreign(np.ones((2, 3)))
    refuses("input 'x': expected float32 [2, n], got float64 [2, 3]", foreign, "float", [2, "n"], "input 'x'")


def test_a_producer_that_refuses():
    class Refuses(Foreign):
        def __dlpack__(self, **options: object) -> object:
            raise BufferError("still being computed")

    with pytest.raises(
        ConversionError, match=r"^input 'x': expected float32, got a DLPack tensor that numpy refuses: still"
    ):
        TensorView(Refuses(np.ones(1)), "float", None, "input 'x'")
