# SPDX-License-Identifier: Apache-2.0
"""float6e2m3 and float6e3m2 against ml_dtypes: in and out, and through the operators that ONNX defines on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

FORMATS = [(TensorProto.FLOAT6E2M3, ml_dtypes.float6_e2m3fn), (TensorProto.FLOAT6E3M2, ml_dtypes.float6_e3m2fn)]
FLOAT = TensorProto.FLOAT


def session_of(nodes: Any, input_type: int, output_type: int, initializers: Any = ()) -> ort.InferenceSession:
    x = helper.make_tensor_value_info("x", input_type, ["n"])
    y = helper.make_tensor_value_info("y", output_type, None)
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=14)
    return ort.InferenceSession(model.SerializeToString())


def all_codes(count: int, dtype: Any) -> np.ndarray:
    return np.arange(64 - count, 64, dtype=np.uint8).view(dtype)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 64])
@pytest.mark.parametrize(("number", "dtype"), FORMATS)
def test_every_code_comes_back(number: int, dtype: Any, count: int) -> None:
    nodes = [helper.make_node("Optional", ["x"], ["o"]), helper.make_node("OptionalGetElement", ["o"], ["y"])]
    x = all_codes(count, dtype)
    (y,) = session_of(nodes, number, number).run(None, {"x": x})
    assert y.dtype == dtype
    assert y.tobytes() == x.tobytes()


@pytest.mark.parametrize(("number", "dtype"), FORMATS)
def test_cast_from_a_feed_and_from_the_model(number: int, dtype: Any) -> None:
    x = all_codes(64, dtype)
    want = x.astype(np.float32)
    cast = session_of([helper.make_node("Cast", ["x"], ["y"], to=FLOAT)], number, FLOAT)
    np.testing.assert_array_equal(cast.run(None, {"x": x})[0], want)
    nodes = [helper.make_node("Cast", ["w"], ["t"], to=FLOAT), helper.make_node("Add", ["x", "t"], ["y"])]
    session = session_of(nodes, FLOAT, FLOAT, [numpy_helper.from_array(x, "w")])
    np.testing.assert_array_equal(session.run(None, {"x": np.ones(64, np.float32)})[0], want + 1)


@pytest.mark.parametrize(("number", "dtype"), FORMATS)
def test_cast_to(number: int, dtype: Any) -> None:
    codes = all_codes(64, dtype).astype(np.float32)
    x = np.concatenate([codes, codes * np.float32(1.03), [np.float32(1e9), np.float32(-1e9)]])
    session = session_of([helper.make_node("Cast", ["x"], ["y"], to=number)], FLOAT, number)
    (y,) = session.run(None, {"x": x})
    assert y.dtype == dtype
    assert y.tobytes() == x.astype(dtype).tobytes()


@pytest.mark.parametrize(("number", "dtype"), FORMATS)
def test_quantized_and_back(number: int, dtype: Any) -> None:
    scale = numpy_helper.from_array(np.float32(2), "scale")
    zero = numpy_helper.from_array(np.zeros((), dtype), "zero")
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale"], ["y"]),
    ]
    x = np.array([0, 1, -1, 3, 0.26, 1e6], np.float32)
    (y,) = session_of(nodes, FLOAT, FLOAT, [scale, zero]).run(None, {"x": x})
    np.testing.assert_array_equal(y, (x / 2).astype(dtype).astype(np.float32) * 2)


def test_a_feed_of_the_other_format_is_refused() -> None:
    session = session_of([helper.make_node("Cast", ["x"], ["y"], to=FLOAT)], TensorProto.FLOAT6E2M3, FLOAT)
    with pytest.raises(ort.InvalidArgument, match=r"input 'x': expected float6_e2m3fn \[n\], got float6_e3m2fn \[2\]"):
        session.run(None, {"x": np.zeros(2, ml_dtypes.float6_e3m2fn)})


def test_custom_operators_do_not_take_them(fixtures: Path) -> None:
    """The pinned interface has no number for them: the session is refused, with the type's name."""
    options = ort.SessionOptions()
    options.register_custom_ops_library(fixtures / "polymorphic.so")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT6E2M3, ["n"]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("CopyOf", ["x"], ["y"], domain="fixtures")], "g", ends[:1], ends[1:])
    imports = [helper.make_opsetid("", 28), helper.make_opsetid("fixtures", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=14)
    with pytest.raises(ort.InvalidGraph, match=r"CopyOf.*got tensor\(float6e2m3\)"):
        ort.InferenceSession(model.SerializeToString(), options)
