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
    "Compress",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "Cos",
    "Cosh",
    "CumProd",
    "CumSum",
    "DepthToSpace",
    "Div",
    "Elu",
    "Equal",
    "Erf",
    "Exp",
    "Expand",
    "EyeLike",
    "Flatten",
    "Floor",
    "Gather",
    "GatherElements",
    "GatherND",
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
    "NonZero",
    "Not",
    "OneHot",
    "Or",
    "PRelu",
    "Pad",
    "Pow",
    "Range",
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
    "Resize",
    "ReverseSequence",
    "Round",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "Shape",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Size",
    "Slice",
    "Softmax",
    "Softplus",
    "Softsign",
    "SpaceToDepth",
    "Split",
    "Sqrt",
    "Squeeze",
    "StringConcat",
    "Sub",
    "Sum",
    "Swish",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unique",
    "Unsqueeze",
    "Upsample",
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
    """Return the arrays of a data set, decoded where they are still protos; some cases have scalars of numpy."""
    decoded = [onnx.numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in values]
    return [np.asarray(v) if isinstance(v, np.generic) else v for v in decoded]


def test_every_operator_has_cases() -> None:
    assert {case.op_type for case in CASES.values()} == set(OPERATORS)


@pytest.mark.parametrize("name", sorted(CASES))
def test_case(name: str) -> None:
    assert run_case(CASES[name], reference_fallback=False) == ""
