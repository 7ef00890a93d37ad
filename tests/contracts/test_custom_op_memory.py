# SPDX-License-Identifier: Apache-2.0
"""What a kernel may do to memory that others see: shared buffers, wrong predictions of shapes, sizes without sense."""

import ctypes as C

import numpy as np
import pytest
from contracts.harness import Arg, E, copy_first_input, dims, read_tensor, write_output
from onnx import TensorProto, helper

COMPUTE, OUTPUT = "OrtCustomOp.KernelComputeV2", "OrtApi.KernelContext_GetOutput"
SHARING = pytest.mark.slot(COMPUTE, "OrtCustomOp.GetMayInplace", "OrtCustomOp.ReleaseMayInplace")
X = np.arange(4, dtype=np.float32)


def share(op, *pairs):
    """Let an op say that outputs may use the memory of inputs."""
    arrays = [(C.c_int * len(pairs))(*column) for column in zip(*pairs, strict=True)]

    def get(inputs, outputs):
        for pointer, array in zip((inputs, outputs), arrays, strict=True):
            C.c_void_p.from_address(pointer).value = C.addressof(array)
        return len(pairs)

    op.set("GetMayInplace", get)
    op.set("ReleaseMayInplace", lambda inputs, outputs: None)


def graph(probe, text_nodes, op, outputs, initializers=(), options=None):
    """Return a session for nodes written as (op, inputs, outputs) over the input x; every value is float[4]."""
    names = {name for _, ins, outs in text_nodes for name in (*ins, *outs)} - {"x", *(n for n, _ in initializers)}
    info = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in (*sorted(names), "x")}
    nodes = [
        helper.make_node(kind, ins, outs, domain="probe" if kind == op.name else "", name=f"n{i}")
        for i, (kind, ins, outs) in enumerate(text_nodes)
    ]
    made = helper.make_graph(
        nodes,
        "g",
        [info["x"]],
        [info[name] for name in outputs],
        [helper.make_tensor(name, TensorProto.FLOAT, value.shape, value) for name, value in initializers],
        value_info=[info[name] for name in sorted(names - set(outputs))],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("probe", 1)]
    return probe.session(helper.make_model(made, opset_imports=imports, ir_version=8), op, options=options)


def adding_one(probe, seen, inputs=1, outputs=1):
    """Return an op whose outputs are its first input + 1, + 2, ...; `seen` gets the addresses of all arguments."""

    def compute(api, context):
        arguments = [api.get.KernelContext_GetInput(context, i) for i in range(inputs)]
        made = [api.get.KernelContext_GetOutput(context, i, dims(4), 1) for i in range(outputs)]
        seen.append([api.get.GetTensorMutableData(value) for value in (*arguments, *made)])
        first = read_tensor(api, arguments[0]).copy()
        for i, value in enumerate(made):
            read_tensor(api, value)[...] = first + i + 1

    return probe.op(inputs=[Arg()] * inputs, outputs=[Arg()] * outputs, compute=compute)


@SHARING
@pytest.mark.parametrize(
    ("nodes", "outputs", "expected"),
    [
        ([("Probe", ["x"], ["y"]), ("Add", ["x", "y"], ["z"])], ["z"], [2 * X + 1]),
        ([("Probe", ["w"], ["y"]), ("Add", ["w", "y"], ["z"])], ["z"], [2 * X + 1]),
        ([("Neg", ["x"], ["t"]), ("Probe", ["t"], ["y"]), ("Add", ["t", "y"], ["z"])], ["z"], [-2 * X + 1]),
        ([("Neg", ["x"], ["t"]), ("Probe", ["t"], ["y"]), ("Neg", ["y"], ["z"])], ["z", "t"], [X - 1, -X]),
        ([("Identity", ["x"], ["t"]), ("Probe", ["t"], ["y"]), ("Add", ["x", "y"], ["z"])], ["z"], [2 * X + 1]),
        ([("Probe", ["x"], ["t"]), ("Probe", ["t"], ["u"]), ("Probe", ["u"], ["z"])], ["z"], [X + 3]),
    ],
    ids=["graph_input", "initializer", "read_later", "graph_output", "view_of_a_graph_input", "chain"],
)
def test_in_place_permission_changes_no_value_that_others_read(probe, nodes, outputs, expected):
    op = adding_one(probe, [])
    share(op, (0, 0))
    session = graph(probe, nodes, op, outputs, [("w", X)] if "w" in nodes[0][1] else [])
    x = X.copy()
    for _ in range(2):
        found = probe.run(session, {"x": x})
        for y, right in zip(found, expected, strict=True):
            np.testing.assert_array_equal(y, right)
        np.testing.assert_array_equal(x, X)


@SHARING
def test_two_outputs_that_may_use_one_input_have_memory_of_their_own(probe):
    seen = []
    op = adding_one(probe, seen, outputs=2)
    share(op, (0, 0), (0, 1))
    nodes = [("Neg", ["x"], ["t"]), ("Probe", ["t"], ["u", "v"]), ("Neg", ["u"], ["y"]), ("Neg", ["v"], ["z"])]
    found = probe.run(graph(probe, nodes, op, ["y", "z"]), {"x": X})
    assert [y.tolist() for y in found] == [(X - 1).tolist(), (X - 2).tolist()]
    assert abs(seen[0][1] - seen[0][2]) >= X.nbytes


@SHARING
def test_input_that_is_read_twice_is_not_overwritten(probe):
    def compute(api, context):
        y = read_tensor(api, api.get.KernelContext_GetOutput(context, 0, dims(4), 1))
        a, b = (read_tensor(api, api.get.KernelContext_GetInput(context, i)) for i in range(2))
        for i in range(4):
            y[i] = a[i] + 10 * b[3 - i]

    op = probe.op(inputs=[Arg(), Arg()], compute=compute)
    share(op, (0, 0))
    nodes = [("Neg", ["x"], ["t"]), ("Probe", ["t", "t"], ["u"]), ("Neg", ["u"], ["y"])]
    assert probe.run(graph(probe, nodes, op, ["y"]), {"x": X})[0].tolist() == (X + 10 * X[::-1]).tolist()


@SHARING
def test_kernel_that_fails_after_writing_in_place_leaves_the_session_and_earlier_results_alone(probe):
    fails = []

    def compute(api, context):
        read_tensor(api, api.get.KernelContext_GetOutput(context, 0, dims(4), 1))[...] = 77
        if fails:
            return probe.status(E.ORT_FAIL, b"half way")
        write_output(api, context, 0, np.full(4, 5, np.float32))
        return None

    op = probe.op(compute=compute)
    share(op, (0, 0))
    nodes = [("Neg", ["x"], ["t"]), ("Probe", ["t"], ["u"]), ("Add", ["u", "x"], ["y"]), ("Add", ["x", "w"], ["z"])]
    session, x = graph(probe, nodes, op, ["y", "z"], [("w", X)]), X.copy()
    before = probe.run(session, {"x": x})
    kept = [y.copy() for y in before]
    for _ in range(3):
        fails.append(True)
        with pytest.raises(probe.exception("Fail"), match="half way"):
            probe.run(session, {"x": x})
        np.testing.assert_array_equal(x, X)
        fails.clear()
        for found, first, right in zip(probe.run(session, {"x": x}), before, kept, strict=True):
            np.testing.assert_array_equal(found, right)
            np.testing.assert_array_equal(first, right)


def claiming(probe, extents, element=TensorProto.FLOAT):
    """Return an identity op whose inference claims these extents whatever its input is."""

    def infer(api, context):
        info = api.get.CreateTensorTypeAndShapeInfo()
        api.ok.SetTensorElementType(info, element)
        api.ok.SetDimensions(info, dims(*extents), len(extents))
        api.ok.ShapeInferContext_SetOutputTypeShape(context, 0, info)
        api.ReleaseTensorTypeAndShapeInfo(info)

    return probe.op(infer=infer)


@pytest.mark.slot("OrtCustomOp.InferOutputShapeFn", OUTPUT)
@pytest.mark.host_stricter
@pytest.mark.parametrize("extents", [(1, 1), (1000, 1000), (3, 2), (6,), (), (0,)], ids=str)
@pytest.mark.finds("shape_mismatch")
def test_results_do_not_depend_on_the_shape_that_a_library_predicts(probe, extents):
    op = claiming(probe, extents)
    value = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "y"}
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    nodes = [
        helper.make_node("Probe", ["x"], ["a"], domain="probe"),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Probe", ["b"], ["c"], domain="probe"),
        helper.make_node("Exp", ["c"], ["d"]),
        helper.make_node("Mul", ["d", "b"], ["y"]),
    ]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "m"])
    made = helper.make_graph(nodes, "g", [info], [value["y"]])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("probe", 1)]
    session = probe.session(helper.make_model(made, opset_imports=imports, ir_version=8), op)
    for _ in range(2):
        np.testing.assert_allclose(probe.run(session, {"x": x})[0], -x * np.exp(-x), rtol=1e-6)


@pytest.mark.slot("OrtCustomOp.InferOutputShapeFn")
def test_type_that_a_library_predicts_does_not_outdo_the_only_permitted_one(probe):
    op = claiming(probe, (4,), TensorProto.DOUBLE)
    (found,) = probe.run_op(op, [X])
    assert found.dtype == np.float32
    assert found.tolist() == X.tolist()


@pytest.mark.slot(OUTPUT)
@pytest.mark.parametrize("extents", [(2**62, 4), (2**32, 2**32), (2**63 - 1,), (2**62, 2**62, 2**62)], ids=str)
def test_output_size_that_overflows_fails_and_a_corrected_request_works(probe, extents):
    codes = []

    def compute(api, context):
        out = C.c_void_p(0x1234)
        codes.append(api.code.KernelContext_GetOutput(context, 0, dims(*extents), len(extents), C.byref(out)))
        codes.append(out.value)
        copy_first_input(api, context)

    assert probe.run_op(probe.op(compute=compute), [X])[0].tolist() == X.tolist()
    assert codes == [E.ORT_FAIL, 0x1234]


@pytest.mark.slot(OUTPUT, "OrtApi.CreateTensorAsOrtValue", "OrtApi.SetDimensions", "OrtApi.SetSymbolicDimensions")
@pytest.mark.host_stricter
@pytest.mark.parametrize("rank", [257, 2**31, 2**61, 2**64 - 1])
def test_rank_without_sense_is_refused_before_the_extents_are_read(probe, api, rank):
    info = api.get.CreateTensorTypeAndShapeInfo()
    allocator, out, few = api.get.GetAllocatorWithDefaultOptions(), C.c_void_p(), dims(1, 1)
    calls = [
        api.error.CreateTensorAsOrtValue(allocator, few, rank, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, C.byref(out)),
        api.error.SetDimensions(info, few, rank),
        api.error.SetSymbolicDimensions(info, (C.c_char_p * 2)(b"n", b"m"), rank),
    ]
    api.ReleaseTensorTypeAndShapeInfo(info)

    def body(api, context):
        calls.append(api.error.KernelContext_GetOutput(context, 0, few, rank, C.byref(out)))

    probe.during_compute(body, [X])
    assert [code for code, _ in calls] == [E.ORT_FAIL] * 4
    assert [message for _, message in calls if f"at most 256 dimensions, got {rank}" not in message] == []


@pytest.mark.slot("OrtApi.KernelContext_GetInput", COMPUTE)
@pytest.mark.parametrize("count", [11, 12, 13, 300])
def test_many_arguments_keep_their_positions(probe, count):
    def compute(api, context):
        values = [read_tensor(api, api.get.KernelContext_GetInput(context, i))[0] for i in range(count)]
        for i in reversed(range(count)):
            write_output(api, context, i, np.float32([values[i] + i]))

    variadic = [Arg(characteristic=E.INPUT_OUTPUT_VARIADIC)]
    op = probe.op(inputs=variadic, outputs=variadic, compute=compute)
    inputs = [np.float32([1000 * i]) for i in range(count)]
    found = probe.run_op(op, inputs, outputs=[f"y{i}" for i in range(count)])
    assert [y.tolist() for y in found] == [[1001 * i] for i in range(count)]
