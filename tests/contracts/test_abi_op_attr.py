# SPDX-License-Identifier: Apache-2.0
"""Attributes that a library makes, and what it reads from one it holds."""

import ctypes as C

import numpy as np
import onnx
import pytest
from contracts.harness import E, read_tensor, text

CREATE, RELEASE, READ = "OrtApi.CreateOpAttr", "OrtApi.ReleaseOpAttr", "OrtApi.ReadOpAttr"
TENSOR = "OrtApi.OpAttr_GetTensorAttributeAsOrtValue"
SENTINEL = 0x1234
STRINGS = (C.c_char_p * 2)(b"ab", b"")
MADE = {  # name: kind, data, length argument, bytes that reading gives
    "int": (E.ORT_OP_ATTR_INT, C.byref(C.c_int64(-7)), 0, np.int64(-7).tobytes()),
    "float": (E.ORT_OP_ATTR_FLOAT, C.byref(C.c_float(1.5)), 99, np.float32(1.5).tobytes()),
    "string": (E.ORT_OP_ATTR_STRING, b"a\0b", 3, b"a\0b"),
    "no_text": (E.ORT_OP_ATTR_STRING, b"", 0, b""),
    "ints": (E.ORT_OP_ATTR_INTS, (C.c_int64 * 2)(1, 2), 2, np.array([1, 2], np.int64).tobytes()),
    "floats": (E.ORT_OP_ATTR_FLOATS, (C.c_float * 2)(1, 2), 2, np.array([1, 2], np.float32).tobytes()),
    "strings": (E.ORT_OP_ATTR_STRINGS, STRINGS, 2, b"ab\0\0"),
    "negative_count": (E.ORT_OP_ATTR_INTS, (C.c_int64 * 1)(5), -1, b""),
}


@pytest.mark.slot(CREATE, RELEASE, READ, "OrtApi.OpAttr_GetType", "OrtApi.OpAttr_GetName")
@pytest.mark.parametrize("case", MADE)
def test_made_attribute_reads_back(api, case):
    kind, data, length, content = MADE[case]
    attribute = api.get.CreateOpAttr(b"made", data, length, kind)
    assert text(api.get.OpAttr_GetName(attribute)) == "made"
    assert api.get.OpAttr_GetType(attribute) == kind
    buffer, needed = C.create_string_buffer(b"\xff" * 32, 32), C.c_size_t()
    api.ok.ReadOpAttr(attribute, kind, buffer, 32, C.byref(needed))
    assert buffer.raw[: needed.value] == content
    api.ReleaseOpAttr(attribute)


@pytest.mark.slot(CREATE)
def test_made_attribute_keeps_nothing_of_the_callers(api):
    name, data = C.create_string_buffer(b"made"), (C.c_int64 * 1)(5)
    attribute = api.get.CreateOpAttr(name, data, 1, E.ORT_OP_ATTR_INTS)
    name.value, data[0] = b"xxxx", 6
    assert text(api.get.OpAttr_GetName(attribute)) == "made"
    back = (C.c_int64 * 1)()
    api.ok.ReadOpAttr(attribute, E.ORT_OP_ATTR_INTS, back, 8, C.byref(C.c_size_t()))
    assert back[0] == 5
    api.ReleaseOpAttr(attribute)


@pytest.mark.slot(CREATE)
@pytest.mark.parametrize("kind", [E.ORT_OP_ATTR_TENSOR, E.ORT_OP_ATTR_GRAPH, E.ORT_OP_ATTR_UNDEFINED])
def test_attribute_is_made_of_numbers_and_strings_alone(api, kind):
    made = C.c_void_p()
    assert api.code.CreateOpAttr(b"made", C.byref(C.c_int64(1)), 1, kind, C.byref(made)) == E.ORT_FAIL
    api.ReleaseOpAttr(made)  # ONNX Runtime sets it all the same


@pytest.mark.slot(CREATE)
@pytest.mark.host_stricter
def test_attribute_that_cannot_be_made_is_null(api):
    made = C.c_void_p(SENTINEL)
    assert api.code.CreateOpAttr(b"made", None, 1, E.ORT_OP_ATTR_TENSOR, C.byref(made)) == E.ORT_FAIL
    assert made.value is None


@pytest.mark.slot(CREATE)
@pytest.mark.parametrize(("name", "kind", "length"), [(None, E.ORT_OP_ATTR_INT, 1), (b"n", E.ORT_OP_ATTR_STRING, -1)])
def test_attribute_without_name_or_with_a_negative_length(api, name, kind, length):
    made = C.c_void_p(SENTINEL)
    code = api.code.CreateOpAttr(name, C.byref(C.c_int64(1)), length, kind, C.byref(made))
    assert code == E.ORT_RUNTIME_EXCEPTION
    assert made.value == SENTINEL


@pytest.mark.slot(RELEASE)
def test_releasing_no_attribute_does_nothing(api):
    api.ReleaseOpAttr(None)


def tensor_attribute(probe, body):
    """Run body(api, attribute) on a tensor attribute during inference."""
    tensor = onnx.numpy_helper.from_array(np.array([[1, 2], [3, 4]], np.float32))
    lent = lambda api, context: body(api, api.get.ShapeInferContext_GetAttribute(context, b"t"))  # noqa: E731
    return probe.during_infer(lent, attributes={"t": tensor})


@pytest.mark.slot(TENSOR)
def test_tensor_attribute_is_a_new_value_each_time(probe):
    def body(api, attribute):
        values = [api.get.OpAttr_GetTensorAttributeAsOrtValue(attribute) for _ in range(2)]
        found = [read_tensor(api, value).tolist() for value in values]
        for value in values:
            api.ReleaseValue(value)
        return len(set(values)), found

    assert tensor_attribute(probe, body) == (2, [[[1, 2], [3, 4]]] * 2)


@pytest.mark.slot(TENSOR)
def test_number_is_no_tensor_attribute(api):
    attribute, out = api.get.CreateOpAttr(b"i", C.byref(C.c_int64(1)), 1, E.ORT_OP_ATTR_INT), C.c_void_p(SENTINEL)
    code = api.code.OpAttr_GetTensorAttributeAsOrtValue(attribute, C.byref(out))
    api.ReleaseOpAttr(attribute)
    assert (code, out.value) == (E.ORT_INVALID_ARGUMENT, SENTINEL)


@pytest.mark.slot(TENSOR)
@pytest.mark.parametrize("missing", ["attribute", "attr_tensor"])
def test_tensor_attribute_checks_its_pointers(probe, missing):
    def body(api, attribute):
        out = C.c_void_p()
        args = (None, C.byref(out)) if missing == "attribute" else (attribute, None)
        return api.code.OpAttr_GetTensorAttributeAsOrtValue(*args)

    assert tensor_attribute(probe, body) == E.ORT_INVALID_ARGUMENT
