# SPDX-License-Identifier: Apache-2.0
"""The cases of type_cases.py in ONNX Runtime with the plugin: plugin_types.py FILE.

FILE receives, pickled, for each use of the plugin what went wrong by operator, type parameter and element type, which
of these passed, and in how many cases.
"""

from __future__ import annotations

import ctypes
import pickle
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import numpy as np
import onnx
import onnx_light_ort_plugin
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx_light_ort_plugin.operators import DOMAIN
from plugin_ep import CPU, EP_NAME, Host
from type_cases import Key, TypedCase, base_cases, candidates, table_keys

USES = ("custom_ops", "kernel", "compile")
# What float results may differ by, relative to the value or to one: some units in the last place.
TOLERANCE = {"float64": 1e-11, "float32": 5e-6, "float16": 2**-9, "bfloat16": 2**-6}
CASES = 3  # for each type parameter and element type
PACKED = (TensorProto.UINT4, TensorProto.INT4, TensorProto.FLOAT4E2M1)  # two elements in a byte


def ort_value(array: np.ndarray) -> Any:
    """Return what ONNX Runtime is fed; of types that numpy does not have it is told which one the bytes are."""
    if array.dtype.isbuiltin == 1:
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)
    number = helper.np_dtype_to_tensor_dtype(array.dtype)
    in_order = np.asarray(array, order="C")  # its strides are not looked at
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(in_order, number)


def array_of(value: Any) -> Any:
    """Return a result; numpy is not given those of types that it does not have, so their bytes are read."""
    number = value.element_type()
    dtype = helper.tensor_dtype_to_np_dtype(number)
    if number == TensorProto.STRING or dtype.isbuiltin == 1:
        return value.numpy()
    data = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    tensor = TensorProto(data_type=number, dims=value.shape(), raw_data=data)
    return numpy_helper.to_array(tensor)


def in_initializers(case: TypedCase) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """Return a model that has the strings and packed values in it, which Python cannot put into an OrtValue."""
    model, feeds = onnx.ModelProto(), {}
    model.CopyFrom(case.model)
    for value in list(model.graph.input):
        if value.name not in case.feeds:
            continue
        array = case.feeds[value.name]
        number = value.type.tensor_type.elem_type
        if number in PACKED or number == TensorProto.STRING:
            model.graph.initializer.append(numpy_helper.from_array(array, value.name))
            model.graph.input.remove(value)
        else:
            feeds[value.name] = array
    return model, feeds


def as_custom_op(model: onnx.ModelProto) -> None:
    """Turn the node into the custom operator by hand: rewrite_model leaves nodes that it is not sure about."""
    node = model.graph.node[0]
    opset = next(entry.version for entry in model.opset_import if entry.domain in (node.domain, "ai.onnx"))
    node.attribute.append(helper.make_attribute("opset", opset))
    node.domain = DOMAIN
    model.opset_import.append(helper.make_opsetid(node.domain, 1))


def run(case: TypedCase, use: str) -> list[Any]:
    """Return the results; AssertionError if the node was not given to the plugin."""
    model, feeds = in_initializers(case)
    if use == "custom_ops":
        as_custom_op(model)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        onnx_light_ort_plugin.register(options, [case.op_type])
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=[CPU])
    else:
        host = Host("onnxruntime", use)
        session = host.session(model.SerializeToString(), {"float16": "1"}, optimize=False)
        assert host.assignments(session) == {EP_NAME: [case.op_type]}, "is not taken"
    values = session.run_with_ort_values(None, {name: ort_value(array) for name, array in feeds.items()})
    return [array_of(value) for value in values]


def check(got: np.ndarray, want: np.ndarray, extra: float) -> None:
    """Raise AssertionError unless a result is what is expected."""
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    if want.dtype.kind in "OUS":
        assert got.tolist() == want.tolist(), f"{got.ravel()[:9]}, expected {want.ravel()[:9]}"
        return
    assert got.dtype == want.dtype, f"{got.dtype}, expected {want.dtype}"
    one, other = got.astype(np.float64), want.astype(np.float64)
    name = got.dtype.name  # small floats are compared by value: which zero and which NaN they are is left open
    tolerance = 0.0 if name.startswith(("float8", "float4")) else TOLERANCE.get(name)
    if tolerance is None:
        assert got.tobytes() == want.tobytes(), f"{got.ravel()[:9]}, expected {want.ravel()[:9]}"
    else:
        tolerance = max(tolerance, extra)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def main(file: str) -> None:
    table, bases = table_keys(), base_cases()
    failures: dict[str, list[tuple[Key, str]]] = {use: [] for use in USES}
    covered: dict[str, set[Key]] = {use: set() for use in USES}
    counts: Counter[str] = Counter()
    onnxruntime.register_execution_provider_library("onnx_light", onnx_light_ort_plugin.get_library_path())
    for key in sorted(table):
        op_type, where, element = key
        known = (case for case in candidates(bases[op_type], where, element) if keys_of(case) <= table)
        for case in islice(known, CASES):
            for use in USES:
                try:
                    for got, want in zip(run(case, use), case.expected, strict=True):
                        check(got, want, case.tolerance)
                except Exception as error:
                    failures[use].append((key, f"{case.name}: {type(error).__name__}: {error}"))
                else:
                    covered[use] |= keys_of(case)
                    counts[use] += 1
    Path(file).write_bytes(pickle.dumps((failures, covered, counts)))


def keys_of(case: TypedCase) -> set[Key]:
    return {(case.op_type, *binding) for binding in case.bindings}


if __name__ == "__main__":
    main(*sys.argv[1:])
