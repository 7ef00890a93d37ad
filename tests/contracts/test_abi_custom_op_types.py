# SPDX-License-Identifier: Apache-2.0
"""Arity, type matching, overloads and versions of custom ops."""

import numpy as np
import onnx
import pytest
from contracts.harness import Arg, E, read_tensor, write_output

T = onnx.TensorProto
FLOAT, DOUBLE = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE
INT64, ANY = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED
REQUIRED, OPTIONAL, VARIADIC = E.INPUT_OUTPUT_REQUIRED, E.INPUT_OUTPUT_OPTIONAL, E.INPUT_OUTPUT_VARIADIC
CHARACTERISTIC = "OrtCustomOp.GetInputCharacteristic", "OrtCustomOp.GetOutputCharacteristic"
INPUT_TYPE, OUTPUT_TYPE = "OrtCustomOp.GetInputType", "OrtCustomOp.GetOutputType"
MIN_IN, MIN_OUT = "OrtCustomOp.GetVariadicInputMinArity", "OrtCustomOp.GetVariadicOutputMinArity"
SAME_IN, SAME_OUT = "OrtCustomOp.GetVariadicInputHomogeneity", "OrtCustomOp.GetVariadicOutputHomogeneity"
START, END = "OrtCustomOp.GetStartVersion", "OrtCustomOp.GetEndVersion"
ONES = np.ones(2, np.float32)


def accepted(probe, op, inputs, outputs=("y",), **model):
    """Return None when a session can be made, else the exception's class name."""
    try:
        probe.session(probe.one_node_model(op, inputs, list(outputs), **model), op)
    except probe.exception("Fail"):
        return "Fail"
    except Exception as error:
        return type(error).__name__
    return None


@pytest.mark.slot(*CHARACTERISTIC)
@pytest.mark.parametrize(
    ("inputs", "error"),
    [
        (["a"], None),
        (["a", "b"], None),
        (["a", ""], None),
        ([], "InvalidGraph"),
        (["a", "b", "c"], "InvalidGraph"),
        (["", "b"], "InvalidGraph"),
    ],
    ids=["least", "most", "empty_optional", "too_few", "too_many", "empty_required"],
)
def test_input_count_is_checked(probe, inputs, error):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL)])
    assert accepted(probe, op, inputs) == error


@pytest.mark.slot(*CHARACTERISTIC)
@pytest.mark.parametrize(
    ("outputs", "error"),
    [(["y"], None), (["y", "z"], None), (["y", "z", "u"], "InvalidGraph"), (["", "z"], "InvalidGraph")],
)
def test_output_count_is_checked(probe, outputs, error):
    op = probe.op(outputs=[Arg(), Arg(FLOAT, OPTIONAL)])
    assert accepted(probe, op, ["a"], outputs) == error


@pytest.mark.slot(*CHARACTERISTIC)
@pytest.mark.parametrize("io", ["inputs", "outputs"])
def test_variadic_argument_must_be_the_last(probe, io):
    op = probe.op(**{io: [Arg(FLOAT, VARIADIC), Arg()]})
    assert accepted(probe, op, ["a", "b"], ["y", "z"]) == "Fail"


@pytest.mark.slot(MIN_IN)
@pytest.mark.parametrize(
    ("first", "min_arity", "count", "error"),
    [
        (REQUIRED, 1, 2, None),
        (REQUIRED, 1, 1, "InvalidGraph"),
        (REQUIRED, 3, 4, None),
        (REQUIRED, 3, 3, "InvalidGraph"),
        (REQUIRED, 0, 1, None),
        (OPTIONAL, 1, 1, "InvalidGraph"),
    ],
)
def test_least_number_of_variadic_inputs(probe, first, min_arity, count, error):
    op = probe.op(inputs=[Arg(FLOAT, first), Arg(FLOAT, VARIADIC)], min_arity=min_arity)
    assert accepted(probe, op, [f"i{k}" for k in range(count)]) == error


@pytest.mark.host_stricter
@pytest.mark.slot(MIN_IN, MIN_OUT)
@pytest.mark.parametrize("min_arity", [-(2**31), -1, 4097, 2**31 - 1])
@pytest.mark.parametrize("io", ["inputs", "outputs"])
def test_a_least_number_without_sense_is_refused(probe, io, min_arity):
    op = probe.op(**{io: [Arg(), Arg(FLOAT, VARIADIC)]}, min_arity=min_arity)
    with pytest.raises(probe.exception("Fail"), match=rf"MinArity: must be from 0 to 4096, got {min_arity}$"):
        probe.session(probe.one_node_model(op, ["a", "b"], ["y", "z"]), op)


@pytest.mark.slot(MIN_OUT, SAME_OUT)
@pytest.mark.parametrize(("count", "error"), [(1, "InvalidGraph"), (2, None), (5, None)])
def test_least_number_of_variadic_outputs(probe, count, error):
    op = probe.op(outputs=[Arg(FLOAT, VARIADIC)], min_arity=2)
    assert accepted(probe, op, ["a"], [f"o{k}" for k in range(count)]) == error


@pytest.mark.slot(MIN_OUT, SAME_OUT)
def test_variadic_outputs_are_written_one_by_one(probe):
    def compute(api, context):
        for i in range(api.get.KernelContext_GetOutputCount(context)):
            write_output(api, context, i, i * ONES)

    op = probe.op(outputs=[Arg(FLOAT, VARIADIC)], compute=compute)
    found = probe.run_op(op, [ONES], outputs=["a", "b", "c"])
    assert [y.tolist() for y in found] == [[0, 0], [1, 1], [2, 2]]


def variadic(probe, element, homogeneous):
    def compute(api, context):
        total = sum(
            read_tensor(api, api.get.KernelContext_GetInput(context, i)).sum()
            for i in range(api.get.KernelContext_GetInputCount(context))
        )
        write_output(api, context, 0, np.float32(total).reshape(()))

    return probe.op(inputs=[Arg(element, VARIADIC)], homogeneous=homogeneous, compute=compute)


@pytest.mark.slot(SAME_IN)
@pytest.mark.parametrize("homogeneous", [True, False])
@pytest.mark.parametrize("element", [FLOAT, ANY])
def test_variadic_inputs_of_one_type(probe, element, homogeneous):
    assert probe.run_op(variadic(probe, element, homogeneous), [ONES, 2 * ONES, 3 * ONES])[0] == 12


@pytest.mark.slot(SAME_IN)
def test_heterogeneous_variadic_inputs_of_any_type_may_differ(probe):
    assert probe.run_op(variadic(probe, ANY, False), [ONES, np.ones(3, np.int64)])[0] == 5


@pytest.mark.slot(SAME_IN)
@pytest.mark.parametrize(
    ("element", "homogeneous", "error"),
    [(ANY, True, "Fail"), (FLOAT, True, "InvalidGraph"), (FLOAT, False, "InvalidGraph")],
)
def test_other_mixed_variadic_inputs_are_refused(probe, element, homogeneous, error):
    op = variadic(probe, element, homogeneous)
    assert accepted(probe, op, ["a", "b"], input_types={"b": (T.INT64, None)}) == error


@pytest.mark.slot(INPUT_TYPE)
def test_input_of_another_type_is_refused(probe):
    assert accepted(probe, probe.op(), ["a"], input_types={"a": (T.DOUBLE, None)}) == "InvalidGraph"


@pytest.mark.slot(INPUT_TYPE, OUTPUT_TYPE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32, np.uint8, np.bool_])
def test_undefined_type_takes_any_tensor_and_gives_its_type(probe, dtype):
    op, x = probe.op(inputs=[Arg(ANY)], outputs=[Arg(ANY)]), np.array([0, 1, 1]).astype(dtype)
    model = {"output_types": {"y0": (onnx.helper.np_dtype_to_tensor_dtype(x.dtype), None)}}
    (found,) = probe.run_op(op, [x], **model)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, x)


@pytest.mark.slot(OUTPUT_TYPE)
def test_single_permitted_output_type_is_the_outputs(probe):
    op = probe.op(
        inputs=[Arg(ANY)],
        outputs=[Arg(INT64)],
        compute=lambda api, context: write_output(api, context, 0, np.array([7], np.int64)),
    )
    (found,) = probe.run_op(op, [ONES], output_types={"y0": (T.INT64, None)})
    assert found.dtype == np.int64
    assert found.tolist() == [7]


@pytest.mark.slot(INPUT_TYPE, OUTPUT_TYPE)
@pytest.mark.parametrize("inputs", [[Arg(ANY), Arg(ANY)], [Arg()]])
def test_undefined_output_needs_exactly_one_undefined_input(probe, inputs):
    op = probe.op(inputs=inputs, outputs=[Arg(ANY)])
    assert accepted(probe, op, ["a", "b"][: len(inputs)]) == "Fail"


def typed(probe, element, factor, **more):
    """Return an overload of one op that multiplies by its own factor."""

    def compute(api, context):
        x = read_tensor(api, api.get.KernelContext_GetInput(context, 0))
        write_output(api, context, 0, (x * factor).astype(x.dtype))

    return probe.op("Typed", inputs=[Arg(element)], outputs=[Arg(element)], compute=compute, **more)


def run_overloads(probe, ops, x, **model):
    element = onnx.helper.np_dtype_to_tensor_dtype(x.dtype)
    types = {"input_types": {"x0": (element, None)}, "output_types": {"y0": (element, None)}}
    session = probe.session(probe.one_node_model(ops[0], **types, **model), *ops)
    return probe.run(session, {"x0": x})[0].tolist()


@pytest.mark.slot(INPUT_TYPE, OUTPUT_TYPE)
@pytest.mark.parametrize(("dtype", "expected"), [(np.float32, 2), (np.float64, 3), (np.int64, 5)])
def test_overload_is_chosen_by_type(probe, dtype, expected):
    ops = [typed(probe, element, factor) for element, factor in ((FLOAT, 2), (DOUBLE, 3), (INT64, 5))]
    assert run_overloads(probe, ops, np.ones(1, dtype)) == [expected]


@pytest.mark.slot(INPUT_TYPE, OUTPUT_TYPE)
@pytest.mark.parametrize(("elements", "expected"), [((ANY, FLOAT), 2), ((FLOAT, ANY), 2)])
def test_first_matching_overload_wins(probe, elements, expected):
    ops = [typed(probe, element, factor) for element, factor in zip(elements, (2, 3), strict=True)]
    assert run_overloads(probe, ops, ONES[:1]) == [expected]


@pytest.mark.slot(*CHARACTERISTIC)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"inputs": [Arg()]}, {"inputs": [Arg(), Arg()]}),
        ({"inputs": [Arg(), Arg()]}, {"inputs": [Arg()]}),
        ({"outputs": [Arg()]}, {"outputs": [Arg(), Arg()]}),
        ({"inputs": [Arg()]}, {"inputs": [Arg(DOUBLE, OPTIONAL)]}),
    ],
    ids=["more_inputs", "fewer_inputs", "more_outputs", "characteristic"],
)
def test_overloads_may_differ_only_in_types(probe, first, second):
    ops = [probe.op(**first), probe.op(**second)]
    with pytest.raises(probe.exception("Fail")):
        probe.session(probe.one_node_model(ops[0], ["a"], ["y"]), *ops)


@pytest.mark.slot(INPUT_TYPE)
@pytest.mark.host_stricter
def test_exact_duplicate_is_refused(probe):
    ops = [typed(probe, FLOAT, 2), typed(probe, FLOAT, 3)]
    with pytest.raises(probe.exception("Fail"), match="Typed"):
        run_overloads(probe, ops, ONES)


@pytest.mark.slot(START)
@pytest.mark.parametrize(("imported", "error"), [(1, "Fail"), (2, "Fail"), (3, None), (9, None)])
def test_import_before_the_start_version_is_refused(probe, imported, error):
    assert accepted(probe, probe.op(start=3), ["a"], opset=imported) == error


@pytest.mark.slot(START, END)
def test_import_after_the_end_version_is_accepted(probe):
    assert accepted(probe, probe.op(start=1, end=2), ["a"], opset=5) is None


@pytest.mark.slot(START)
def test_start_version_over_1000_is_refused(probe):
    assert accepted(probe, probe.op(start=1001), ["a"], opset=1001) == "InvalidArgument"


@pytest.mark.slot(START, END)
def test_missing_versions_mean_one_and_open(probe):
    assert accepted(probe, probe.op(), ["a"], opset=1) is None
    assert accepted(probe, probe.op(), ["a"], opset=900) is None


@pytest.mark.slot(START, END)
@pytest.mark.host_stricter
@pytest.mark.parametrize(("imported", "expected"), [(1, 2), (2, 2), (3, 3), (7, 3)])
def test_overload_is_chosen_by_the_imported_version(probe, imported, expected):
    ops = [typed(probe, FLOAT, 2, start=1, end=2), typed(probe, FLOAT, 3, start=3)]
    assert run_overloads(probe, ops, ONES[:1], opset=imported) == [expected]
