# SPDX-License-Identifier: Apache-2.0
"""Checked mode: each rule is broken once, and what is found names rule, slot and what happened."""

import contextlib
import ctypes as C
import gc
import re
from pathlib import Path

import numpy as np
import pytest
from contracts.harness import Arg, E, Pairs, copy_first_input, dims, read_tensor, run_in_child

pytestmark = [pytest.mark.host_stricter, pytest.mark.slot()]
ONES = np.ones(2, np.float32)
HERE = Path(__file__)


def run(probe, op, **model):
    """Run a one-node model and end its session, whatever the run answers; None for an error."""
    try:
        return probe.run_op(op, [ONES], **model)
    except probe.ort.OrtHostError:
        return None
    finally:
        gc.collect()


def in_compute(probe, body, copy=True):
    """Run body(api, context) in a kernel that then copies its input."""

    def compute(api, context):
        body(api, context)
        if copy:
            copy_first_input(api, context)

    run(probe, probe.op(compute=compute))


def wrong_kind(probe):
    in_compute(probe, lambda api, context: api.code.IsTensor(context, C.byref(C.c_int())))


def use_after_release(probe):
    def body(api, context):
        info = api.get.CreateTensorTypeAndShapeInfo()
        api.ReleaseTensorTypeAndShapeInfo(info)
        assert api.code.GetDimensionsCount(info, C.byref(C.c_size_t())) == E.ORT_INVALID_ARGUMENT

    in_compute(probe, body)


def use_of_a_released_allocator(probe):
    def body(api, context):
        info = api.get.CreateCpuMemoryInfo(E.OrtArenaAllocator, E.OrtMemTypeDefault)
        allocator = api.get.KernelContext_GetAllocator(context, info)
        api.ReleaseMemoryInfo(info)
        api.ReleaseAllocator(allocator)
        assert api.code.AllocatorAlloc(allocator, 8, C.byref(C.c_void_p())) == E.ORT_INVALID_ARGUMENT

    in_compute(probe, body)


def return_of_a_released_status(probe):
    def compute(kernel, context):
        status = probe.status()
        probe.api.ReleaseStatus(status)
        return status

    op = probe.op()
    op.set("KernelComputeV2", compute)
    assert run(probe, op) is None


def double_release(probe):
    def body(api, context):
        info = api.get.CreateTensorTypeAndShapeInfo()
        api.ReleaseTensorTypeAndShapeInfo(info)
        api.ReleaseTensorTypeAndShapeInfo(info)

    in_compute(probe, body)


def double_free(probe):
    def body(api, context):
        allocator = api.get.GetAllocatorWithDefaultOptions()
        block = api.get.AllocatorAlloc(allocator, 64)
        api.ok.AllocatorFree(allocator, block)
        api.ok.AllocatorFree(allocator, block)

    in_compute(probe, body)


def release_of_borrowed(probe):
    in_compute(probe, lambda api, context: api.ReleaseValue(api.get.KernelContext_GetInput(context, 0)))


def leak(probe):
    in_compute(probe, lambda api, context: api.get.CreateTensorTypeAndShapeInfo())


def leak_of_a_status(probe):
    in_compute(probe, lambda api, context: api.IsTensor(None, None))


def leak_of_an_allocator(probe):
    probe.during_create(lambda api, info: api.get.KernelInfoGetAllocator(info, E.OrtMemTypeDefault))
    gc.collect()


def leak_while_registering(probe):
    probe.during_register(lambda options: probe.status())


def kernel_info_after_construction(probe):
    seen = []

    def compute(api, context):
        assert api.get.KernelInfo_GetInputCount(seen[0]) == 1
        copy_first_input(api, context)

    run(probe, probe.op(create=lambda api, info: seen.append(info), compute=compute))


def context_after_compute(probe):
    seen = []
    in_compute(probe, lambda api, context: seen.append(context))
    assert probe.api.code.KernelContext_GetInputCount(seen[0], C.byref(C.c_size_t())) == E.ORT_INVALID_ARGUMENT


def input_after_compute(probe):
    seen = []
    in_compute(probe, lambda api, context: seen.append(api.get.KernelContext_GetInput(context, 0)))
    assert probe.api.code.IsTensor(seen[0], C.byref(C.c_int())) == E.ORT_INVALID_ARGUMENT


def overrun(probe):
    def body(api, context):
        value = api.get.KernelContext_GetOutput(context, 0, dims(2), 1)
        C.memset(api.get.GetTensorMutableData(value), 0, 9)

    in_compute(probe, body, copy=False)


def overrun_of_a_shared_output(probe):
    def compute(api, context):
        value = api.get.KernelContext_GetOutput(context, 0, dims(2), 1)
        C.memset(api.get.GetTensorMutableData(value) - 1, 0, 1)

    op = probe.op(compute=compute)
    Pairs(op, "GetAliasMap", "ReleaseAliasMap", [0], [0])
    run(probe, op)


def input_written(probe):
    def body(api, context):
        read_tensor(api, api.get.KernelContext_GetInput(context, 0))[...] = 3

    in_compute(probe, body)


def output_missing(probe):
    in_compute(probe, lambda api, context: None, copy=False)


def shape_mismatch(probe):
    def infer(api, context):
        info = api.get.CreateTensorTypeAndShapeInfo()
        api.ok.SetDimensions(info, dims(1), 1)
        api.ok.ShapeInferContext_SetOutputTypeShape(context, 0, info)
        api.ReleaseTensorTypeAndShapeInfo(info)

    (y,) = run(probe, probe.op(infer=infer))
    assert y.tolist() == [1, 1]


def inference_failed(probe):
    assert run(probe, probe.op(infer=lambda api, context: probe.status())) is not None


def attribute_kind(probe):
    def create(api, info):
        size = C.c_size_t(0)
        assert api.code.KernelInfoGetAttributeArray_int64(info, b"f", None, C.byref(size)) == E.ORT_OK

    run(probe, probe.op(create=create), attributes={"f": 1.5})


def status_that_is_a_value(probe):
    op = probe.op()
    op.set("KernelComputeV2", lambda kernel, context: probe.api.get.KernelContext_GetInput(context, 0))
    assert run(probe, op) is None


def message_of_no_status(probe):
    in_compute(probe, lambda api, context: api.GetErrorMessage(api.get.KernelContext_GetInput(context, 0)))


def constant_written_at_construction(probe):
    def create(api, info):
        flag, value = C.c_int(), C.c_void_p()
        api.ok.KernelInfoGetConstantInput_tensor(info, 0, C.byref(flag), C.byref(value))
        read_tensor(api, value.value)[...] = 99

    op = probe.op(create=create)
    model = probe.one_node_model(op, inputs=["w"], initializers={"w": ONES})
    with contextlib.suppress(probe.ort.OrtHostError):
        probe.session(model, op)


def stale_shape_info(probe):
    def body(api, context):
        value = api.get.KernelContext_GetInput(context, 0)
        stale = api.get.GetTensorTypeAndShape(value)
        api.ReleaseTensorTypeAndShapeInfo(stale)
        info = api.get.GetTensorTypeAndShape(value)
        assert api.code.GetDimensionsCount(stale, C.byref(C.c_size_t())) == E.ORT_INVALID_ARGUMENT
        api.ReleaseTensorTypeAndShapeInfo(info)

    in_compute(probe, body)


def leak_of_a_status_at_the_end(probe):
    op = probe.op()
    op.set("KernelDestroy", lambda kernel: probe.status() and None)
    run(probe, op)


def foreign_block(probe):
    block = C.create_string_buffer(256)

    def body(api, context):
        api.ok.AllocatorFree(api.get.GetAllocatorWithDefaultOptions(), C.addressof(block) + 128)

    in_compute(probe, body)


COMPUTE = "OrtCustomOp.KernelComputeV2"
CASES = [  # what is done, and the finding: rule, slot, words of its sentence
    (wrong_kind, "wrong_kind", "IsTensor", "OrtValue expected, got the OrtKernelContext"),
    (use_after_release, "use_after_release", "GetDimensionsCount", "was released by ReleaseTensorTypeAndShapeInfo"),
    (use_of_a_released_allocator, "use_after_release", "AllocatorAlloc", "the OrtAllocator made by KernelContext_Get"),
    (return_of_a_released_status, "use_after_release", COMPUTE, "the OrtStatus made by CreateStatus was rel"),
    (double_release, "double_release", "ReleaseTensorTypeAndShapeInfo", "made by CreateTensorTypeAndShapeInfo"),
    (status_that_is_a_value, "wrong_kind", COMPUTE, "OrtStatus expected, got the OrtValue"),
    (message_of_no_status, "wrong_kind", "GetErrorMessage", "OrtStatus expected, got the OrtValue"),
    (foreign_block, "wrong_kind", "OrtAllocator.Free", "none of the host's"),
    (stale_shape_info, "use_after_release", "GetDimensionsCount", "made by GetTensorTypeAndShape"),
    (constant_written_at_construction, "input_written", "OrtCustomOp.CreateKernelV2", "input 0: the library changed"),
    (leak_of_a_status_at_the_end, "leak", "CreateStatus", "by the end of the session"),
    (double_free, "double_release", "OrtAllocator.Free", "freed before"),
    (release_of_borrowed, "release_of_borrowed", "ReleaseValue", "the OrtValue"),
    (leak, "leak", "CreateTensorTypeAndShapeInfo", "by the end of the session"),
    (leak_of_a_status, "leak", "IsTensor", "the OrtStatus made by IsTensor"),
    (leak_of_an_allocator, "leak", "KernelInfoGetAllocator", "the OrtAllocator"),
    (leak_while_registering, "leak", "CreateStatus", "by the end of the registration"),
    (kernel_info_after_construction, "out_of_phase", "KernelInfo_GetInputCount", "the OrtKernelInfo"),
    (context_after_compute, "out_of_phase", "KernelContext_GetInputCount", "the OrtKernelContext"),
    (input_after_compute, "out_of_phase", "IsTensor", "the OrtValue"),
    (overrun, "overrun", COMPUTE, "output 0: the kernel wrote behind the last element"),
    (overrun_of_a_shared_output, "overrun", COMPUTE, "output 0: the kernel wrote before the first element"),
    (input_written, "input_written", COMPUTE, "input 0: the kernel changed it"),
    (output_missing, "output_missing", COMPUTE, "output 0"),
    (shape_mismatch, "shape_mismatch", COMPUTE, "output 0 was promised as float[1], got [2]"),
    (inference_failed, "inference_failed", "OrtCustomOp.InferOutputShapeFn", "refused by the probe"),
    (attribute_kind, "attribute_kind", "KernelInfoGetAttributeArray_int64", "'f' is of kind float, read as ints"),
]


@pytest.mark.parametrize(("function", "rule", "slot", "words"), CASES, ids=[case[0].__name__ for case in CASES])
def test_broken_rule_is_found_once(module_name, function, rule, slot, words):
    ended = run_in_child(module_name, function, ONNX_LIGHT_ORT_CHECKED="1")
    assert ended.returncode == 0, ended.stderr
    found = re.findall(r"finding: (\w+): ([\w.]+): (.*)", ended.stderr)
    assert [(name, where) for name, where, _ in found] == [(rule, slot)]
    assert words in found[0][2]


def print_findings(probe):
    leak(probe)
    (found,) = probe.ort.checked_findings()
    print(found.rule, found.slot, found.sentence, sep="|")


def test_findings_can_be_asked_for(module_name):
    ended = run_in_child(module_name, print_findings, ONNX_LIGHT_ORT_CHECKED="1")
    sentence = (
        "the OrtTensorTypeAndShapeInfo made by CreateTensorTypeAndShapeInfo was not released by the end of the session"
    )
    assert ended.stdout == f"leak|CreateTensorTypeAndShapeInfo|{sentence}\n", ended.stderr


def test_without_checked_mode_nothing_is_kept(module_name):
    ended = run_in_child(module_name, print_nothing, ONNX_LIGHT_ORT_CHECKED="")
    assert ended.stdout == "0\n", ended.stderr


def print_nothing(probe):
    leak(probe)
    print(len(probe.ort.checked_findings()))


def test_every_rule_is_broken_by_a_test_and_explained(probe):
    rules = probe.ort.checked_rules()
    assert {case[1] for case in CASES} == set(rules)
    page = (HERE.parents[2] / "docs" / "checked_mode.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| (.+?) \|", page, re.MULTILINE) == list(rules.items())


def good_library(probe):
    """Use many slots as they are meant to be used."""
    value = np.arange(4, dtype=np.float32)
    probe.run_op(probe.op(inputs=[Arg(), Arg(E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, 1)]), [value, None])
    probe.during_create(lambda api, info: api.ReleaseKernelInfo(api.get.CopyKernelInfo(info)))
    probe.during_infer(lambda api, context: api.get.ShapeInferContext_GetAttribute(context, b"i"), attributes={"i": 1})


def test_nothing_is_found_about_a_library_that_keeps_the_rules(module_name):
    ended = run_in_child(module_name, good_library, ONNX_LIGHT_ORT_CHECKED="1")
    assert ended.returncode == 0, ended.stderr
    assert "finding" not in ended.stderr
