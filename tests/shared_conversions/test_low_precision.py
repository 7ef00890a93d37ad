# SPDX-License-Identifier: Apache-2.0
"""The types that numpy itself lacks come from ml_dtypes; packed ones are packed as ONNX packs them."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx_light_ort_host._conversions import TensorView, numpy_dtype

WHOLE_BYTES = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
}
SIX_BITS = np.arange(64, dtype=np.uint8)
PACKED = {
    "int4": (ml_dtypes.int4, range(-8, 8)),
    "uint4": (ml_dtypes.uint4, range(16)),
    "int2": (ml_dtypes.int2, range(-2, 2)),
    "uint2": (ml_dtypes.uint2, range(4)),
    "float4e2m1": (ml_dtypes.float4_e2m1fn, [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -1, -1.5, -2, -3, -4, -6]),
    "float6e2m3": (ml_dtypes.float6_e2m3fn, SIX_BITS.view(ml_dtypes.float6_e2m3fn)),
    "float6e3m2": (ml_dtypes.float6_e3m2fn, SIX_BITS.view(ml_dtypes.float6_e3m2fn)),
}


@pytest.mark.parametrize(("name", "scalar"), WHOLE_BYTES.items())
def test_whole_bytes_are_borrowed(name, scalar):
    array = np.array([[1, 2, 4]], np.float32).astype(scalar)
    for _ in range(2):  # the first use imports ml_dtypes, the second is the usual way
        view = TensorView(array, f"tensor({name})", [1, 3])
        assert view.address == array.ctypes.data
    assert view.numpy().dtype == np.dtype(scalar)
    np.testing.assert_array_equal(view.numpy().astype(np.float32), [[1, 2, 4]])
    assert numpy_dtype(name) == np.dtype(scalar)


@pytest.mark.parametrize(("name", "scalar"), WHOLE_BYTES.items())
def test_bits_in_an_integer_type_are_not_taken_for_it(name, scalar, refuses):
    bits = np.zeros(2, f"uint{8 * np.dtype(scalar).itemsize}")
    expected = np.dtype(scalar).name
    refuses(f"input 'x': expected {expected}, got {bits.dtype} [2]", bits, name, None, "input 'x'")
    refuses(
        f"input 'x': expected {bits.dtype}, got {expected} [2]", bits.view(scalar), bits.dtype.name, None, "input 'x'"
    )


@pytest.mark.parametrize("count", [*range(10), 64])
@pytest.mark.parametrize(("name", "scalar", "values"), [(name, *rest) for name, rest in PACKED.items()])
def test_packed_types_are_packed_as_onnx_packs_them(name, scalar, values, count):
    array = np.resize(np.array(list(values), np.float32), count).astype(scalar)
    view = TensorView(array, name, [count])
    expected = numpy_helper.from_array(array)
    assert expected.data_type == getattr(onnx.TensorProto, name.upper())
    assert view.tobytes() == expected.raw_data
    back = view.numpy()
    assert back.dtype == np.dtype(scalar)
    np.testing.assert_array_equal(back.astype(np.float32), array.astype(np.float32))


def test_packing_of_strided_arrays():
    array = np.arange(-8, 8).astype(ml_dtypes.int4).reshape(4, 4).T[:, ::2]
    np.testing.assert_array_equal(TensorView(array, "int4").numpy(), array)


def test_lists_of_low_precision():
    assert TensorView([1.0, 2.0], "bfloat16").tobytes() == np.array([1, 2], ml_dtypes.bfloat16).tobytes()
    assert TensorView([-1, 1, 2], "int4").tobytes() == b"\x1f\x02"


def test_without_ml_dtypes_only_such_a_type_fails():
    source = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "ml_dtypes":
            raise ImportError("hidden by the test")

sys.meta_path.insert(0, Hidden())
import numpy as np
from onnx_light_ort_host._conversions import TensorView
TensorView(np.zeros(1, np.float16), "float16").numpy()
try:
    TensorView(np.zeros(1, np.uint16), "bfloat16", None, "input 'x'")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "input 'x': bfloat16 arrays need the package ml_dtypes: hidden by the test"


def test_ml_dtypes_is_not_imported_for_other_types():
    source = """
import sys
import numpy as np
from onnx_light_ort_host._conversions import TensorView
TensorView(np.zeros(1, np.float16), "float16").numpy()
try:
    TensorView(np.zeros(1, np.float16), "float")
except ValueError:
    print("ml_dtypes" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
