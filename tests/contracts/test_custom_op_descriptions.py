# SPDX-License-Identifier: Apache-2.0
"""Descriptions of custom ops that make no sense: refused with library, op, callback and rule, before any kernel."""

import ctypes as C

import numpy as np
import pytest
from contracts.harness import Arg, E
from onnx import TensorProto, helper

ONES = np.ones(2, np.float32)
FLOAT, VARIADIC = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.INPUT_OUTPUT_VARIADIC
MEMBERS = [
    *["GetName", "GetInputTypeCount", "GetInputType", "GetOutputTypeCount", "GetOutputType", "KernelDestroy"],
    *["CreateKernel", "KernelCompute", "GetInputCharacteristic", "GetOutputCharacteristic", "GetInputMemoryType"],
    *["GetStartVersion", "GetMayInplace", "GetAliasMap"],
]
SLOTS = pytest.mark.slot(*(f"OrtCustomOp.{name}" for name in MEMBERS))
STRICTER = pytest.mark.host_stricter


def refused(probe, op, error="Fail", position=0, others=()):
    """Make a session, which has to fail before any kernel is made, and return the message."""
    with pytest.raises(probe.exception(error)) as failure:
        probe.session(probe.one_node_model(op, ["a"], ["y"]), *others, op)
    assert "CreateKernelV2" not in op.calls
    message = str(failure.value)
    assert f"(#{position} of its domain, from {probe.path})" in message
    return message


@SLOTS
@STRICTER
@pytest.mark.parametrize(
    "member", ["GetName", "GetInputTypeCount", "GetInputType", "GetOutputTypeCount", "GetOutputType", "KernelDestroy"]
)
def test_required_callback_that_is_null_is_named(probe, member):
    op = probe.op()
    op.set(member, None)
    message = refused(probe, op)
    assert f"OrtCustomOp.{member}" in message
    assert "null" in message


@SLOTS
@STRICTER
@pytest.mark.parametrize("legacy", ["CreateKernel", "KernelCompute"])
@pytest.mark.parametrize("version", [1, 15, 16, 30])
def test_one_of_both_generations_of_a_callback_is_required(probe, legacy, version):
    op = probe.op(version=version)
    for name in ("CreateKernel", "KernelCompute"):
        op.set(name, lambda *args: 0)
        op.set(f"{name}V2", None)
    op.set(legacy, None)
    assert f"OrtCustomOp.{legacy}: one of {legacy} and {legacy}V2 is required, got null" in refused(probe, op)


@SLOTS
@STRICTER
def test_name_that_is_null(probe):
    op = probe.op()
    op.set("GetName", lambda this: 0)
    assert "OrtCustomOp.GetName: must give a name, got null" in refused(probe, op)


@SLOTS
@STRICTER
@pytest.mark.parametrize("count", [4097, 2**31, 2**63, 2**64 - 1])
@pytest.mark.parametrize("io", ["Input", "Output"])
def test_number_of_arguments_without_sense(probe, io, count):
    op = probe.op()
    op.set(f"Get{io}TypeCount", lambda this: count)
    op.set(f"Get{io}Type", lambda this, i: FLOAT)
    op.set(f"Get{io}Characteristic", lambda this, i: E.INPUT_OUTPUT_REQUIRED)
    assert f"OrtCustomOp.Get{io}TypeCount: at most 4096 arguments, got {count}" in refused(probe, op)
    assert f"Get{io}Type" not in op.calls


@SLOTS
@STRICTER
@pytest.mark.parametrize("number", [-(2**31), -1, 27, 99, 2**31 - 1])
@pytest.mark.parametrize("io", ["Input", "Output"])
def test_element_type_that_does_not_exist(probe, io, number):
    op = probe.op()
    op.set(f"Get{io}Type", lambda this, i: number)
    assert f"OrtCustomOp.Get{io}Type: must be an element type, got {number}" in refused(probe, op)


@SLOTS
@STRICTER
@pytest.mark.parametrize("number", [-(2**31), -1, 3, 2**31 - 1])
@pytest.mark.parametrize("io", ["Input", "Output"])
def test_characteristic_that_does_not_exist(probe, io, number):
    op = probe.op()
    op.set(f"Get{io}Characteristic", lambda this, i: number)
    rule = "must be REQUIRED, OPTIONAL or VARIADIC"
    assert f"OrtCustomOp.Get{io}Characteristic: {rule}, got {number}" in refused(probe, op)


@SLOTS
@STRICTER
@pytest.mark.parametrize("io", ["Input", "Output"])
def test_variadic_argument_before_the_last_names_the_callback(probe, io):
    op = probe.op(**{f"{io.lower()}s": [Arg(FLOAT, VARIADIC), Arg()]})
    assert f"OrtCustomOp.Get{io}Characteristic: only the last argument may be VARIADIC" in refused(probe, op)


@SLOTS
@STRICTER
@pytest.mark.parametrize("number", [-(2**31), -3, 1, 5, 2**31 - 1])
def test_memory_type_that_does_not_exist(probe, number):
    op = probe.op()
    op.set("GetInputMemoryType", lambda this, i: number)
    rule = "of input 0 must be a memory type"
    assert f"OrtCustomOp.GetInputMemoryType: {rule}, got {number}" in refused(probe, op)


@SLOTS
@STRICTER
@pytest.mark.parametrize("start", [-(2**31), -1, 1001, 2**31 - 1])
def test_start_version_out_of_range(probe, start):
    message = refused(probe, probe.op(start=start), "InvalidArgument")
    assert f"OrtCustomOp.GetStartVersion: must be from 0 to 1000, got {start}" in message


@SLOTS
@pytest.mark.parametrize(("start", "end"), [(5, 2), (1, 0), (1, -(2**31)), (0, 2**31 - 1)])
def test_range_of_versions_that_is_empty_or_begins_at_0_serves_all_the_same(probe, start, end):
    assert probe.run_op(probe.op(start=start, end=end), [ONES], opset=7)[0].tolist() == [1, 1]


def pairs(op, kind, count, arrays=(True, True)):
    """Install callbacks that give `count` index pairs, or null for an array; return the releases."""
    zero, released = (C.c_int * 1)(0), []

    def get(inputs, outputs):
        for pointer, is_set in zip((inputs, outputs), arrays, strict=True):
            C.c_void_p.from_address(pointer).value = C.addressof(zero) if is_set else None
        return count

    op.set(f"Get{kind}", get)
    op.set(f"Release{kind}", lambda inputs, outputs: released.append((inputs, outputs)))
    op.zero = zero
    return released


@SLOTS
@STRICTER
@pytest.mark.parametrize("kind", ["MayInplace", "AliasMap"])
@pytest.mark.parametrize(
    ("count", "arrays"),
    [(1, (False, True)), (1, (True, False)), (1, (False, False)), (4097, (True, True)), (2**64 - 1, (True, True))],
)
def test_index_pairs_that_cannot_be_there_are_refused_and_given_back(probe, kind, count, arrays):
    op = probe.op()
    released = pairs(op, kind, count, arrays)
    assert f"OrtCustomOp.Get{kind}: must give both arrays of" in refused(probe, op)
    zero = C.addressof(op.zero)
    given = [(zero if arrays[0] else None, zero if arrays[1] else None)] if any(arrays) else []
    assert released == given


@SLOTS
@STRICTER
@pytest.mark.parametrize("kind", ["MayInplace", "AliasMap"])
def test_index_pairs_need_their_release(probe, kind):
    op = probe.op()
    pairs(op, kind, 1)
    op.set(f"Release{kind}", None)
    assert f"OrtCustomOp.Get{kind}: needs its release function, got null" in refused(probe, op)
    assert f"Get{kind}" not in op.calls


@SLOTS
@STRICTER
def test_a_bad_op_beside_a_good_one_is_told_by_its_position(probe):
    good, bad = probe.op("Good"), probe.op("Bad")
    bad.set("GetOutputType", lambda this, i: 99)
    assert "custom op probe.Bad (#1 of its domain" in refused(probe, bad, position=1, others=[good])
    assert "CreateKernelV2" not in good.calls


@SLOTS
@pytest.mark.parametrize(
    "name", [b"Pro\xffbe", b"P" * 100_000, b"", b"two words\n"], ids=["latin1", "long", "empty", "odd"]
)
def test_name_that_no_model_uses_does_no_harm(probe, name):
    odd, good = probe.op("Odd"), probe.op("Good")
    text = C.create_string_buffer(name)
    odd.set("GetName", lambda this: C.addressof(text))
    session = probe.session(probe.one_node_model(good), odd, good)
    assert probe.run(session, {"x0": ONES})[0].tolist() == [1, 1]


def inner_graph():
    """Return a graph that reads the outer x0."""
    output = helper.make_tensor_value_info("q", TensorProto.FLOAT, [2])
    return helper.make_graph([helper.make_node("Neg", ["x0"], ["q"])], "inner", [], [output])


@pytest.mark.slot("OrtCustomOp.CreateKernelV2")
def test_attribute_that_is_a_graph_is_refused(probe):
    op = probe.op()
    with pytest.raises(probe.exception("Fail")):
        probe.session(probe.one_node_model(op, attributes={"body": inner_graph()}), op)


@pytest.mark.slot("OrtCustomOp.CreateKernelV2")
@STRICTER
@pytest.mark.parametrize(
    ("name", "count", "said"), [("body", 0, "body"), ("bodies", 1, "bodies[0]"), ("bodies", 2, "bodies[0]")]
)
def test_attribute_of_graphs_is_named_before_any_kernel(probe, name, count, said):
    op = probe.op()
    attributes = {name: [inner_graph()] * count or inner_graph()}
    with pytest.raises(probe.exception("Fail")) as failure:
        probe.session(probe.one_node_model(op, attributes=attributes), op)
    assert "CreateKernelV2" not in op.calls
    assert "'node0'" in str(failure.value)
    assert f"from {probe.path}): attribute '{said}' is a graph" in str(failure.value)
