# SPDX-License-Identifier: Apache-2.0
"""Node attributes as a kernel reads them; libraries branch on exactly FAIL for a missing one."""

import ctypes as C

import numpy as np
import pytest
from contracts.harness import E, PluginAllocator, read_tensor
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = "OrtApi.KernelInfoGetAttribute_float", "OrtApi.KernelInfoGetAttribute_int64"
STRING, TENSOR = "OrtApi.KernelInfoGetAttribute_string", "OrtApi.KernelInfoGetAttribute_tensor"
FLOATS, INT64S = "OrtApi.KernelInfoGetAttributeArray_float", "OrtApi.KernelInfoGetAttributeArray_int64"
STRINGS = "OrtApi.KernelInfoGetAttributeArray_string"
VALUES = {
    "f": 1.5,
    "i": -(2**40),
    "s": "text",
    "fs": [1.0, 2.5, -3.0],
    "is": [7, -8],
    "ss": ["one", "", "three"],
    "t": numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "no_fs": helper.make_attribute("no_fs", [], attr_type=6),
    "no_is": helper.make_attribute("no_is", [], attr_type=7),
    "no_ss": helper.make_attribute("no_ss", [], attr_type=8),
}


@pytest.fixture
def with_attributes(probe):
    """Return a runner of ``body(api, info)`` on a node that carries `VALUES`, or other attributes."""

    def run(body, **attributes):
        op = probe.op()
        model = probe.one_node_model(op)
        for name, value in (attributes or VALUES).items():
            plain = value if hasattr(value, "ref_attr_name") else helper.make_attribute(name, value)
            model.graph.node[0].attribute.append(plain)
        result = []
        op.set("CreateKernelV2", lambda o, api, info, kernel: result.append(body(probe.table(api), info)))
        probe.session(model, op)
        return result[0]

    return run


@pytest.mark.slot(FLOAT)
def test_float(with_attributes):
    assert with_attributes(lambda api, info: api.get.KernelInfoGetAttribute_float(info, b"f")) == 1.5


@pytest.mark.slot(INT64)
def test_int64(with_attributes):
    assert with_attributes(lambda api, info: api.get.KernelInfoGetAttribute_int64(info, b"i")) == -(2**40)


@pytest.mark.slot(FLOAT, INT64)
@pytest.mark.parametrize("name", [b"missing", b"s", b"fs", b"is", b"t", b""])
@pytest.mark.parametrize(("kind", "out"), [("float", C.c_float), ("int64", C.c_int64)])
@pytest.mark.finds("attribute_kind")
def test_missing_or_other_kind_of_scalar_fails_and_out_is_left_alone(with_attributes, kind, out, name):
    def body(api, info):
        value = out(42)
        return getattr(api.code, f"KernelInfoGetAttribute_{kind}")(info, name, C.byref(value)), value.value

    assert with_attributes(body) == (E.ORT_FAIL, 42)


@pytest.mark.slot(FLOAT, INT64)
@pytest.mark.parametrize(("kind", "name", "out"), [("float", b"i", C.c_float), ("int64", b"f", C.c_int64)])
@pytest.mark.finds("attribute_kind")
def test_numbers_are_not_converted(with_attributes, kind, name, out):
    body = lambda api, info: getattr(api.code, f"KernelInfoGetAttribute_{kind}")(info, name, C.byref(out()))  # noqa: E731
    assert with_attributes(body) == E.ORT_FAIL


def read_string(api, info, name):
    size = C.c_size_t(12345)
    api.ok.KernelInfoGetAttribute_string(info, name, None, C.byref(size))
    buffer = C.create_string_buffer(b"\xff" * size.value, size.value)
    api.ok.KernelInfoGetAttribute_string(info, name, buffer, C.byref(size))
    assert size.value == len(buffer)
    return buffer.raw


@pytest.mark.slot(STRING)
@pytest.mark.parametrize("value", [b"text", b"", b"a\0b", "größe".encode()])
def test_string_is_copied_verbatim_with_one_nul(with_attributes, value):
    assert with_attributes(lambda api, info: read_string(api, info, b"name"), name=value) == value + b"\0"


@pytest.mark.slot(STRING)
def test_small_string_buffer_is_told_the_size_and_left_alone(with_attributes):
    def body(api, info):
        buffer, size = C.create_string_buffer(b"????", 4), C.c_size_t(4)
        return api.code.KernelInfoGetAttribute_string(info, b"s", buffer, C.byref(size)), buffer.raw, size.value

    assert with_attributes(body) == (E.ORT_INVALID_ARGUMENT, b"????", 5)


@pytest.mark.slot(STRING)
@pytest.mark.parametrize("name", [b"missing", b"ss", b"i"])
@pytest.mark.finds("attribute_kind")
def test_missing_or_other_kind_of_string_fails_and_size_is_kept(with_attributes, name):
    def body(api, info):
        size = C.c_size_t(42)
        return api.code.KernelInfoGetAttribute_string(info, name, None, C.byref(size)), size.value

    assert with_attributes(body) == (E.ORT_FAIL, 42)


def read_array(api, info, kind, name):
    slot, element = f"KernelInfoGetAttributeArray_{kind}", {"float": C.c_float, "int64": C.c_int64}[kind]
    size = C.c_size_t(12345)
    getattr(api.ok, slot)(info, name, None, C.byref(size))
    values = (element * size.value)()
    getattr(api.ok, slot)(info, name, values, C.byref(size))
    assert size.value == len(values)
    return list(values)


ARRAYS = pytest.mark.parametrize(
    ("kind", "name", "values"), [("float", b"fs", VALUES["fs"]), ("int64", b"is", VALUES["is"])]
)


@pytest.mark.slot(FLOATS, INT64S)
@ARRAYS
def test_array_is_read_in_two_calls(with_attributes, kind, name, values):
    assert with_attributes(lambda api, info: read_array(api, info, kind, name)) == values


@pytest.mark.slot(FLOATS, INT64S)
@ARRAYS
def test_small_array_buffer_is_told_the_size_and_left_alone(with_attributes, kind, name, values):
    def body(api, info):
        out, size = (C.c_int64 * 4)(-1, -1, -1, -1), C.c_size_t(1)
        code = getattr(api.code, f"KernelInfoGetAttributeArray_{kind}")(info, name, out, C.byref(size))
        return code, list(out), size.value

    assert with_attributes(body) == (E.ORT_INVALID_ARGUMENT, [-1] * 4, len(values))


@pytest.mark.slot(FLOATS, INT64S)
@pytest.mark.parametrize("kind", ["float", "int64"])
def test_missing_array_fails_and_size_is_kept(with_attributes, kind):
    def body(api, info):
        size = C.c_size_t(42)
        slot = f"KernelInfoGetAttributeArray_{kind}"
        return getattr(api.code, slot)(info, b"missing", None, C.byref(size)), size.value

    assert with_attributes(body) == (E.ORT_FAIL, 42)


@pytest.mark.slot(FLOATS, INT64S)
@pytest.mark.parametrize(
    ("kind", "name"),
    [("float", b"no_fs"), ("float", b"is"), ("float", b"f"), ("int64", b"no_is"), ("int64", b"fs"), ("int64", b"i")],
)
@pytest.mark.finds("attribute_kind")
def test_empty_array_and_other_kind_read_as_no_elements(with_attributes, kind, name):
    assert with_attributes(lambda api, info: read_array(api, info, kind, name)) == []


def read_strings(api, info, name, allocator):
    out, size = C.c_void_p(0x1234), C.c_size_t(1)
    code = api.code.KernelInfoGetAttributeArray_string(info, name, allocator.address, C.byref(out), C.byref(size))
    return code, out.value, size.value


@pytest.mark.slot(STRINGS)
def test_strings_come_in_one_allocation_each_plus_the_array(probe, with_attributes):
    allocator = PluginAllocator(probe)

    def body(api, info):
        code, out, size = read_strings(api, info, b"ss", allocator)
        blocks = list((C.c_void_p * size).from_address(out))
        found = [C.string_at(block) for block in blocks]
        assert set(blocks) | {out} == set(allocator.live)
        for block in [*blocks, out]:
            api.ok.AllocatorFree(allocator.address, block)
        return code, found

    assert with_attributes(body) == (E.ORT_OK, [b"one", b"", b"three"])
    assert not allocator.live


@pytest.mark.slot(STRINGS)
@pytest.mark.parametrize(("name", "count"), [(b"ss", 3), (b"no_ss", 0)])
def test_count_query_needs_no_allocator(with_attributes, name, count):
    def body(api, info):
        size = C.c_size_t(42)
        api.ok.KernelInfoGetAttributeArray_string(info, name, None, None, C.byref(size))
        return size.value

    assert with_attributes(body) == count


@pytest.mark.slot(STRINGS)
@pytest.mark.parametrize("name", [b"no_ss", b"s", b"fs"])
@pytest.mark.finds("attribute_kind")
def test_empty_strings_and_other_kind_read_as_null(probe, with_attributes, name):
    allocator = PluginAllocator(probe)
    assert with_attributes(lambda api, info: read_strings(api, info, name, allocator)) == (E.ORT_OK, None, 0)
    assert allocator.sizes == []


@pytest.mark.slot(STRINGS)
def test_missing_strings_fail_and_outs_are_kept(probe, with_attributes):
    allocator = PluginAllocator(probe)
    assert with_attributes(lambda api, info: read_strings(api, info, b"missing", allocator)) == (E.ORT_FAIL, 0x1234, 1)


@pytest.mark.slot(STRINGS)
def test_strings_without_an_allocator_fail(with_attributes):
    def body(api, info):
        out, size = C.c_void_p(), C.c_size_t()
        return api.code.KernelInfoGetAttributeArray_string(info, b"ss", None, C.byref(out), C.byref(size))

    assert with_attributes(body) == E.ORT_FAIL


@pytest.mark.slot(STRINGS)
@pytest.mark.parametrize("answered", [0, 1, 2, 3])
def test_allocator_that_gives_up_leaks_nothing(probe, with_attributes, answered):
    allocator = PluginAllocator(probe, fail_after=answered)
    assert with_attributes(lambda api, info: read_strings(api, info, b"ss", allocator)) == (E.ORT_FAIL, None, 3)
    assert not allocator.live


@pytest.mark.slot(TENSOR)
@pytest.mark.finds("leak")
def test_tensor_is_an_owned_deep_copy(probe, with_attributes):
    allocator = PluginAllocator(probe)
    kept = []

    def body(api, info):
        kept.append(api.get.KernelInfoGetAttribute_tensor(info, b"t", allocator.address))

    with_attributes(body)
    assert probe.api.get.GetTensorMutableData(kept[0]) in allocator.live
    found = read_tensor(probe.api, kept[0]).copy()
    probe.api.ReleaseValue(kept[0])
    np.testing.assert_array_equal(found, np.arange(6, dtype=np.float32).reshape(2, 3))
    assert not allocator.live


@pytest.mark.slot(TENSOR)
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("raw", [True, False])
def test_tensor_of_other_types_and_encodings(probe, with_attributes, dtype, raw):
    array = np.array([[0, 1], [2, 100]]).astype(dtype)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    data = array.tobytes() if raw else array.ravel().tolist()
    proto = helper.make_tensor("t", element, array.shape, data, raw=raw)
    allocator = PluginAllocator(probe)

    def body(api, info):
        value = api.get.KernelInfoGetAttribute_tensor(info, b"t", allocator.address)
        found = read_tensor(api, value).copy()
        api.ReleaseValue(value)
        return found

    found = with_attributes(body, t=proto)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, array)


@pytest.mark.slot(TENSOR)
def test_scalar_tensor(probe, with_attributes):
    allocator = PluginAllocator(probe)

    def body(api, info):
        value = api.get.KernelInfoGetAttribute_tensor(info, b"t", allocator.address)
        found = read_tensor(api, value).copy()
        api.ReleaseValue(value)
        return found

    found = with_attributes(body, t=helper.make_tensor("t", TensorProto.FLOAT, (), [2.5]))
    assert found.shape == ()
    assert found == 2.5


@pytest.mark.slot(TENSOR)
@pytest.mark.parametrize("name", [b"missing", b"f"])
@pytest.mark.finds("attribute_kind")
def test_missing_or_other_kind_of_tensor_fails_and_out_is_left_alone(probe, with_attributes, name):
    allocator = PluginAllocator(probe)

    def body(api, info):
        out = C.c_void_p(0x1234)
        return api.code.KernelInfoGetAttribute_tensor(info, name, allocator.address, C.byref(out)), out.value

    assert with_attributes(body) == (E.ORT_FAIL, 0x1234)


@pytest.mark.slot(TENSOR)
def test_tensor_without_memory_is_refused(probe, with_attributes):
    allocator = PluginAllocator(probe, fail_after=0)

    def body(api, info):
        out = C.c_void_p(0x1234)
        return api.code.KernelInfoGetAttribute_tensor(info, b"t", allocator.address, C.byref(out)), out.value

    assert with_attributes(body) == (E.ORT_INVALID_ARGUMENT, 0x1234)


@pytest.mark.slot(FLOAT, INT64, STRING, FLOATS, INT64S, STRINGS, TENSOR)
@pytest.mark.host_stricter
@pytest.mark.parametrize(("name", "word"), [(b"missing", "missing"), (b"s", "string")])
@pytest.mark.finds("attribute_kind")
def test_message_tells_missing_from_other_kind_and_names_the_attribute(with_attributes, name, word):
    _, message = with_attributes(
        lambda api, info: api.error.KernelInfoGetAttribute_int64(info, name, C.byref(C.c_int64()))
    )
    assert name.decode() in message
    assert word in message.lower()
