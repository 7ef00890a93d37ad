# SPDX-License-Identifier: Apache-2.0
"""Native libraries from outside: what they compute, and what the user sees when one goes wrong."""

import ctypes as C
import gc
import os

import numpy as np
import onnx
import pytest
from contracts.harness import fixture_path, options_of, run_in_child, session_of
from onnx import helper

REGISTER = pytest.mark.slot("OrtApi.AddCustomOpDomain")
CREATE, COMPUTE = pytest.mark.slot("OrtCustomOp.CreateKernelV2"), pytest.mark.slot("OrtCustomOp.KernelComputeV2")
X = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)


def run(probe, library, op, *inputs, **model):
    """Return the output of one run; None as an input is an omitted argument."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    feeds = {n: x for n, x in zip(names, inputs, strict=True) if n}
    types = {n: (helper.np_dtype_to_tensor_dtype(x.dtype), None) for n, x in feeds.items()}
    return probe.run(session_of(probe, library, op, names, input_types=types, **model), feeds)[0]


@COMPUTE
def test_add_two(probe):
    np.testing.assert_array_equal(run(probe, "add_two", "AddTwo", X, 2 * X), 3 * X)


@CREATE
@pytest.mark.parametrize(("attributes", "factor"), [({"factor": 2.5}, 2.5), ({}, 1)])
def test_scale_falls_back_to_its_own_default(probe, attributes, factor):
    np.testing.assert_array_equal(run(probe, "add_two", "Scale", X, attributes=attributes), np.float32(factor) * X)


@CREATE
@pytest.mark.finds("attribute_kind")
def test_attribute_of_another_kind_reads_as_missing(probe):
    np.testing.assert_array_equal(run(probe, "add_two", "Scale", X, attributes={"factor": 2}), X)


@COMPUTE
def test_kernels_message_reaches_the_user(probe):
    with pytest.raises(probe.exception("InvalidArgument"), match="both inputs need the same shape"):
        run(probe, "add_two", "AddTwo", X, X[:1])


@pytest.mark.slot("OrtCustomOp.KernelCompute", "OrtCustomOp.CreateKernel")
def test_legacy_compute(probe):
    np.testing.assert_array_equal(run(probe, "legacy_compute", "Negate", X), -X)


STRUCTS = [
    *(pytest.param(version, marks=pytest.mark.host_stricter) for version in (1, 5, 8, 13)),
    *(14, 15, 16, 17, 18, 30, 33, 99),
]


@CREATE
@pytest.mark.parametrize("version", STRUCTS)
def test_struct_is_not_read_beyond_its_version(probe, version):
    np.testing.assert_array_equal(run(probe, f"struct_of_version_{version}", "Doubled", X), 2 * X)


@CREATE
@pytest.mark.host_stricter
def test_struct_of_version_0(probe):
    with pytest.raises(probe.exception("Fail"), match="OrtCustomOp"):
        run(probe, "struct_of_version_0", "Doubled", X)


@CREATE
def test_attributes_of_every_kind(probe):
    attributes = {
        "f": 0.5,
        "i": -3,
        "s": "four",
        "fs": [1.5, 2.5],
        "is": [10, 20, 30],
        "ss": ["a", "", "bcd"],
        "t": onnx.numpy_helper.from_array(np.arange(5, dtype=np.float32)),
    }
    found = run(probe, "attributes", "Attributes", X, attributes=attributes)
    np.testing.assert_array_equal(found, np.float32([0.5, -3, 4, 4, 60, 4, 10]))


@COMPUTE
@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ((), X),
        ((np.float32([1]),), X + 1),
        ((None, np.float32([2])), 2 * X),
        ((np.float32([1]), np.float32([2])), 2 * X + 1),
    ],
    ids=["none", "first", "second", "both"],
)
def test_optional_inputs_keep_their_position(probe, rest, expected):
    np.testing.assert_array_equal(run(probe, "optional_input", "OptionalBias", X, *rest), expected)


@COMPUTE
@pytest.mark.parametrize("count", [1, 2, 7])
def test_variadic_inputs(probe, count):
    np.testing.assert_array_equal(run(probe, "variadic_inputs", "Total", *[X] * count), count * X)


@COMPUTE
@pytest.mark.parametrize("x", [X, -np.abs(X), X[:0]], ids=["some", "none", "empty"])
def test_output_shape_that_depends_on_data(probe, x):
    np.testing.assert_array_equal(run(probe, "dynamic_output_shape", "Positive", x), x[x > 0])


@COMPUTE
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.int64, np.uint16, np.bool_])
def test_polymorphic_op(probe, dtype):
    x = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    types = {"y0": (helper.np_dtype_to_tensor_dtype(x.dtype), None)}
    found = run(probe, "polymorphic", "CopyOf", x, output_types=types)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, x)


@pytest.mark.slot("OrtCustomOp.InferOutputShapeFn")
@pytest.mark.parametrize("x", [X, X[0], np.array(7, np.float32)], ids=["matrix", "vector", "scalar"])
def test_inferred_shape_is_the_computed_one(probe, x):
    model = {"attributes": {"times": 3}, "input_types": {"x0": (onnx.TensorProto.FLOAT, x.shape)}}
    session = session_of(probe, "shape_inference", "Repeat", **model)
    assert session.get_outputs()[0].shape == [3, *x.shape]
    np.testing.assert_array_equal(probe.run(session, {"x0": x})[0], np.stack([x] * 3))


@pytest.mark.slot("OrtApi.CopyKernelInfo")
def test_kept_kernel_info_is_good_at_run_time(probe):
    np.testing.assert_array_equal(run(probe, "keeps_kernel_info", "Named", X, node_name="seventy"), X + 7)


@pytest.mark.slot("OrtApi.KernelContext_ParallelFor")
def test_parallel_for(probe):
    x = np.arange(10_000, dtype=np.float32)
    np.testing.assert_array_equal(run(probe, "parallel_for", "Square", x), x * x)


@pytest.mark.slot("OrtApi.KernelContext_ParallelFor")
@pytest.mark.parametrize("count", [0, 1, 1000, 10_001])
def test_parallel_for_inside_a_parallel_for(probe, count):
    x = np.arange(count, dtype=np.float32)
    np.testing.assert_array_equal(run(probe, "parallel_for_nested", "Square", x), x * x)


@pytest.mark.slot("OrtApi.KernelContext_ParallelFor")
@pytest.mark.host_stricter
@pytest.mark.parametrize("bad", [[0], [9_999], [0, 2_500, 5_000, 7_500, 9_999], range(10_000)], ids=len)
def test_parallel_for_whose_body_throws_fails_the_run_and_works_again(probe, bad):
    x = np.arange(1, 10_001, dtype=np.float32)
    session = session_of(probe, "parallel_for_throws", "Square", node_name="square_7")
    negative = x.copy()
    negative[list(bad)] *= -1
    for _ in range(3):
        with pytest.raises(probe.exception("RuntimeException"), match="parallel_for_throws: negative") as error:
            probe.run(session, {"x0": negative})
        for word in ("square_7", "parallel_for_throws.so", "KernelContext_ParallelFor"):
            assert word in str(error.value)
        np.testing.assert_array_equal(probe.run(session, {"x0": x})[0], x * x)


@REGISTER
def test_library_without_the_entry_point(probe):
    with pytest.raises(probe.exception("Fail"), match="RegisterCustomOps"):
        options_of(probe, "no_entry_point")


@REGISTER
def test_entry_point_that_returns_an_error(probe):
    with pytest.raises(probe.exception("EPFail"), match="entry_returns_error: no licence"):
        options_of(probe, "entry_returns_error")


@REGISTER
@pytest.mark.host_stricter
def test_entry_point_that_throws(probe):
    with pytest.raises(probe.exception("RuntimeException"), match="entry_throws: no licence"):
        options_of(probe, "entry_throws")


@REGISTER
@pytest.mark.host_stricter
def test_registration_that_fails_late_leaves_nothing_behind(probe):
    options = probe.ort.SessionOptions()
    with pytest.raises(probe.exception("Fail"), match="second thoughts"):
        options.register_custom_ops_library(fixture_path("registers_then_fails"))
    with pytest.raises(probe.exception("Fail"), match="Registered"):
        session_of(probe, "", "Registered", options=options)


@REGISTER
def test_domain_registered_twice_by_one_library(probe):
    with pytest.raises(probe.exception("Fail")):
        run(probe, "registers_twice", "Registered", X)


@REGISTER
def test_missing_symbol_is_named(probe):
    with pytest.raises(probe.exception("Fail"), match="FixtureSymbolThatNobodyDefines"):
        options_of(probe, "needs_missing_symbol")


@REGISTER
@pytest.mark.host_stricter
def test_library_that_needs_ort_is_refused(probe):
    with pytest.raises(probe.exception("Fail"), match=r"libonnxruntime\.so\.1"):
        options_of(probe, "depends_on_fake_ort")


@pytest.mark.parametrize(
    ("library", "error"),
    [
        pytest.param("create_throws", "RuntimeException", marks=CREATE),
        pytest.param("create_returns_status", "RuntimeException", marks=CREATE),
        pytest.param("compute_throws", "RuntimeException", marks=COMPUTE),
        pytest.param("compute_returns_status", "InvalidArgument", marks=COMPUTE),
    ],
)
def test_kernel_that_fails_tells_why(probe, library, error):
    with pytest.raises(probe.exception(error), match=f"{library}: "):
        run(probe, library, "Faulty", X)


@COMPUTE
@pytest.mark.host_stricter
@pytest.mark.parametrize("library", ["create_throws", "create_returns_status", "compute_throws", "forgets_output"])
@pytest.mark.finds("output_missing")
def test_kernel_that_fails_is_named_with_node_and_library(probe, library):
    with pytest.raises(Exception, match="faulty_7") as caught:
        run(probe, library, "Faulty", X, node_name="faulty_7")
    assert "Faulty" in str(caught.value)
    assert f"{library}.so" in str(caught.value)


@COMPUTE
def test_output_requested_twice_with_other_dims(probe):
    with pytest.raises(probe.exception("InvalidArgument")):
        run(probe, "wrong_output_twice", "Faulty", X)


@COMPUTE
@pytest.mark.host_stricter
@pytest.mark.parametrize("slot", ["CreateSession", "CreateOp", "InvokeOp", "GetValue"])
def test_unsupported_slot_is_named_with_node_and_library(probe, slot):
    with pytest.raises(probe.exception("NotImplemented"), match=slot) as caught:
        run(probe, "calls_unsupported", "Calls", X, attributes={"slot": slot}, node_name="calls_7")
    assert "calls_7" in str(caught.value)
    assert "calls_unsupported.so" in str(caught.value)


ROADS = ["AllocatorAlloc", "CreateTensorAsOrtValue", "KernelContext_GetScratchBuffer", "KernelContext_GetOutput"]
LIMIT = 2**20


def allocate(probe, road, size):
    options = options_of(probe, "overlong_alloc")
    options.memory_limit_bytes = LIMIT
    model = {"attributes": {"road": road, "bytes": size}, "outputs": ["y0", "y1"], "node_name": "allocates_7"}
    session = session_of(probe, "", "Allocates", options=options, **model)
    return probe.run(session, {"x0": np.ones(1, np.float32)}, ["y0"])[0].tolist()


@pytest.mark.slot(
    "OrtApi.AllocatorAlloc", "OrtAllocator.Alloc", "OrtAllocator.Reserve", "OrtApi.KernelContext_GetOutput"
)
@pytest.mark.host_stricter
@pytest.mark.parametrize("road", [*ROADS, "Alloc", "Reserve"])
def test_allocation_below_the_limit_is_granted(probe, road):
    assert allocate(probe, road, LIMIT // 4) == [1]


@pytest.mark.slot("OrtApi.CreateTensorAsOrtValue", "OrtApi.KernelContext_GetScratchBuffer")
@pytest.mark.host_stricter
@pytest.mark.parametrize("size", [LIMIT + 4, 2**62])
@pytest.mark.parametrize("road", ROADS)
def test_allocation_over_the_limit_names_slot_node_bytes_and_limit(probe, road, size):
    with pytest.raises(Exception, match=road) as caught:
        allocate(probe, road, size)
    assert [word for word in ("allocates_7", str(size), str(LIMIT)) if word not in str(caught.value)] == []


@pytest.mark.slot("OrtAllocator.Alloc", "OrtAllocator.Reserve")
@pytest.mark.host_stricter
@pytest.mark.parametrize("size", [LIMIT + 4, 2**62, -1])
@pytest.mark.parametrize("callback", ["Alloc", "Reserve"])
def test_allocator_callback_over_the_limit_returns_null(probe, callback, size):
    assert allocate(probe, callback, size) == [0]


def call_count(library):
    """Return the library's own counter; the module under test has it loaded already."""
    loaded = C.CDLL(fixture_path(library), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    loaded.FixtureCallCount.restype = C.c_long
    return lambda name: loaded.FixtureCallCount(name.encode())


@CREATE
@pytest.mark.slot("OrtCustomOp.KernelDestroy")
def test_callbacks_are_balanced_over_many_runs_and_sessions(probe):
    sessions = [session_of(probe, "counts_calls", "Counted") for _ in range(2)]
    count = call_count("counts_calls")
    for session in sessions:
        for _ in range(1000):
            probe.run(session, {"x0": X})
    del session, sessions
    gc.collect()
    calls = {
        n: count(n) for n in ("CreateKernelV2", "KernelComputeV2", "KernelDestroy", "CreateKernel", "KernelCompute")
    }
    assert calls == {
        "CreateKernelV2": 2,
        "KernelComputeV2": 2000,
        "KernelDestroy": 2,
        "CreateKernel": 0,
        "KernelCompute": 0,
    }
    assert count("GetMayInplace") == count("ReleaseMayInplace")
    assert count("GetAliasMap") == count("ReleaseAliasMap")


def use_newer_api(probe):
    options_of(probe, "requests_newer_api")


def read_behind_table(probe):
    run(probe, "reads_behind_table", "Calls", X)


@pytest.mark.slot("OrtApiBase.GetApi")
@pytest.mark.host_stricter
def test_library_that_uses_a_refused_table_ends_after_the_log_line(module_name):
    ended = run_in_child(module_name, use_newer_api)
    assert ended.returncode < 0
    assert "31" in ended.stderr


@pytest.mark.slot("OrtApiBase.GetApi")
@pytest.mark.host_stricter
def test_library_that_reads_behind_the_table_ends_by_index(module_name):
    ended = run_in_child(module_name, read_behind_table)
    assert ended.returncode < 0
    assert "426" in ended.stderr
