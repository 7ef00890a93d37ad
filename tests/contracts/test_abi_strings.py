# SPDX-License-Identifier: Apache-2.0
"""OrtValue tensors of strings: lengths are bytes of UTF-8, no NUL is counted or written."""

import ctypes as C

import pytest
from contracts.harness import Arg, E, PluginAllocator, dims
from contracts.harness.strings import calls, fill, read_strings, texts

FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
STRING = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING
SENTINEL = 0x1234
FILL, FILL_ONE = "OrtApi.FillStringTensor", "OrtApi.FillStringTensorElement"
RESIZE = "OrtApi.GetResizedStringTensorElementBuffer"
LENGTH, CONTENT = "OrtApi.GetStringTensorDataLength", "OrtApi.GetStringTensorContent"
LENGTH_OF_ONE, ONE = "OrtApi.GetStringTensorElementLength", "OrtApi.GetStringTensorElement"
SAMPLES = ["", "a", "hérisson", "日本語", "x" * 15, "y" * 16, "z" * 1000]
AS_BYTES = [text.encode() for text in SAMPLES]


@pytest.fixture
def new_tensor(api):
    """Return a creator of tensors in memory of the default allocator, released after the test."""
    made = []

    def create(*shape, element=STRING):
        allocator = api.get.GetAllocatorWithDefaultOptions()
        made.append(api.get.CreateTensorAsOrtValue(allocator, dims(*shape), len(shape), element))
        return made[-1]

    yield create
    for value in made:
        api.ReleaseValue(value)


def size():
    """Return an out-parameter that shows whether it was written."""
    return C.c_size_t(SENTINEL)


@pytest.mark.slot("OrtApi.CreateTensorAsOrtValue", LENGTH, LENGTH_OF_ONE)
def test_a_new_tensor_holds_empty_strings(api, new_tensor):
    value = new_tensor(2, 2)
    assert api.get.GetStringTensorDataLength(value) == 0
    assert [api.get.GetStringTensorElementLength(value, i) for i in range(4)] == [0] * 4
    assert read_strings(api, value) == [b""] * 4


@pytest.mark.slot(FILL, LENGTH, CONTENT)
def test_filled_texts_read_back_as_bytes_of_utf8(api, new_tensor):
    value = new_tensor(len(SAMPLES))
    fill(api, value, AS_BYTES)
    assert api.get.GetStringTensorDataLength(value) == sum(map(len, AS_BYTES))
    assert read_strings(api, value) == AS_BYTES


@pytest.mark.slot(FILL)
def test_texts_are_copied(api, new_tensor):
    value, text = new_tensor(1), C.create_string_buffer(b"before")
    api.ok.FillStringTensor(value, (C.c_void_p * 1)(C.addressof(text)), 1)
    text.value = b"after"
    assert read_strings(api, value) == [b"before"]


@pytest.mark.slot(FILL)
def test_a_scalar_holds_one_text(api, new_tensor):
    value = new_tensor()
    fill(api, value, [b"only"])
    assert read_strings(api, value) == [b"only"]


@pytest.mark.slot(FILL, LENGTH, CONTENT)
def test_a_tensor_without_elements_needs_no_memory(api, new_tensor):
    value = new_tensor(3, 0)
    api.ok.FillStringTensor(value, texts([b"not read"]), 0)
    assert api.get.GetStringTensorDataLength(value) == 0
    api.ok.GetStringTensorContent(value, C.create_string_buffer(1), 0, (C.c_size_t * 1)(), 0)


@pytest.mark.slot(FILL)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_filling_needs_as_many_texts_as_elements(api, new_tensor, count):
    value = new_tensor(2)
    fill(api, value, [b"old", b"texts"])
    assert api.code.FillStringTensor(value, texts([b"new"] * 3), count) == E.ORT_INVALID_ARGUMENT
    assert read_strings(api, value) == [b"old", b"texts"]


@pytest.mark.slot(CONTENT)
def test_content_is_joined_and_offsets_are_starts(api, new_tensor):
    value = new_tensor(3)
    fill(api, value, [b"ab", b"", b"cde"])
    buffer, offsets = C.create_string_buffer(b"\xff" * 8, 8), (C.c_size_t * 3)()
    api.ok.GetStringTensorContent(value, buffer, 8, offsets, 3)
    assert buffer.raw == b"abcde\xff\xff\xff"
    assert list(offsets) == [0, 2, 2]


@pytest.mark.slot(CONTENT)
@pytest.mark.parametrize(("length", "count"), [(4, 3), (0, 3), (5, 2), (5, 4)])
def test_content_that_does_not_fit_is_refused_and_nothing_written(api, new_tensor, length, count):
    value = new_tensor(3)
    fill(api, value, [b"ab", b"", b"cde"])
    buffer, offsets = C.create_string_buffer(b"\xff" * 8, 8), (C.c_size_t * 4)(*[SENTINEL] * 4)
    assert api.code.GetStringTensorContent(value, buffer, length, offsets, count) == E.ORT_FAIL
    assert buffer.raw == b"\xff" * 8
    assert list(offsets) == [SENTINEL] * 4


@pytest.mark.slot(ONE, LENGTH_OF_ONE)
def test_one_element_is_read_without_a_nul(api, new_tensor):
    value = new_tensor(2)
    fill(api, value, [b"first", "zwölf".encode()])
    assert api.get.GetStringTensorElementLength(value, 1) == 6
    buffer = C.create_string_buffer(b"\xff" * 8, 8)
    api.ok.GetStringTensorElement(value, 6, 1, buffer)
    assert buffer.raw == "zwölf".encode() + b"\xff\xff"
    api.ok.GetStringTensorElement(value, 8, 0, buffer)
    assert buffer.raw == b"first" + "zwölf".encode()[5:] + b"\xff\xff"


@pytest.mark.slot(ONE)
def test_one_element_that_does_not_fit_is_refused(api, new_tensor):
    value, buffer = new_tensor(1), C.create_string_buffer(b"\xff" * 8, 8)
    fill(api, value, [b"seven.."])
    assert api.code.GetStringTensorElement(value, 6, 0, buffer) == E.ORT_FAIL
    assert buffer.raw == b"\xff" * 8


@pytest.mark.slot(FILL_ONE)
def test_one_element_is_written(api, new_tensor):
    value = new_tensor(2, 2)
    fill(api, value, [b"a", b"b", b"c", b"d"])
    api.ok.FillStringTensorElement(value, b"w" * 100, 2)
    assert read_strings(api, value) == [b"a", b"b", b"w" * 100, b"d"]
    api.ok.FillStringTensorElement(value, b"", 2)
    assert read_strings(api, value) == [b"a", b"b", b"", b"d"]


@pytest.mark.slot(RESIZE, LENGTH_OF_ONE)
def test_a_resized_element_keeps_its_start_and_is_zero_behind(api, new_tensor):
    value = new_tensor(2)
    fill(api, value, [b"head", b"other"])
    buffer = api.get.GetResizedStringTensorElementBuffer(value, 0, 40)
    assert C.string_at(buffer, 41) == b"head" + bytes(37)
    C.memmove(buffer, b"0123456789" * 4, 40)
    assert read_strings(api, value) == [b"0123456789" * 4, b"other"]
    buffer = api.get.GetResizedStringTensorElementBuffer(value, 0, 3)
    assert C.string_at(buffer, 4) == b"012\0"
    assert api.get.GetStringTensorElementLength(value, 0) == 3


@pytest.mark.slot(RESIZE, CONTENT)
def test_a_resized_element_may_hold_nul(api, new_tensor):
    value = new_tensor(1)
    C.memmove(api.get.GetResizedStringTensorElementBuffer(value, 0, 5), b"a\0b\0c", 5)
    assert read_strings(api, value) == [b"a\0b\0c"]


@pytest.mark.slot(RESIZE, FILL_ONE, ONE, LENGTH_OF_ONE)
@pytest.mark.parametrize("index", [2, 2**63])
def test_an_index_past_the_end_is_refused_and_nothing_written(api, new_tensor, index):
    value, out, buffer = new_tensor(2), size(), C.c_void_p(SENTINEL)
    assert api.code.GetResizedStringTensorElementBuffer(value, index, 1, C.byref(buffer)) == E.ORT_INVALID_ARGUMENT
    assert api.code.FillStringTensorElement(value, b"s", index) == E.ORT_INVALID_ARGUMENT
    assert api.code.GetStringTensorElement(value, 8, index, C.create_string_buffer(8)) == E.ORT_INVALID_ARGUMENT
    assert api.code.GetStringTensorElementLength(value, index, C.byref(out)) == E.ORT_INVALID_ARGUMENT
    assert (out.value, buffer.value) == (SENTINEL, SENTINEL)
    assert read_strings(api, value) == [b"", b""]


@pytest.mark.slot(FILL, FILL_ONE, RESIZE, LENGTH, CONTENT, LENGTH_OF_ONE, ONE)
def test_a_tensor_of_numbers_is_refused(api, new_tensor):
    out, buffer = size(), C.c_void_p(SENTINEL)
    codes = calls(api, new_tensor(1, element=FLOAT), out, buffer)
    assert codes == dict.fromkeys(codes, E.ORT_FAIL)
    assert (out.value, buffer.value) == (SENTINEL, SENTINEL)


@pytest.mark.slot(RESIZE)
@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 2**46 + 1])
def test_a_length_beyond_memory_is_an_error(api, new_tensor, length):
    value, buffer = new_tensor(1), C.c_void_p(SENTINEL)
    fill(api, value, [b"kept"])
    assert api.code.GetResizedStringTensorElementBuffer(value, 0, length, C.byref(buffer)) != E.ORT_OK
    assert buffer.value == SENTINEL
    assert read_strings(api, value) == [b"kept"]


@pytest.mark.slot(RESIZE)
@pytest.mark.host_stricter
@pytest.mark.parametrize("length", [2**64 - 1, 2**63])
def test_without_a_limit_no_limit_is_named(probe, length):
    def compute(api, context):
        value = api.get.KernelContext_GetOutput(context, 0, dims(1), 1)
        seen.append(api.error.GetResizedStringTensorElementBuffer(value, 0, length, C.byref(C.c_void_p())))

    seen = []
    text = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING
    probe.run_op(probe.op(outputs=[Arg(text)], compute=compute), output_types={"y0": (text, None)})
    ((code, message),) = seen
    assert code == E.ORT_RUNTIME_EXCEPTION
    assert "node0" in message
    assert f"out of memory, asked for {length} bytes" in message


@pytest.mark.slot(FILL)
@pytest.mark.host_stricter
def test_a_null_text_is_refused_before_any_is_written(api, new_tensor):
    value, one = new_tensor(2), C.create_string_buffer(b"one")
    code, message = api.error.FillStringTensor(value, (C.c_void_p * 2)(C.addressof(one), None), 2)
    assert code == E.ORT_INVALID_ARGUMENT
    assert "text 1 is null" in message
    assert read_strings(api, value) == [b"", b""]


@pytest.mark.slot(FILL, FILL_ONE, RESIZE, LENGTH, CONTENT, LENGTH_OF_ONE, ONE)
@pytest.mark.host_stricter
@pytest.mark.parametrize(
    ("slot", "missing"),
    [
        (FILL, "value"),
        (FILL, "s"),
        (FILL_ONE, "value"),
        (FILL_ONE, "s"),
        (RESIZE, "value"),
        (RESIZE, "buffer"),
        (LENGTH, "value"),
        (LENGTH, "len"),
        (CONTENT, "value"),
        (CONTENT, "s"),
        (CONTENT, "offsets"),
        (LENGTH_OF_ONE, "value"),
        (LENGTH_OF_ONE, "out"),
        (ONE, "value"),
        (ONE, "s"),
    ],
)
def test_a_null_pointer_is_refused_by_name(api, new_tensor, slot, missing):
    value = new_tensor(1)
    fill(api, value, [b"old"])
    usable = {
        FILL: {"value": value, "s": texts([b"new"]), "s_len": 1},
        FILL_ONE: {"value": value, "s": b"new", "index": 0},
        RESIZE: {"value": value, "index": 0, "length": 1, "buffer": C.byref(C.c_void_p())},
        LENGTH: {"value": value, "len": C.byref(size())},
        CONTENT: {"value": value, "s": C.create_string_buffer(8), "s_len": 8, "offsets": C.byref(size()), "count": 1},
        LENGTH_OF_ONE: {"value": value, "index": 0, "out": C.byref(size())},
        ONE: {"value": value, "s_len": 8, "index": 0, "s": C.create_string_buffer(8)},
    }
    name = slot.removeprefix("OrtApi.")
    code, message = getattr(api.error, name)(*{**usable[slot], missing: None}.values())
    assert code == E.ORT_INVALID_ARGUMENT
    assert f"{name}: {missing} is null" in message
    assert read_strings(api, value) == [b"old"]


@pytest.mark.slot("OrtApi.CreateTensorAsOrtValue", FILL, "OrtAllocator.Alloc", "OrtAllocator.Free")
def test_strings_in_memory_of_a_plugins_allocator_are_destroyed_before_it_is_freed(api, probe):
    allocator = PluginAllocator(probe)
    value = api.get.CreateTensorAsOrtValue(allocator.address, dims(3), 1, STRING)
    assert len(allocator.sizes) == 1
    fill(api, value, [b"l" * 100] * 3)  # a sanitizer build tells whether the texts leak
    assert read_strings(api, value) == [b"l" * 100] * 3
    api.ReleaseValue(value)
    assert not allocator.live
    api.ReleaseMemoryInfo(allocator.info)
