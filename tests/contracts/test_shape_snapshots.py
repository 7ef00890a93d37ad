# SPDX-License-Identifier: Apache-2.0
"""Type and shape infos are snapshots of their own: independent of the value, of each other, of run and thread.

Each test has a process of its own, with and without checked mode: they keep memory in different ways.
"""

import ctypes as C
import gc
import threading

import numpy as np
import pytest
from contracts.harness import E, dims, fixture_path, options_of, run_in_child, session_of, write_output

GET, TYPE = "OrtApi.GetTensorTypeAndShape", "OrtApi.GetTypeInfo"
INPUT, PARALLEL = "OrtApi.KernelContext_GetInput", "OrtApi.KernelContext_ParallelFor"
FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
X = np.arange(6, dtype=np.float32).reshape(2, 3)
MODES = pytest.mark.parametrize("checked", ["0", "1"], ids=["normal", "checked"])


def extents(api, info):
    """Return the extents, and nothing else, of an info that must be one of floats."""
    assert api.get.GetTensorElementType(info) == FLOAT
    read = (C.c_int64 * api.get.GetDimensionsCount(info))()
    api.ok.GetDimensions(info, read, len(read))
    return list(read)


def kept(probe, take):
    """Take an info in a first run, read it in a second one of other extents, after it and after the session."""
    taken = []

    def compute(api, context):
        x = api.get.KernelContext_GetInput(context, 0)
        shape = [4] if taken else [2, 3]
        y = api.get.KernelContext_GetOutput(context, 0, dims(*shape), len(shape))
        if taken:
            print(extents(api, taken[0]))
        else:
            taken.append(take(api, x, y))

    op = probe.op(compute=compute)
    session = probe.session(probe.one_node_model(op, input_types={"x0": (FLOAT, None)}), op)
    probe.run(session, {"x0": X})
    probe.run(session, {"x0": np.zeros(4, np.float32)})
    print(extents(probe.api, taken[0]))
    del session
    gc.collect()
    print(extents(probe.api, taken[0]))
    return taken[0]


def of_an_input(probe):
    probe.api.ReleaseTensorTypeAndShapeInfo(kept(probe, lambda api, x, y: api.get.GetTensorTypeAndShape(x)))


def of_an_output(probe):
    probe.api.ReleaseTensorTypeAndShapeInfo(kept(probe, lambda api, x, y: api.get.GetTensorTypeAndShape(y)))


def of_a_type_info(probe):
    whole = []

    def take(api, x, y):
        whole.append(api.get.GetTypeInfo(x))
        return api.get.CastTypeInfoToTensorInfo(whole[0])

    kept(probe, take)
    probe.api.ReleaseTypeInfo(whole[0])


def of_an_owned_value(probe):
    values = []

    def take(api, x, y):
        allocator = api.get.GetAllocatorWithDefaultOptions()
        values.append(api.get.CreateTensorAsOrtValue(allocator, dims(2, 3), 2, FLOAT))
        info = api.get.GetTensorTypeAndShape(values[0])
        api.ReleaseValue(values[0])
        return info

    probe.api.ReleaseTensorTypeAndShapeInfo(kept(probe, take))


def of_many_dimensions(probe):
    """More than are kept inside of an object."""

    def compute(api, context):
        infos = [api.get.GetTensorTypeAndShape(api.get.KernelContext_GetInput(context, 0)) for _ in range(40)]
        for info in infos:
            seen.append(extents(api, info))
            api.ReleaseTensorTypeAndShapeInfo(info)
        write_output(api, context, 0, X)

    seen = []
    for _ in range(3):
        probe.run_op(probe.op(compute=compute), [X.reshape([1] * 30 + [2, 3])])
    assert seen == [[1] * 30 + [2, 3]] * 120
    print(*[[2, 3]] * 3, sep="\n")


@MODES
@pytest.mark.parametrize(
    "function",
    [
        pytest.param(function, marks=pytest.mark.slot(slot), id=function.__name__)
        for function, slot in (
            (of_an_input, GET),
            (of_an_output, GET),
            (of_a_type_info, TYPE),
            (of_an_owned_value, GET),
            (of_many_dimensions, GET),
        )
    ],
)
def test_snapshot_outlives_value_run_and_session(module_name, function, checked):
    ended = run_in_child(module_name, function, ONNX_LIGHT_ORT_CHECKED=checked)
    assert ended.stdout.splitlines() == ["[2, 3]"] * 3, ended.stderr
    assert ended.returncode == 0


def changes(probe):
    def body(api, context):
        value = api.get.KernelContext_GetInput(context, 0)
        first, second = (api.get.GetTensorTypeAndShape(value) for _ in range(2))
        api.ok.SetDimensions(first, dims(7, 8, 9), 3)
        api.ok.SetSymbolicDimensions(first, (C.c_char_p * 1)(b"N"), 1)
        third = api.get.GetTensorTypeAndShape(value)
        api.ReleaseTensorTypeAndShapeInfo(first)
        fourth = api.get.GetTensorTypeAndShape(value)
        for info in (second, third, fourth):
            name = C.c_char_p()
            api.ok.GetSymbolicDimensions(info, C.byref(name), 1)
            print(extents(api, info), name.value)
            api.ReleaseTensorTypeAndShapeInfo(info)

    probe.during_compute(body, inputs=[X])


@MODES
@pytest.mark.slot(GET, "OrtApi.SetDimensions", "OrtApi.SetSymbolicDimensions")
def test_change_of_a_snapshot_is_seen_in_no_other_one(module_name, checked):
    ended = run_in_child(module_name, changes, ONNX_LIGHT_ORT_CHECKED=checked)
    assert ended.stdout.splitlines() == ["[2, 3] b''"] * 3, ended.stderr
    assert ended.returncode == 0


def on_threads(probe, op):
    options = options_of(probe, "concurrent_reads")
    options.intra_op_num_threads = 4
    x = np.arange(24, dtype=np.float32)
    session = session_of(probe, "concurrent_reads", op, options=options, attributes={"dims": [24]})
    results = [probe.run(session, {"x0": x})[0] for _ in range(4)]
    print(*sorted({str((result / np.maximum(x, 1)).astype(int).tolist()[1:]) for result in results}), sep="\n")


def reading(probe):
    on_threads(probe, "Read")


def changing(probe):
    on_threads(probe, "Change")


def keeping(probe):
    on_threads(probe, "Keep")


def doubling(probe):
    on_threads(probe, "Double")


@MODES
@pytest.mark.slot(GET, TYPE, INPUT, PARALLEL)
@pytest.mark.parametrize("function", [reading, changing, keeping])
def test_loop_bodies_may_ask_for_the_same_input(module_name, function, checked):
    ended = run_in_child(module_name, function, ONNX_LIGHT_ORT_CHECKED=checked)
    assert ended.stdout == f"{[1] * 23}\n", ended.stderr
    assert ended.returncode == 0
    assert "finding" not in ended.stderr


@MODES
@pytest.mark.host_stricter  # ORT does not apply the alias at a graph output
@pytest.mark.slot(INPUT, PARALLEL, "OrtCustomOp.GetAliasMap", "OrtCustomOp.ReleaseAliasMap")
def test_loop_bodies_may_ask_for_an_input_that_an_output_shares(module_name, checked):
    ended = run_in_child(module_name, doubling, ONNX_LIGHT_ORT_CHECKED=checked)
    assert ended.stdout == f"{[2] * 23}\n", ended.stderr
    assert ended.returncode == 0
    assert "finding" not in ended.stderr


def threads_that_end(probe):
    """Print how many blocks a new thread takes for its infos, how many for the next ones, and how many it keeps."""
    api, counter = probe.api, C.CDLL(fixture_path("libc_calls"))
    counter.CountedAllocations.restype = counter.CountedFrees.restype = C.c_long
    infos = (C.c_void_p * 8)()
    places = [C.byref(infos, i * C.sizeof(C.c_void_p)) for i in range(len(infos))]
    rounds = []

    def make_and_release():
        before = counter.CountedAllocations()
        for place in places:
            make(place)
        rounds.append(counter.CountedAllocations() - before)
        for info in infos:
            release(info)

    def idle():
        pass

    def twice():
        make_and_release()
        make_and_release()

    def held_after(work):
        before = counter.CountedAllocations() - counter.CountedFrees()
        for _ in range(100):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        return counter.CountedAllocations() - counter.CountedFrees() - before

    make, release = api.CreateTensorTypeAndShapeInfo, api.ReleaseTensorTypeAndShapeInfo
    held_after(twice)
    idle_threads = held_after(idle)
    rounds.clear()
    print(held_after(twice) - idle_threads < 100, min(rounds[::2]) >= len(infos), min(rounds[1::2]) == 0)


@pytest.mark.interposes
@pytest.mark.host_stricter
@pytest.mark.slot("OrtApi.CreateTensorTypeAndShapeInfo", "OrtApi.ReleaseTensorTypeAndShapeInfo")
def test_thread_keeps_the_memory_of_infos_until_it_ends(module_name):
    preload = {"LD_PRELOAD": fixture_path("libc_calls"), "ONNX_LIGHT_ORT_CHECKED": "0"}
    ended = run_in_child(module_name, threads_that_end, **preload)
    assert ended.stdout == "True True True\n", ended.stderr
