# SPDX-License-Identifier: Apache-2.0
"""What a kernel sees while it computes."""

import ctypes as C
import threading

import numpy as np
import pytest
from contracts.harness import Arg, E, dims, read_tensor, write_output

FLOAT, OPTIONAL = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.INPUT_OUTPUT_OPTIONAL
VARIADIC = E.INPUT_OUTPUT_VARIADIC
COUNTS = "OrtApi.KernelContext_GetInputCount", "OrtApi.KernelContext_GetOutputCount"
INPUT, OUTPUT = "OrtApi.KernelContext_GetInput", "OrtApi.KernelContext_GetOutput"
SCRATCH, ALLOCATOR = "OrtApi.KernelContext_GetScratchBuffer", "OrtApi.KernelContext_GetAllocator"
PARALLEL = "OrtApi.KernelContext_ParallelFor"
ONES = np.ones(2, np.float32)


def counts(api, context):
    return api.get.KernelContext_GetInputCount(context), api.get.KernelContext_GetOutputCount(context)


@pytest.mark.slot(*COUNTS)
@pytest.mark.parametrize(
    ("inputs", "outputs", "expected"),
    [([ONES], ["y"], (1, 1)), ([ONES, None], ["y"], (2, 1)), ([ONES, ONES], ["y", ""], (2, 2))],
    ids=["trailing_omitted", "written_as_empty", "all"],
)
def test_counts_are_the_arguments_written_on_the_node(probe, inputs, outputs, expected):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL)], outputs=[Arg(), Arg(FLOAT, OPTIONAL)])
    assert probe.during_compute(counts, inputs, op, outputs=outputs) == expected


@pytest.mark.slot(*COUNTS)
def test_variadic_arguments_are_counted_one_by_one(probe):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, VARIADIC)])
    assert probe.during_compute(counts, [ONES] * 4, op) == (4, 1)


@pytest.mark.slot(INPUT, "OrtApi.GetTensorData", "OrtApi.GetTensorMutableData")
def test_input_carries_the_fed_values(probe):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    body = lambda api, context: read_tensor(api, api.get.KernelContext_GetInput(context, 0)).copy()  # noqa: E731
    np.testing.assert_array_equal(probe.during_compute(body, [x]), x)


@pytest.mark.slot(INPUT)
def test_input_is_the_same_object_on_each_call(probe):
    body = lambda api, context: [api.get.KernelContext_GetInput(context, 0) for _ in range(2)]  # noqa: E731
    first, second = probe.during_compute(body)
    assert first == second


@pytest.mark.slot(INPUT)
@pytest.mark.parametrize("index", [1, 2, 2**31 - 1], ids=["omitted", "past_the_count", "largest_int"])
def test_absent_input_is_null_without_error(probe, index):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL)])
    body = lambda api, context: api.get.KernelContext_GetInput(context, index)  # noqa: E731
    assert probe.during_compute(body, [ONES, None], op) is None


@pytest.mark.slot(INPUT, OUTPUT)
@pytest.mark.parametrize("index", [2**31, 2**64 - 1])
@pytest.mark.parametrize(("slot", "rest"), [("KernelContext_GetInput", ()), ("KernelContext_GetOutput", (None, 0))])
def test_index_beyond_int_is_an_error(probe, slot, rest, index):
    body = lambda api, context: getattr(api.code, slot)(context, index, *rest, C.byref(C.c_void_p()))  # noqa: E731
    assert probe.during_compute(body) == E.ORT_RUNTIME_EXCEPTION


@pytest.mark.slot(INPUT)
def test_omitted_middle_input_keeps_its_position(probe):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL), Arg(FLOAT, OPTIONAL)])

    def body(api, context):
        middle, last = (api.get.KernelContext_GetInput(context, i) for i in (1, 2))
        return middle, read_tensor(api, last).tolist()

    assert probe.during_compute(body, [ONES, None, 3 * ONES], op) == (None, [3, 3])


@pytest.mark.slot(INPUT)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,)])
def test_input_shape_arrives_as_it_is(probe, shape):
    body = lambda api, context: read_tensor(api, api.get.KernelContext_GetInput(context, 0)).shape  # noqa: E731
    assert probe.during_compute(body, [np.ones(shape, np.float32)]) == shape


def compute_with(probe, compute, inputs=(ONES,), **op):
    return probe.run_op(probe.op(compute=compute, **op), list(inputs))


@pytest.mark.slot(OUTPUT)
@pytest.mark.parametrize("array", [np.float32(3).reshape(()), np.ones((0, 3), np.float32), np.eye(3, dtype=np.float32)])
def test_output_has_the_requested_shape(probe, array):
    (found,) = compute_with(probe, lambda api, context: write_output(api, context, 0, array))
    assert found.shape == array.shape
    np.testing.assert_array_equal(found, array)


@pytest.mark.slot(OUTPUT)
def test_zero_extent_output_has_no_data(probe):
    seen = []

    def compute(api, context):
        value = api.get.KernelContext_GetOutput(context, 0, dims(0), 1)
        seen.append(api.get.GetTensorMutableData(value))

    (found,) = compute_with(probe, compute)
    assert seen == [None]
    assert found.shape == (0,)


@pytest.mark.slot(OUTPUT)
def test_second_request_with_equal_dims_gives_the_same_value(probe):
    seen = []

    def compute(api, context):
        seen.extend(api.get.KernelContext_GetOutput(context, 0, dims(2), 1) for _ in range(2))
        write_output(api, context, 0, ONES)

    compute_with(probe, compute)
    assert seen[0] == seen[1]


@pytest.mark.slot(OUTPUT)
def test_second_request_with_other_dims_is_refused(probe):
    codes = []

    def compute(api, context):
        write_output(api, context, 0, ONES)
        codes.append(api.code.KernelContext_GetOutput(context, 0, dims(3), 1, C.byref(C.c_void_p())))

    (found,) = compute_with(probe, compute)
    assert codes == [E.ORT_INVALID_ARGUMENT]
    np.testing.assert_array_equal(found, ONES)


@pytest.mark.slot(OUTPUT)
def test_negative_extent_fails_and_a_corrected_request_works(probe):
    codes = []

    def compute(api, context):
        codes.append(api.code.KernelContext_GetOutput(context, 0, dims(-1), 1, C.byref(C.c_void_p())))
        write_output(api, context, 0, ONES)

    (found,) = compute_with(probe, compute)
    assert codes == [E.ORT_FAIL]
    np.testing.assert_array_equal(found, ONES)


@pytest.mark.slot(OUTPUT)
@pytest.mark.parametrize("index", [1, 2, 2**31 - 1], ids=["omitted", "past_the_count", "largest_int"])
def test_absent_output_is_null_without_error(probe, index):
    op = probe.op(outputs=[Arg(), Arg(FLOAT, OPTIONAL)])
    body = lambda api, context: api.get.KernelContext_GetOutput(context, index, dims(2), 1)  # noqa: E731
    assert probe.during_compute(body, [ONES], op, outputs=["y", ""]) is None


@pytest.mark.slot(OUTPUT)
def test_outputs_may_be_requested_in_any_order(probe):
    def compute(api, context):
        write_output(api, context, 1, 2 * ONES)
        write_output(api, context, 0, ONES)

    first, second = compute_with(probe, compute, outputs=[Arg(), Arg()])
    np.testing.assert_array_equal(first, ONES)
    np.testing.assert_array_equal(second, 2 * ONES)


@pytest.mark.slot(OUTPUT)
@pytest.mark.finds("shape_mismatch")
def test_shape_may_differ_from_the_declared_one(probe):
    op = probe.op(compute=lambda api, context: write_output(api, context, 0, np.ones(5, np.float32)))
    (found,) = probe.run_op(op, [ONES], output_types={"y0": (1, [2])})
    assert found.shape == (5,)


@pytest.mark.slot(OUTPUT)
@pytest.mark.host_stricter
@pytest.mark.finds("output_missing")
def test_output_never_requested_is_an_error_that_names_op_and_index(probe):
    op = probe.op("Forgets", outputs=[Arg(), Arg()], compute=lambda api, context: write_output(api, context, 0, ONES))
    with pytest.raises(probe.exception("Fail"), match=r"(?s)(Forgets.*\b1\b|\b1\b.*Forgets)"):
        probe.run_op(op, [ONES])


@pytest.mark.slot(OUTPUT)
def test_optional_output_never_requested_is_no_error(probe):
    op = probe.op(
        outputs=[Arg(), Arg(FLOAT, OPTIONAL)], compute=lambda api, context: write_output(api, context, 0, ONES)
    )
    first, second = probe.run_op(op, [ONES])
    np.testing.assert_array_equal(first, ONES)
    assert second is None


@pytest.mark.slot("OrtApi.GetTensorMemoryInfo", INPUT, OUTPUT)
def test_inputs_and_outputs_are_in_cpu_memory(probe):
    def described(api, value):
        info, device = api.get.GetTensorMemoryInfo(value), C.c_int(-1)
        api.MemoryInfoGetDeviceType(info, C.byref(device))
        return C.string_at(api.get.MemoryInfoGetName(info)), api.get.MemoryInfoGetId(info), device.value

    def body(api, context):
        output = api.get.KernelContext_GetOutput(context, 0, dims(2), 1)
        return described(api, api.get.KernelContext_GetInput(context, 0)), described(api, output)

    cpu = (b"Cpu", 0, E.OrtMemoryInfoDeviceType_CPU)
    assert probe.during_compute(body) == (cpu, cpu)


@pytest.mark.slot(OUTPUT)
def test_output_memory_is_aligned_to_64_bytes(probe):
    def body(api, context):
        return api.get.GetTensorMutableData(api.get.KernelContext_GetOutput(context, 0, dims(2), 1)) % 64

    assert probe.during_compute(body) == 0


@pytest.fixture
def cpu(api):
    """Return a CPU memory info."""
    info = api.get.CreateCpuMemoryInfo(E.OrtArenaAllocator, E.OrtMemTypeCPUInput)
    yield info
    api.ReleaseMemoryInfo(info)


@pytest.fixture(params=["gpu", "vendor", "id", "kind", "alignment"])
def elsewhere(api, request):
    """Return a memory info that differs from plain CPU memory in one property of the device."""
    change = {"gpu": (0, E.OrtMemoryInfoDeviceType_GPU), "vendor": (1, 0x8086), "id": (2, 1), "kind": (3, 5)}
    args = [E.OrtMemoryInfoDeviceType_CPU, 0, 0, E.OrtDeviceMemoryType_DEFAULT, 0]
    position, value = change.get(request.param, (4, 64))
    args[position] = value
    info = api.get.CreateMemoryInfo_V2(b"Cpu", *args, E.OrtDeviceAllocator)
    yield info
    api.ReleaseMemoryInfo(info)


@pytest.mark.slot(ALLOCATOR, "OrtApi.ReleaseAllocator")
def test_allocator_is_looked_up_by_device_alone(probe, cpu):
    def body(api, context):
        allocator = api.get.KernelContext_GetAllocator(context, cpu)
        block = api.get.AllocatorAlloc(allocator, 10)
        api.ok.AllocatorFree(allocator, block)
        api.ReleaseAllocator(allocator)
        return block % 64

    assert probe.during_compute(body) == 0


@pytest.mark.slot(ALLOCATOR, SCRATCH)
@pytest.mark.parametrize(
    ("slot", "rest"), [("KernelContext_GetAllocator", ()), ("KernelContext_GetScratchBuffer", (8,))]
)
def test_memory_of_another_device_is_refused(probe, elsewhere, slot, rest):
    def body(api, context):
        out = C.c_void_p(0x1234)
        return getattr(api.code, slot)(context, elsewhere, *rest, C.byref(out)), out.value

    assert probe.during_compute(body) == (E.ORT_INVALID_ARGUMENT, 0x1234)


@pytest.mark.slot(SCRATCH, ALLOCATOR, "OrtApi.AllocatorFree")
def test_scratch_is_writable_and_freed_by_the_caller(probe, cpu):
    def body(api, context):
        block = api.get.KernelContext_GetScratchBuffer(context, cpu, 1000)
        C.memset(block, 7, 1000)
        allocator = api.get.KernelContext_GetAllocator(context, cpu)
        api.ok.AllocatorFree(allocator, block)
        api.ReleaseAllocator(allocator)
        return block % 64

    assert probe.during_compute(body) == 0


@pytest.mark.slot(SCRATCH)
def test_no_scratch_bytes_give_null(probe, cpu):
    body = lambda api, context: api.get.KernelContext_GetScratchBuffer(context, cpu, 0)  # noqa: E731
    assert probe.during_compute(body) is None


def parallel(api, context, total, batches):
    lock, indices, threads, users = threading.Lock(), [], set(), set()

    def one(user, index):
        with lock:
            indices.append(index)
            threads.add(threading.get_ident())
            users.add(user)

    function = C.CFUNCTYPE(None, C.c_void_p, C.c_size_t)(one)
    api.ok.KernelContext_ParallelFor(context, function, total, batches, 0x77)
    return indices, threads, users


@pytest.mark.slot(PARALLEL)
@pytest.mark.parametrize("batches", [0, 1, 3, 1000])
@pytest.mark.parametrize("total", [1, 2, 100])
def test_parallel_for_calls_each_index_once_before_it_returns(probe, total, batches):
    indices, _, users = probe.during_compute(lambda api, context: parallel(api, context, total, batches))
    assert sorted(indices) == list(range(total))
    assert users == {0x77}


@pytest.mark.slot(PARALLEL)
def test_one_batch_runs_ascending_in_the_calling_thread(probe):
    def body(api, context):
        return *parallel(api, context, 20, 1), threading.get_ident()

    indices, threads, _, caller = probe.during_compute(body)
    assert indices == list(range(20))
    assert threads == {caller}


@pytest.mark.slot(PARALLEL)
def test_nothing_to_do_is_no_call(probe):
    def body(api, context):
        api.ok.KernelContext_ParallelFor(context, None, 5, 0, None)
        return parallel(api, context, 0, 0)[0]

    assert probe.during_compute(body) == []


@pytest.mark.slot(PARALLEL)
def test_parallel_for_without_a_context_is_an_error(api):
    function = C.CFUNCTYPE(None, C.c_void_p, C.c_size_t)(lambda user, index: None)
    assert api.code.KernelContext_ParallelFor(None, function, 1, 1, None) == E.ORT_RUNTIME_EXCEPTION


@pytest.mark.slot("OrtApi.KernelContext_GetLogger")
def test_logger_is_borrowed(probe):
    body = lambda api, context: [api.get.KernelContext_GetLogger(context) for _ in range(2)]  # noqa: E731
    first, second = probe.during_compute(body)
    assert first
    assert first == second


@pytest.mark.slot("OrtApi.KernelContext_GetGPUComputeStream")
@pytest.mark.limit("OrtApi.KernelContext_GetGPUComputeStream")
def test_there_is_no_stream_on_a_cpu(probe):
    assert probe.during_compute(lambda api, context: api.get.KernelContext_GetGPUComputeStream(context)) is None
