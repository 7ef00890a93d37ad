# SPDX-License-Identifier: Apache-2.0
"""Every encoding of a dense tensor gives the same bytes in memory."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

NUMPY_TYPES: list[tuple[int, Any]] = [
    (TensorProto.FLOAT, np.float32),
    (TensorProto.UINT8, np.uint8),
    (TensorProto.INT8, np.int8),
    (TensorProto.UINT16, np.uint16),
    (TensorProto.INT16, np.int16),
    (TensorProto.INT32, np.int32),
    (TensorProto.INT64, np.int64),
    (TensorProto.BOOL, np.bool_),
    (TensorProto.FLOAT16, np.float16),
    (TensorProto.DOUBLE, np.float64),
    (TensorProto.UINT32, np.uint32),
    (TensorProto.UINT64, np.uint64),
    (TensorProto.COMPLEX64, np.complex64),
    (TensorProto.COMPLEX128, np.complex128),
    (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
    (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn),
    (TensorProto.FLOAT8E4M3FNUZ, ml_dtypes.float8_e4m3fnuz),
    (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2),
    (TensorProto.FLOAT8E5M2FNUZ, ml_dtypes.float8_e5m2fnuz),
]
SIX_BIT = (TensorProto.FLOAT6E2M3, TensorProto.FLOAT6E3M2)
PACKED = [
    (TensorProto.UINT4, 2, [1, 2, 15], b"\x21\x0f"),
    (TensorProto.INT4, 2, [-1, 7, -8], b"\x7f\x08"),
    (TensorProto.FLOAT4E2M1, 2, None, b"\x21\x03"),
    (TensorProto.UINT2, 4, None, b"\xe4\x01"),
    (TensorProto.INT2, 4, None, b"\xe4\x03"),
]
# Where onnx.proto puts the elements of a type, and how one element is written there.
FIELDS = {
    TensorProto.FLOAT: ("float_data", np.float32),
    TensorProto.COMPLEX64: ("float_data", np.float32),
    TensorProto.DOUBLE: ("double_data", np.float64),
    TensorProto.COMPLEX128: ("double_data", np.float64),
    TensorProto.INT64: ("int64_data", np.int64),
    TensorProto.UINT32: ("uint64_data", np.uint32),
    TensorProto.UINT64: ("uint64_data", np.uint64),
    TensorProto.INT8: ("int32_data", np.int8),
    TensorProto.INT16: ("int32_data", np.int16),
    TensorProto.INT32: ("int32_data", np.int32),
}


def model_with(tensor: TensorProto) -> onnx.ModelProto:
    """Return a model whose only content is an initializer."""
    tensor.name = "w"
    node = helper.make_node("Identity", ["w"], ["y"])
    if tensor.data_type in SIX_BIT:  # few operators take them
        node = helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT)
    output = onnx.ValueInfoProto(name="y")
    graph = helper.make_graph([node], "g", [], [output], [tensor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)])


def sample(dtype: Any) -> np.ndarray:
    """Return six values of a type, with its extremes where it has some."""
    if np.dtype(dtype) == np.bool_:
        return np.array([[True, False, True], [False, False, True]])
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return np.array([[info.min, 0, 1], [2, 100, info.max]], dtype=dtype)
    if np.issubdtype(dtype, np.complexfloating):
        return np.array([[1 + 2j, -3.5j, 0], [7, 8 - 1j, -1]], dtype=dtype)
    return np.array([[0.0, -1.0, 0.5], [2.0, -0.25, 1.5]]).astype(dtype)


def initializer(answer: dict[str, Any]) -> dict[str, Any]:
    assert "error" not in answer, answer
    found: dict[str, Any] = next(value for value in answer["graph"]["values"] if value["name"] == "w")
    return found


def typed_tensor(data_type: int, array: np.ndarray) -> TensorProto:
    """Return the tensor with its elements in the typed field."""
    tensor = TensorProto(data_type=data_type, dims=array.shape)
    unsigned = {1: np.uint8, 2: np.uint16}.get(array.itemsize, np.uint64)
    field, entry = FIELDS.get(data_type, ("int32_data", unsigned))
    getattr(tensor, field).extend(array.reshape(-1).view(entry).tolist())
    return tensor


@pytest.mark.parametrize(("data_type", "dtype"), NUMPY_TYPES)
def test_raw_data(dump: Any, data_type: int, dtype: Any) -> None:
    array = sample(dtype)
    tensor = TensorProto(data_type=data_type, dims=array.shape, raw_data=array.tobytes())
    value = initializer(dump(model_with(tensor)))
    assert value["shape"] == [2, 3]
    assert bytes.fromhex(value["data"]) == array.tobytes()


@pytest.mark.parametrize(("data_type", "dtype"), NUMPY_TYPES)
def test_typed_data(dump: Any, data_type: int, dtype: Any) -> None:
    array = sample(dtype)
    tensor = typed_tensor(data_type, array)
    np.testing.assert_array_equal(numpy_helper.to_array(tensor).view(np.uint8), array.view(np.uint8))
    assert bytes.fromhex(initializer(dump(model_with(tensor)))["data"]) == array.tobytes()


def to_varint(value: int) -> bytes:
    out = bytearray()
    value &= 2**64 - 1
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


@pytest.mark.parametrize(("number", "wire", "entry", "data_type", "dtype"), [
    (4, 5, "<f4", TensorProto.FLOAT, np.float32),
    (10, 1, "<f8", TensorProto.DOUBLE, np.float64),
    (5, 0, None, TensorProto.INT32, np.int32),
    (7, 0, None, TensorProto.INT64, np.int64),
    (11, 0, None, TensorProto.UINT64, np.uint64),
])  # fmt: skip
def test_unpacked_entries(dump: Any, number: int, wire: int, entry: str | None, data_type: int, dtype: Any) -> None:
    """Old writers give each element a tag of its own; both forms may be mixed."""
    array = sample(dtype).reshape(-1)
    header = TensorProto(name="w", data_type=data_type, dims=[6]).SerializeToString()
    tag = to_varint(number << 3 | wire)
    encode = (lambda v: np.array(v, entry).tobytes()) if entry else (lambda v: to_varint(int(v)))
    packed = b"".join(encode(v) for v in array[3:])
    body = header + b"".join(tag + encode(v) for v in array[:3])
    body += to_varint(number << 3 | 2) + to_varint(len(packed)) + packed
    model = model_with(TensorProto(data_type=data_type, dims=[6]))
    model.graph.ClearField("initializer")
    graph = model.graph.SerializeToString() + b"\x2a" + to_varint(len(body)) + body
    model.ClearField("graph")
    data = model.SerializeToString() + b"\x3a" + to_varint(len(graph)) + graph
    assert onnx.ModelProto.FromString(data).graph.initializer[0].name == "w"
    assert bytes.fromhex(initializer(dump(data))["data"]) == array.tobytes()


@pytest.mark.parametrize(("data_type", "per_byte", "values", "expected"), PACKED)
def test_sub_byte_types(dump: Any, data_type: int, per_byte: int, values: list[int] | None, expected: bytes) -> None:
    """The first element lies in the low bits."""
    count = 3 if per_byte == 2 else 5
    raw = TensorProto(data_type=data_type, dims=[count], raw_data=expected)
    assert bytes.fromhex(initializer(dump(model_with(raw)))["data"]) == expected
    typed = TensorProto(data_type=data_type, dims=[count], int32_data=list(expected))
    assert bytes.fromhex(initializer(dump(model_with(typed)))["data"]) == expected
    if values is not None:
        made = helper.make_tensor("w", data_type, [count], values)
        assert bytes.fromhex(initializer(dump(model_with(made)))["data"]) == expected


@pytest.mark.parametrize("count", [*range(10), 64])
@pytest.mark.parametrize("dtype", [ml_dtypes.float6_e2m3fn, ml_dtypes.float6_e3m2fn])
def test_six_bit_types(dump: Any, dtype: Any, count: int) -> None:
    """raw_data holds a stream of bits, int32_data an element an entry."""
    array = np.arange(64 - count, 64, dtype=np.uint8).view(dtype)
    raw = numpy_helper.from_array(array)
    assert len(raw.raw_data) == (6 * count + 7) // 8
    typed = helper.make_tensor("w", raw.data_type, [count], array)
    assert len(typed.int32_data) == count
    for tensor in (raw, typed):
        assert bytes.fromhex(initializer(dump(model_with(tensor)))["data"]) == raw.raw_data


def test_strings(dump: Any) -> None:
    tensor = TensorProto(data_type=TensorProto.STRING, dims=[3], string_data=[b"", b"a\0b", "ü".encode()])
    assert initializer(dump(model_with(tensor)))["data"] == ["", "a\0b", "ü".encode().decode("latin-1")]


def test_scalar_and_empty(dump: Any) -> None:
    scalar = initializer(dump(model_with(TensorProto(data_type=TensorProto.FLOAT, float_data=[1.5]))))
    assert scalar["shape"] == []
    assert scalar["data"] == np.float32(1.5).tobytes().hex()
    for tensor in (TensorProto(data_type=TensorProto.FLOAT, dims=[0, 4]),
                   TensorProto(data_type=TensorProto.FLOAT, dims=[2**62, 0, 2**62], raw_data=b"")):  # fmt: skip
        empty = initializer(dump(model_with(tensor)))
        assert empty["shape"] == list(tensor.dims)
        assert empty["data"] == ""


def test_true_is_one(dump: Any) -> None:
    """A byte that is neither 0 nor 1 must not become a bool in C++."""
    tensor = TensorProto(data_type=TensorProto.BOOL, dims=[3], raw_data=b"\x00\x02\xff")
    assert initializer(dump(model_with(tensor)))["data"] == "000101"


@pytest.mark.parametrize(("tensor", "reason"), [
    (TensorProto(data_type=1, dims=[2], float_data=[1.0]), "needs 2 entries, got 1"),
    (TensorProto(data_type=1, dims=[1], float_data=[1.0, 2.0]), "needs 1 entries, got 2"),
    (TensorProto(data_type=1, dims=[2], raw_data=b"1234567"), "needs 8 bytes, got 7"),
    (TensorProto(data_type=1, dims=[2**36]), "needs 68719476736 entries, got 0"),
    (TensorProto(data_type=1, dims=[2**62, 2**62]), "too large"),
    (TensorProto(data_type=1, dims=[-1], float_data=[1.0]), "must not be negative, got -1"),
    (TensorProto(data_type=1, dims=[1] * 300, float_data=[1.0]), "more than 256 dimensions"),
    (TensorProto(dims=[1], float_data=[1.0]), "the element type is missing"),
    (TensorProto(data_type=1, dims=[1], int32_data=[1]), "belong into float_data"),
    (TensorProto(data_type=1, dims=[1], float_data=[1.0], raw_data=b"1234"), "are both set"),
    (TensorProto(data_type=8, dims=[1], raw_data=b"1"), "strings belong into string_data"),
    (TensorProto(data_type=3, dims=[1], int32_data=[300]), "out of range for the element type, got 300"),
    (TensorProto(data_type=27, dims=[1], int32_data=[64]), "out of range for the element type, got 64"),
    (TensorProto(data_type=28, dims=[4], raw_data=b"1234"), "float6e3m2[4] needs 3 bytes, got 4"),
    (TensorProto(data_type=28, dims=[4], int32_data=[1, 2, 3]), "float6e3m2[4] needs 4 entries, got 3"),
    (TensorProto(data_type=12, dims=[1], uint64_data=[2**32]), "out of range for the element type, got 4294967296"),
    (TensorProto(data_type=1, dims=[1], float_data=[1.0], segment=TensorProto.Segment(begin=0, end=1)), "segments"),
])  # fmt: skip
def test_broken_tensors(limited_dump: Any, tensor: TensorProto, reason: str) -> None:
    answer = limited_dump(model_with(tensor))
    assert answer["code"] == "InvalidProtobuf"
    assert "graph.initializer[0]" in answer["error"]
    assert reason in answer["error"]


def test_unknown_element_type(dump: Any) -> None:
    answer = dump(model_with(TensorProto(data_type=99, dims=[1], raw_data=b"1")))
    assert answer["code"] == "NotImplemented"
    assert "got 99" in answer["error"]
