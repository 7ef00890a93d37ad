# SPDX-License-Identifier: Apache-2.0
"""Every case of onnx's own backend tests for an operator with a native kernel gives the values that onnx lists."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.backend.test.case import node as node_cases
from onnx_light_ort_host import InferenceSession

OPERATORS = [
    "Abs",
    "Acos",
    "Acosh",
    "Add",
    "And",
    "ArgMax",
    "ArgMin",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BatchNormalization",
    "BitShift",
    "BitwiseAnd",
    "BitwiseNot",
    "BitwiseOr",
    "BitwiseXor",
    "Cast",
    "Ceil",
    "Celu",
    "Clip",
    "Concat",
    "Constant",
    "Conv",
    "Cos",
    "Cosh",
    "CumProd",
    "CumSum",
    "Div",
    "Elu",
    "Equal",
    "Erf",
    "Exp",
    "Flatten",
    "Floor",
    "Gather",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "Greater",
    "GreaterOrEqual",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "IsInf",
    "IsNaN",
    "LayerNormalization",
    "LeakyRelu",
    "Less",
    "LessOrEqual",
    "Log",
    "LogSoftmax",
    "MatMul",
    "Max",
    "MaxPool",
    "Mean",
    "Min",
    "Mish",
    "Mod",
    "Mul",
    "Neg",
    "Not",
    "Or",
    "PRelu",
    "Pow",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Relu",
    "Reshape",
    "Round",
    "Selu",
    "Shape",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Slice",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Sum",
    "Swish",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Transpose",
    "Unsqueeze",
    "Where",
    "Xor",
]

# What the native kernels leave out.
LEFT_OUT = {
    "training": "BatchNormalization in training mode",
    "_FLOAT8": "Cast of 8-bit floats",
    "FLOAT8": "Cast of 8-bit floats",
    "FLOAT4": "Cast of 4-bit floats",
    "FLOAT6": "Cast of 6-bit floats",
    "INT4": "Cast of 4-bit integers",
    "INT2": "Cast of 2-bit integers",
    "e8m0": "Cast of exponents",
}


def collect() -> list[Any]:
    """Return the cases of single nodes for these operators."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases overflow on purpose while they compute what to expect
        cases = node_cases.collect_testcases(None)
    chosen = []
    for case in cases:
        nodes = case.model.graph.node if case.model is not None else []
        if len(nodes) != 1 or nodes[0].op_type not in OPERATORS or nodes[0].domain not in ("", "ai.onnx"):
            continue
        if not any(word in case.name for word in LEFT_OUT):
            chosen.append(case)
    return chosen


CASES = {case.name: case for case in collect()}


def as_arrays(values: Any) -> list[Any]:
    """Return the arrays of a data set, decoded where they are still protos; numpy's scalars become arrays."""
    decoded = [onnx.numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in values]
    return [np.asarray(v) if isinstance(v, np.generic) else v for v in decoded]


def test_every_operator_has_cases() -> None:
    covered = {case.model.graph.node[0].op_type for case in CASES.values()}
    assert covered == set(OPERATORS)


@pytest.mark.parametrize("name", sorted(CASES))
def test_case(name: str) -> None:
    case = CASES[name]
    session = InferenceSession(case.model.SerializeToString(), providers=None)
    for inputs, expected in case.data_sets:
        names = [value.name for value in case.model.graph.input]
        results = session.run(None, dict(zip(names, as_arrays(inputs), strict=True)))
        for got, want in zip(results, as_arrays(expected), strict=True):
            if isinstance(want, list) or want is None:
                assert got == want if want is None else len(got) == len(want)
                continue
            assert got.shape == np.shape(want)
            if got.dtype.kind in "OUS":
                assert got.tolist() == np.asarray(want).astype(object).tolist()
                continue
            assert got.dtype == want.dtype
            np.testing.assert_allclose(
                np.asarray(got, np.float64) if got.dtype.kind == "V" else got,
                np.asarray(want, np.float64) if want.dtype.kind == "V" else want,
                rtol=max(case.rtol, 1e-6),
                atol=max(case.atol, 1e-7),
            )
