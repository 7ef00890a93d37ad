# SPDX-License-Identifier: Apache-2.0
"""Text in and out of tensors of strings."""

from __future__ import annotations

import ctypes as C
from collections.abc import Sequence
from typing import Any

from .abi import Table, dims


def texts(values: Sequence[bytes]) -> Any:
    """Return an array of pointers to NUL-terminated texts, which it keeps."""
    return (C.c_char_p * len(values))(*values)


def fill(api: Table, value: int, values: Sequence[bytes]) -> None:
    """Write all elements."""
    api.ok.FillStringTensor(value, texts(values), len(values))


def read_strings(api: Table, value: int) -> list[bytes]:
    """Return all elements in order, as a library reads them: the joined text, cut at the offsets."""
    info = api.get.GetTensorTypeAndShape(value)
    count = api.get.GetTensorShapeElementCount(info)
    api.ReleaseTensorTypeAndShapeInfo(info)
    length = api.get.GetStringTensorDataLength(value)
    buffer, offsets = C.create_string_buffer(length + 1), (C.c_size_t * max(count, 1))()
    api.ok.GetStringTensorContent(value, buffer, length, offsets, count)
    ends = [*offsets[1:count], length]
    return [buffer.raw[start:end] for start, end in zip(offsets[:count], ends[:count], strict=True)]


def write_strings(api: Table, context: int, index: int, shape: Sequence[int], values: Sequence[bytes]) -> None:
    """Request an output and fill it."""
    fill(api, api.get.KernelContext_GetOutput(context, index, dims(*shape), len(shape)), values)


def calls(api: Table, value: int, out: C.c_size_t, buffer: C.c_void_p) -> dict[str, int]:
    """Return the code of each slot on a value, by slot; the arguments fit one empty string."""
    return {
        "OrtApi.FillStringTensor": api.code.FillStringTensor(value, texts([b"s"]), 1),
        "OrtApi.FillStringTensorElement": api.code.FillStringTensorElement(value, b"s", 0),
        "OrtApi.GetResizedStringTensorElementBuffer": api.code.GetResizedStringTensorElementBuffer(
            value, 0, 1, C.byref(buffer)
        ),
        "OrtApi.GetStringTensorDataLength": api.code.GetStringTensorDataLength(value, C.byref(out)),
        "OrtApi.GetStringTensorContent": api.code.GetStringTensorContent(
            value, C.create_string_buffer(8), 8, (C.c_size_t * 1)(), 1
        ),
        "OrtApi.GetStringTensorElementLength": api.code.GetStringTensorElementLength(value, 0, C.byref(out)),
        "OrtApi.GetStringTensorElement": api.code.GetStringTensorElement(value, 8, 0, C.create_string_buffer(8)),
    }
