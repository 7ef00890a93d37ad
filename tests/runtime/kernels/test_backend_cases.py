# SPDX-License-Identifier: Apache-2.0
"""Every case of onnx's own backend tests for an operator with a native kernel gives the values that onnx lists."""

from __future__ import annotations

import pytest
from onnx_node_cases import load_cases, run_case

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
    "CastLike",
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


CASES = {
    case.name: case
    for case in load_cases()
    if case.node_count == 1
    and case.op_type in OPERATORS
    and case.domain == ""
    and not any(word in case.name for word in LEFT_OUT)
}


def test_every_operator_has_cases() -> None:
    assert {case.op_type for case in CASES.values()} == set(OPERATORS)


@pytest.mark.parametrize("name", sorted(CASES))
def test_case(name: str) -> None:
    assert run_case(CASES[name], reference_fallback=False) == ""
