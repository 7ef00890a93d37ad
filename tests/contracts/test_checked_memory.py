# SPDX-License-Identifier: Apache-2.0
"""Allocators, blocks and threads under checked mode, and what a normal run does with the same mistakes."""

import ctypes as C
import gc
import os
import re
import threading
import time

import numpy as np
import pytest
from contracts.harness import E, copy_first_input, dims, run_in_child
from onnx import helper

pytestmark = [pytest.mark.host_stricter, pytest.mark.slot()]
ONES = np.ones(2, np.float32)
FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
ATTRIBUTES = {"t": helper.make_tensor("t", 1, [1], [1.0]), "s": ["text"]}
SLOTS = {  # every slot of kernels that takes an allocator: how it is called with one
    "AllocatorAlloc": lambda api, info, it: api.error.AllocatorAlloc(it, 8, C.byref(C.c_void_p())),
    "AllocatorFree": lambda api, info, it: api.error.AllocatorFree(it, None),
    "AllocatorGetInfo": lambda api, info, it: api.error.AllocatorGetInfo(it, C.byref(C.c_void_p())),
    "CreateTensorAsOrtValue": lambda api, info, it: api.error.CreateTensorAsOrtValue(
        it, dims(1), 1, FLOAT, C.byref(C.c_void_p())
    ),
    "CreateTensorWithDataAndDeleterAsOrtValue": lambda api, info, it: (
        api.error.CreateTensorWithDataAndDeleterAsOrtValue(it, 64, 8, dims(1), 1, FLOAT, C.byref(C.c_void_p()))
    ),
    "KernelInfoGetAttribute_tensor": lambda api, info, it: api.error.KernelInfoGetAttribute_tensor(
        info, b"t", it, C.byref(C.c_void_p())
    ),
    "KernelInfoGetAttributeArray_string": lambda api, info, it: api.error.KernelInfoGetAttributeArray_string(
        info, b"s", it, C.byref(C.c_void_p()), C.byref(C.c_size_t())
    ),
}


def found(ended):
    return re.findall(r"finding: (\w+): ([\w.]+): (.*)", ended.stderr)


def ended_well(module_name, function, checked, **variables):
    """Run a function in a child of its own; it must end by itself."""
    ended = run_in_child(module_name, function, ONNX_LIGHT_ORT_CHECKED=checked, **variables)
    assert ended.returncode == 0, ended.stderr
    return ended


def in_compute(probe, body):
    """Run body(api, context) in a kernel that then copies its input, and end its session."""

    def compute(api, context):
        body(api, context)
        copy_first_input(api, context)

    assert probe.run_op(probe.op(compute=compute), [ONES])[0].tolist() == [1, 1]
    gc.collect()


def other_handle_as_allocator(probe):
    def create(api, info):
        other = api.get.CreateCpuMemoryInfo(E.OrtArenaAllocator, E.OrtMemTypeDefault)
        print(*SLOTS[os.environ["SLOT"]](api, info, other), sep="|")
        api.ReleaseMemoryInfo(other)

    probe.during_create(create, attributes=ATTRIBUTES)


@pytest.mark.parametrize("slot", SLOTS)
def test_handle_of_another_type_is_no_allocator(module_name, slot):
    ended = ended_well(module_name, other_handle_as_allocator, "1", SLOT=slot)
    sentence = "OrtAllocator expected, got the OrtMemoryInfo made by CreateCpuMemoryInfo"
    assert found(ended) == [("wrong_kind", slot, sentence)]
    assert ended.stdout == f"{E.ORT_INVALID_ARGUMENT}|{slot}: wrong_kind: {sentence}\n"


@pytest.mark.parametrize("slot", SLOTS)
def test_handle_of_another_type_is_no_allocator_in_a_normal_run(module_name, slot):
    ended = ended_well(module_name, other_handle_as_allocator, "0", SLOT=slot)
    assert re.fullmatch(rf"{E.ORT_INVALID_ARGUMENT}\|{slot}: \w+ is no allocator, version \d+ is .*\n", ended.stdout)


def released_allocator(probe):
    def create(api, info):
        allocator = api.get.KernelInfoGetAllocator(info, E.OrtMemTypeDefault)
        api.ReleaseAllocator(allocator)
        print(*SLOTS[os.environ["SLOT"]](api, info, allocator), sep="|")

    probe.during_create(create, attributes=ATTRIBUTES)


@pytest.mark.parametrize("slot", SLOTS)
def test_released_allocator_is_named(module_name, slot):
    ended = ended_well(module_name, released_allocator, "1", SLOT=slot)
    sentence = "the OrtAllocator made by KernelInfoGetAllocator was released by ReleaseAllocator"
    assert found(ended) == [("use_after_release", slot, sentence)]
    assert ended.stdout == f"{E.ORT_INVALID_ARGUMENT}|{slot}: use_after_release: {sentence}\n"


class AllocatorMembers(C.Structure):
    _fields_ = [
        ("version", C.c_uint32),
        ("Alloc", C.CFUNCTYPE(C.c_void_p, C.c_void_p, C.c_size_t)),
        ("Free", C.CFUNCTYPE(None, C.c_void_p, C.c_void_p)),
        ("Info", C.CFUNCTYPE(C.c_void_p, C.c_void_p)),
    ]


def members_of_a_released_allocator(probe):
    def create(api, info):
        allocator = api.get.KernelInfoGetAllocator(info, E.OrtMemTypeDefault)
        members = AllocatorMembers.from_address(allocator)
        block = members.Alloc(allocator, 8)
        api.ReleaseAllocator(allocator)
        match os.environ["MEMBER"]:
            case "Alloc":
                print(members.Alloc(allocator, 8))
            case "Info":
                print(api.get.MemoryInfoGetId(members.Info(allocator)))
        if os.environ["MEMBER"] == "Free":
            members.Free(allocator, block)
        else:
            api.ok.AllocatorFree(api.get.GetAllocatorWithDefaultOptions(), block)

    probe.during_create(create)


@pytest.mark.parametrize(("member", "answer"), [("Alloc", "None\n"), ("Free", ""), ("Info", "0\n")])
def test_members_of_a_released_allocator_still_answer(module_name, member, answer):
    ended = ended_well(module_name, members_of_a_released_allocator, "1", MEMBER=member)
    assert [finding[:2] for finding in found(ended)] == [("use_after_release", f"OrtAllocator.{member}")]
    assert ended.stdout == answer


def adopted_by_a_released_wrapper(probe):
    """A value takes a block over through a wrapper that goes before it."""

    def body(api, context):
        info = api.get.CreateCpuMemoryInfo(E.OrtArenaAllocator, E.OrtMemTypeDefault)
        allocator = api.get.KernelContext_GetAllocator(context, info)
        api.ReleaseMemoryInfo(info)
        block = api.get.AllocatorAlloc(allocator, 64)
        value = api.get.CreateTensorWithDataAndDeleterAsOrtValue(allocator, block, 64, dims(16), 1, FLOAT)
        api.ReleaseAllocator(allocator)
        blocks = [api.get.AllocatorAlloc(api.get.GetAllocatorWithDefaultOptions(), 8 * i) for i in range(1, 40)]
        for other in blocks:
            C.memset(other, 0x41, 8)
        api.ReleaseValue(value)
        for other in blocks:
            api.ok.AllocatorFree(api.get.GetAllocatorWithDefaultOptions(), other)

    in_compute(probe, body)


@pytest.mark.parametrize("checked", ["0", "1"], ids=["normal", "checked"])
def test_value_frees_its_block_after_the_wrapper_that_it_came_through(module_name, checked):
    assert found(ended_well(module_name, adopted_by_a_released_wrapper, checked)) == []


def write_beside_a_block(probe):
    def body(api, context):
        allocator = api.get.GetAllocatorWithDefaultOptions()
        block = api.get.AllocatorAlloc(allocator, 16)
        C.memset(block + int(os.environ["OFFSET"]), 0, 1)
        api.ok.AllocatorFree(allocator, block)

    in_compute(probe, body)


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (-31, "wrote before the first byte"),
        (-1, "wrote before the first byte"),
        (16, "wrote behind the last byte"),
        (79, "wrote behind the last byte"),
    ],
)
def test_write_beside_a_block_is_found(module_name, offset, words):
    ended = ended_well(module_name, write_beside_a_block, "1", OFFSET=str(offset))
    sentence = f"a block of 16 bytes: the library {words}"
    assert found(ended) == [("overrun", "OrtAllocator.Free", sentence)]


def write_far_beside_an_output(probe):
    def compute(api, context):
        value = api.get.KernelContext_GetOutput(context, 0, dims(2), 1)
        C.memset(api.get.GetTensorMutableData(value) + int(os.environ["OFFSET"]), 0, 1)

    with pytest.raises(probe.exception("Fail"), match="overrun: output 0"):
        probe.run_op(probe.op(compute=compute), [ONES])


@pytest.mark.parametrize(("offset", "words"), [(-4096, "before the first element"), (8 + 4095, "behind the last")])
def test_write_beside_an_output_is_found_within_a_page(module_name, offset, words):
    ended = ended_well(module_name, write_far_beside_an_output, "1", OFFSET=str(offset))
    ((rule, _, sentence),) = found(ended)
    assert rule == "overrun"
    assert words in sentence


def freed_twice(probe):
    def body(api, context):
        allocator = api.get.GetAllocatorWithDefaultOptions()
        block = api.get.AllocatorAlloc(allocator, 64)
        api.ok.AllocatorFree(allocator, block)
        api.ok.AllocatorFree(allocator, block)
        info = api.get.CreateCpuMemoryInfo(E.OrtArenaAllocator, E.OrtMemTypeDefault)
        wrapper = api.get.KernelContext_GetAllocator(context, info)
        api.ReleaseMemoryInfo(info)
        api.ReleaseAllocator(wrapper)
        api.ReleaseAllocator(wrapper)

    in_compute(probe, body)


@pytest.mark.interposes  # a sanitizer ends the process here
def test_normal_run_says_nothing_for_sure_about_freed_memory(module_name):
    ended = ended_well(module_name, freed_twice, "0")
    assert found(ended) == []
    assert "OrtAllocator.Free: no block of the host's that is in use" in ended.stderr


def leak_of_a_thread(probe):
    def work():
        probe.api.get.CreateTensorTypeAndShapeInfo()
        probe.status()

    def body(api, context):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        while os.path.exists(f"/proc/self/task/{thread.native_id}"):  # joined is not yet ended
            time.sleep(0.001)

    in_compute(probe, body)


def test_what_an_ended_thread_of_the_library_leaves_is_a_leak(module_name):
    leaks = found(ended_well(module_name, leak_of_a_thread, "1"))
    assert sorted(leak[:2] for leak in leaks) == [("leak", "CreateStatus"), ("leak", "CreateTensorTypeAndShapeInfo")]
    assert all("end of the session (a thread of the library's own made it, and has ended)" in leak[2] for leak in leaks)


def thread_that_outlives_the_session(probe):
    made, go_on = threading.Event(), threading.Event()

    def work():
        info = probe.api.get.CreateTensorTypeAndShapeInfo()
        made.set()
        go_on.wait()
        probe.api.ReleaseTensorTypeAndShapeInfo(info)

    def body(api, context):
        thread.start()
        made.wait()

    thread = threading.Thread(target=work)
    in_compute(probe, body)
    go_on.set()
    thread.join()
    in_compute(probe, lambda api, context: None)


def test_thread_that_goes_on_may_release_what_it_has_made_later(module_name):
    assert found(ended_well(module_name, thread_that_outlives_the_session, "1")) == []
