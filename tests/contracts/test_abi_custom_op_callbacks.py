# SPDX-License-Identifier: Apache-2.0
"""When and how the callbacks of an OrtCustomOp are invoked, and what their failures become."""

import ctypes as C
import gc

import numpy as np
import pytest
from contracts.harness import Arg, E, Pairs, copy_first_input, dims, read_tensor

ONES = np.ones(2, np.float32)
CREATE, COMPUTE, DESTROY = "OrtCustomOp.CreateKernelV2", "OrtCustomOp.KernelComputeV2", "OrtCustomOp.KernelDestroy"
LEGACY_CREATE, LEGACY_COMPUTE = "OrtCustomOp.CreateKernel", "OrtCustomOp.KernelCompute"
DESCRIPTION = [
    "GetName",
    "GetExecutionProviderType",
    "GetInputType",
    "GetInputTypeCount",
    "GetOutputType",
    "GetOutputTypeCount",
    "GetInputCharacteristic",
    "GetOutputCharacteristic",
]


@pytest.mark.slot(*(f"OrtCustomOp.{name}" for name in DESCRIPTION))
def test_description_is_read_at_session_creation(probe):
    op = probe.op()
    options = probe.register(op)
    assert op.calls == {}
    probe.session(probe.one_node_model(op), options=options)
    assert [name for name in DESCRIPTION if name not in op.calls] == []


@pytest.mark.slot(CREATE, COMPUTE, DESTROY)
def test_one_kernel_per_node_one_compute_per_run_one_destroy_per_session(probe):
    op = probe.op()
    sessions = [probe.session(probe.one_node_model(op), op) for _ in range(2)]
    assert op.calls["CreateKernelV2"] == 2
    for session in sessions:
        for _ in range(5):
            probe.run(session, {"x0": ONES})
    assert op.calls["CreateKernelV2"] == 2
    assert op.calls["KernelComputeV2"] == 10
    assert "KernelDestroy" not in op.calls
    del session, sessions
    gc.collect()
    assert op.calls["KernelDestroy"] == 2


@pytest.mark.slot(CREATE, COMPUTE, DESTROY)
def test_kernel_state_reaches_compute_and_destroy(probe):
    op, seen = probe.op(), []

    def create(this, api, info, kernel):
        seen.append(("op", this == op.address, api == probe.api.address))
        seen.append(("before", C.c_void_p.from_address(kernel).value))
        C.c_void_p.from_address(kernel).value = 0x5150

    def compute(kernel, context):
        seen.append(("compute", kernel))
        copy_first_input(probe.api, context)

    op.set("CreateKernelV2", create)
    op.set("KernelComputeV2", compute)
    probe.run_op(op, [ONES])
    gc.collect()
    assert seen == [("op", True, True), ("before", None), ("compute", 0x5150)]
    assert op.destroyed == [0x5150]


@pytest.mark.slot(CREATE, COMPUTE, DESTROY)
def test_null_is_a_legal_kernel(probe):
    op = probe.op()
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]
    gc.collect()
    assert op.destroyed == [None]


def legacy(probe, version, poison=False):
    """Return an op with version 1 callbacks; everything its version does not have is null or poisoned."""
    op = probe.op(version=version)
    op.set("CreateKernelV2", None)
    op.set("KernelComputeV2", None)
    op.set("CreateKernel", lambda this, api, info: 0x77)
    op.set("KernelCompute", lambda kernel, context: copy_first_input(probe.api, context))
    if poison:
        for name in ("CreateKernelV2", "KernelComputeV2", "InferOutputShapeFn", "GetStartVersion", "GetEndVersion"):
            op.set_pointer(name, 0xDEAD0000)
        for name in ("GetMayInplace", "ReleaseMayInplace", "GetAliasMap", "ReleaseAliasMap"):
            op.set_pointer(name, 0xDEAD0000)
    return op


@pytest.mark.slot(LEGACY_CREATE, LEGACY_COMPUTE, DESTROY)
@pytest.mark.parametrize("version", [8, 13, 14, 15, 16, 17, 18, 30])
def test_legacy_callbacks_work_at_every_version(probe, version):
    op = legacy(probe, version)
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]
    gc.collect()
    assert op.destroyed == [0x77]


@pytest.mark.slot(LEGACY_CREATE, LEGACY_COMPUTE)
@pytest.mark.parametrize("version", [14, 15])
def test_members_behind_the_structs_version_are_never_read(probe, version):
    assert probe.run_op(legacy(probe, version, poison=True), [ONES])[0].tolist() == [1, 1]


@pytest.mark.slot(LEGACY_CREATE, LEGACY_COMPUTE)
@pytest.mark.host_stricter
@pytest.mark.parametrize("version", [1, 5])
def test_op_older_than_characteristics_has_required_arguments(probe, version):
    op = legacy(probe, version, poison=True)
    for name in ("GetInputCharacteristic", "GetOutputCharacteristic", "GetInputMemoryType"):
        op.set_pointer(name, 0xDEAD0000)
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]


@pytest.mark.slot(LEGACY_CREATE, LEGACY_COMPUTE, CREATE, COMPUTE)
@pytest.mark.parametrize(("version", "size"), [(14, 136), (15, 136), (16, 152), (17, 176), (18, 208), (30, 208)])
def test_nothing_is_read_behind_the_structs_last_byte(probe, version, size):
    op = probe.op(version=version) if version >= 16 else legacy(probe, version)
    op.move_to_guard_page(size)
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]


@pytest.mark.slot(LEGACY_CREATE, LEGACY_COMPUTE)
@pytest.mark.host_stricter
@pytest.mark.parametrize(("version", "size"), [(1, 80), (5, 80), (8, 96), (13, 96)])
def test_nothing_is_read_behind_an_old_structs_last_byte(probe, version, size):
    op = legacy(probe, version)
    op.move_to_guard_page(size)
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]


@pytest.mark.slot(LEGACY_CREATE, COMPUTE)
def test_legacy_create_goes_with_v2_compute(probe):
    op = probe.op()
    op.set("CreateKernelV2", None)
    op.set("CreateKernel", lambda this, api, info: 0x77)
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]
    gc.collect()
    assert op.destroyed == [0x77]


@pytest.mark.slot(CREATE, LEGACY_COMPUTE)
def test_v2_create_goes_with_legacy_compute(probe):
    op = probe.op()
    op.set("KernelComputeV2", None)
    op.set("KernelCompute", lambda kernel, context: copy_first_input(probe.api, context))
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]


@pytest.mark.slot(CREATE, COMPUTE)
def test_legacy_pointers_are_not_read_when_v2_is_there(probe):
    op = probe.op()
    op.set_pointer("CreateKernel", 0xDEAD0000)
    op.set_pointer("KernelCompute", 0xDEAD0000)
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]


@pytest.mark.slot(LEGACY_CREATE, LEGACY_COMPUTE)
def test_null_is_a_legal_legacy_kernel(probe):
    op = legacy(probe, 14)
    op.set("CreateKernel", lambda this, api, info: 0)
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]
    gc.collect()
    assert op.destroyed == [None]


@pytest.mark.slot(CREATE, COMPUTE)
@pytest.mark.parametrize("version", [31, 99])
def test_newer_op_is_read_as_far_as_known(probe, version):
    assert probe.run_op(probe.op(version=version), [ONES])[0].tolist() == [1, 1]


@pytest.mark.slot(CREATE)
def test_version_0_is_refused_by_the_structs_name(probe):
    op = probe.op(version=0)
    with pytest.raises(probe.exception("Fail"), match="OrtCustomOp"):
        probe.session(probe.one_node_model(op), op)


@pytest.mark.slot(CREATE, DESTROY)
@pytest.mark.parametrize("code", [E.ORT_INVALID_ARGUMENT, E.ORT_NOT_IMPLEMENTED, E.ORT_EP_FAIL])
def test_status_of_create_fails_the_session_as_a_runtime_exception(probe, code):
    op = probe.op(create=lambda api, info: probe.status(code, b"no such weights"))
    with pytest.raises(probe.exception("RuntimeException"), match="no such weights"):
        probe.session(probe.one_node_model(op), op)
    gc.collect()
    assert op.destroyed == []


@pytest.mark.slot(COMPUTE)
@pytest.mark.parametrize(
    ("code", "name"),
    [
        (E.ORT_INVALID_ARGUMENT, "InvalidArgument"),
        (E.ORT_NOT_IMPLEMENTED, "NotImplemented"),
        (E.ORT_EP_FAIL, "EPFail"),
        (E.ORT_RUNTIME_EXCEPTION, "RuntimeException"),
        (E.ORT_FAIL, "Fail"),
    ],
)
def test_status_of_compute_keeps_its_code_and_names_the_node(probe, code, name):
    op = probe.op("Picky", compute=lambda api, context: probe.status(code, b"negative input"))
    session = probe.session(probe.one_node_model(op, node_name="picky_7"), op)
    with pytest.raises(probe.exception(name), match=r"(?s)(?=.*Picky)(?=.*picky_7).*negative input"):
        probe.run(session, {"x0": ONES})


@pytest.mark.slot(COMPUTE)
@pytest.mark.host_stricter
@pytest.mark.parametrize("message", [b"caf\xe9 closed", ("x" + 4000 * "é").encode()], ids=["latin1", "cut_in_a_letter"])
def test_message_that_is_no_utf8_reaches_the_user_all_the_same(probe, message):
    op = probe.op(compute=lambda api, context: probe.status(E.ORT_FAIL, message))
    with pytest.raises(probe.exception("Fail")) as error:
        probe.run_op(op, [ONES])
    assert message[:4096].decode("utf-8", "replace") in str(error.value)


@pytest.mark.slot(COMPUTE)
def test_status_whose_code_is_ok_is_a_failure(probe):
    op = probe.op("Picky", compute=lambda api, context: probe.status(E.ORT_OK, b"fine"))
    session = probe.session(probe.one_node_model(op, node_name="picky_7"), op)
    with pytest.raises(probe.exception("Fail"), match=r"(?s)(?=.*Picky)(?=.*picky_7)"):
        probe.run(session, {"x0": ONES})


@pytest.mark.slot(COMPUTE)
def test_session_works_again_after_a_failed_run(probe):
    answers = [lambda api, context: probe.status(), copy_first_input]
    op = probe.op(compute=lambda api, context: answers.pop(0)(api, context))
    session = probe.session(probe.one_node_model(op), op)
    with pytest.raises(probe.exception("Fail")):
        probe.run(session, {"x0": ONES})
    assert probe.run(session, {"x0": ONES})[0].tolist() == [1, 1]


@pytest.mark.slot(COMPUTE)
def test_custom_op_with_constant_inputs_still_runs_each_time(probe):
    op = probe.op()
    model = probe.one_node_model(op, ["w"], initializers={"w": ONES})
    session = probe.session(model, op)
    assert "KernelComputeV2" not in op.calls
    for _ in range(2):
        probe.run(session, {})
    assert op.calls["KernelComputeV2"] == 2


@pytest.mark.slot("OrtCustomOp.GetExecutionProviderType")
def test_the_cpu_provider_may_be_named(probe):
    assert probe.run_op(probe.op(ep="CPUExecutionProvider"), [ONES])[0].tolist() == [1, 1]


@pytest.mark.slot("OrtCustomOp.GetExecutionProviderType")
@pytest.mark.parametrize("ep", ["", "NoSuchExecutionProvider"])
def test_unknown_provider_fails_session_creation_not_registration(probe, ep):
    op = probe.op(ep=ep)
    options = probe.register(op)
    with pytest.raises(probe.exception("NotImplemented")):
        probe.session(probe.one_node_model(op), options=options)


@pytest.mark.slot("OrtCustomOp.GetInputMemoryType")
@pytest.mark.parametrize("mem_type", [E.OrtMemTypeDefault, E.OrtMemTypeCPUInput])
def test_input_memory_type_changes_nothing_on_a_cpu(probe, mem_type):
    op = probe.op()
    op.set("GetInputMemoryType", lambda this, index: mem_type)
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]
    assert op.calls["GetInputMemoryType"] >= 1


INPLACE = "GetMayInplace", "ReleaseMayInplace"
ALIAS = "GetAliasMap", "ReleaseAliasMap"
INPLACE_SLOTS = pytest.mark.slot(*(f"OrtCustomOp.{name}" for name in (*INPLACE, *ALIAS)))


@INPLACE_SLOTS
@pytest.mark.parametrize("names", [INPLACE, ALIAS])
def test_index_pairs_are_given_back_together(probe, names):
    op = probe.op()
    pairs = Pairs(op, *names, [0], [0])
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]
    assert pairs.given >= 1
    assert pairs.balanced()


@INPLACE_SLOTS
@pytest.mark.host_stricter
@pytest.mark.parametrize("names", [INPLACE, ALIAS])
def test_empty_index_pairs_are_given_back_too(probe, names):
    op = probe.op()
    pairs = Pairs(op, *names, [], [])
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]
    assert pairs.given >= 1
    assert pairs.balanced()


@INPLACE_SLOTS
@pytest.mark.host_stricter
@pytest.mark.parametrize("names", [INPLACE, ALIAS])
@pytest.mark.parametrize(("inputs", "outputs"), [([1], [0]), ([0], [1]), ([-1], [0])])
def test_index_pair_out_of_range_is_refused(probe, names, inputs, outputs):
    op = probe.op()
    pairs = Pairs(op, *names, inputs, outputs)
    with pytest.raises(probe.exception("Fail"), match=names[0]):
        probe.session(probe.one_node_model(op), op)
    assert pairs.balanced()


@pytest.mark.slot(COMPUTE, "OrtCustomOp.GetMayInplace")
def test_in_place_permission_never_writes_a_feed(probe):
    def compute(api, context):
        copy_first_input(api, context)
        read_tensor(api, api.get.KernelContext_GetOutput(context, 0, dims(2), 1))[...] += 1

    op = probe.op(compute=compute)
    Pairs(op, *INPLACE, [0], [0])
    x = np.ones(2, np.float32)
    assert probe.run_op(op, [x])[0].tolist() == [2, 2]
    assert x.tolist() == [1, 1]


@pytest.mark.slot(COMPUTE)
def test_several_nodes_of_one_op_have_kernels_of_their_own(probe):
    op = probe.op(inputs=[Arg()], outputs=[Arg()])
    model = probe.one_node_model(op)
    second = model.graph.node.add()
    second.CopyFrom(model.graph.node[0])
    second.name, second.input[0], second.output[0] = "node1", "y0", "z"
    model.graph.output[0].name = "z"
    session = probe.session(model, op)
    assert op.calls["CreateKernelV2"] == 2
    assert probe.run(session, {"x0": ONES})[0].tolist() == [1, 1]
    del session
    gc.collect()
    assert op.calls["KernelDestroy"] == 2
