# SPDX-License-Identifier: Apache-2.0
"""What a kernel keeps: scratch over many runs, kernel info past the session, and its own end."""

import ctypes as C
import gc

import numpy as np
import pytest
from contracts.harness import E, dims, options_of, read_tensor, session_of

SCRATCH = pytest.mark.slot("OrtApi.KernelContext_GetScratchBuffer")
X = np.ones(1, np.float32)
BLOCK = 4096
LIMIT = 20 * BLOCK + 100  # room for the output


@SCRATCH
@pytest.mark.parametrize("library", ["keeps_scratch", "forgets_scratch"])
def test_scratch_that_a_kernel_does_not_free_stays_whole_over_many_runs(probe, library):
    options = options_of(probe, library)
    sessions = [session_of(probe, "", "Kept", options=options) for _ in range(2)]
    for count in range(1, 101):
        for session in sessions:
            assert probe.run(session, {"x0": X})[0].tolist() == [count]


@SCRATCH
@pytest.mark.host_stricter
def test_scratch_that_is_kept_counts_against_the_limit_of_its_session_alone(probe):
    options = options_of(probe, "keeps_scratch")
    options.memory_limit_bytes = LIMIT
    for _ in range(2):
        session = session_of(probe, "", "Kept", options=options, node_name="keeps_7")
        for count in range(1, 21):
            assert probe.run(session, {"x0": X})[0].tolist() == [count]
        with pytest.raises(probe.exception("Fail"), match="KernelContext_GetScratchBuffer") as error:
            probe.run(session, {"x0": X})
        assert [w for w in ("keeps_7", str(BLOCK), str(LIMIT)) if w not in str(error.value)] == []


@pytest.mark.slot("OrtApi.CopyKernelInfo", "OrtApi.ReleaseKernelInfo")
@pytest.mark.host_stricter
@pytest.mark.finds("leak")
def test_copy_of_a_kernel_info_outlives_session_and_options(probe, api):
    copies = []
    op = probe.op(create=lambda api, info: copies.append(api.get.CopyKernelInfo(info)) or None)
    model = {"attributes": {"factor": 2.5}, "initializers": {"w": np.arange(64, dtype=np.float32)}, "node_name": "n7"}
    session = probe.session(probe.one_node_model(op, ["w"], **model), op)
    probe.run(session, {})
    del session
    gc.collect()
    assert op.calls["KernelDestroy"] == 1
    (info,) = copies
    try:
        factor, size, name = C.c_float(), C.c_size_t(16), C.create_string_buffer(16)
        api.ok.KernelInfoGetAttribute_float(info, b"factor", C.byref(factor))
        api.ok.KernelInfo_GetNodeName(info, name, C.byref(size))
        is_constant, value = C.c_int(), C.c_void_p()
        api.ok.KernelInfoGetConstantInput_tensor(info, 0, C.byref(is_constant), C.byref(value))
        assert (factor.value, name.value, is_constant.value) == (2.5, b"n7", 1)
        np.testing.assert_array_equal(read_tensor(api, value.value), np.arange(64))
    finally:
        api.ReleaseKernelInfo(info)


@pytest.mark.slot("OrtApi.ReleaseAllocator", "OrtApi.ReleaseValue", "OrtApi.AllocatorFree")
@pytest.mark.finds("leak")
@pytest.mark.host_stricter
@pytest.mark.parametrize("element", [E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING])
def test_allocator_of_a_kernel_and_its_blocks_outlive_the_session_in_any_order(probe, api, element):
    kept = []

    def create(api, info):
        allocator = api.get.KernelInfoGetAllocator(info, E.OrtMemTypeDefault)
        value = api.get.CreateTensorAsOrtValue(allocator, dims(3), 1, element)
        if element == E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING:
            api.ok.FillStringTensorElement(value, b"a text that is too long for its object", 1)
        kept.append((allocator, api.get.AllocatorAlloc(allocator, 100), value))

    op = probe.op(create=create)
    session = probe.session(probe.one_node_model(op), op)
    del session
    gc.collect()
    ((allocator, block, value),) = kept
    api.ok.AllocatorFree(allocator, block)
    api.ReleaseAllocator(allocator)
    assert api.get.IsTensor(value) == 1
    api.ReleaseValue(value)


@pytest.mark.slot("OrtCustomOp.KernelDestroy")
@pytest.mark.parametrize("when", ["create", "compute"])
def test_kernels_are_destroyed_after_an_exception_that_keeps_the_session_alive(probe, when):
    def create(api, info):
        return probe.status() if when == "create" and op.calls["CreateKernelV2"] == 2 else None

    op = probe.op(create=create)
    model = probe.one_node_model(op)
    node = model.graph.node.add()
    node.CopyFrom(model.graph.node[0])
    node.name, node.input[0], node.output[0] = "node1", "y0", "y1"
    model.graph.output[0].name = "y1"
    if when == "compute":
        op.set("KernelComputeV2", lambda kernel, context: probe.status())
    with pytest.raises(Exception, match="refused by the probe") as error:
        probe.run(probe.session(model, op), {"x0": X})
    assert error.value is not None
    del error
    gc.collect()
    assert op.calls["KernelDestroy"] == (1 if when == "create" else 2)
