# SPDX-License-Identifier: Apache-2.0
"""Session config entries and OrtKeyValuePairs."""

import ctypes as C

import pytest
from contracts.harness import E, text

ADD, HAS = "OrtApi.AddSessionConfigEntry", "OrtApi.HasSessionConfigEntry"
GET, ALL = "OrtApi.GetSessionConfigEntry", "OrtApi.GetSessionOptionsConfigEntries"


def entry(api, options, key):
    size = C.c_size_t(12345)
    api.ok.GetSessionConfigEntry(options, key, None, C.byref(size))
    buffer = C.create_string_buffer(size.value)
    api.ok.GetSessionConfigEntry(options, key, buffer, C.byref(size))
    assert size.value == len(buffer)
    return buffer.raw


@pytest.fixture
def registering(probe):
    """Return a runner of ``body(api, options)`` inside ``RegisterCustomOps``."""
    return lambda body: probe.during_register(lambda options: body(probe.api, options))


@pytest.mark.slot(ADD, GET, HAS)
@pytest.mark.parametrize("value", [b"value", b""])
def test_entry_reads_back(registering, value):
    def body(api, options):
        api.ok.AddSessionConfigEntry(options, b"probe.key", value)
        return api.get.HasSessionConfigEntry(options, b"probe.key"), entry(api, options, b"probe.key")

    assert registering(body) == (1, value + b"\0")


@pytest.mark.slot(ADD)
def test_entry_is_copied_and_may_be_overwritten(registering):
    def body(api, options):
        value = C.create_string_buffer(b"first")
        api.ok.AddSessionConfigEntry(options, b"probe.key", C.addressof(value))
        value.value = b"XXXXX"
        first = entry(api, options, b"probe.key")
        api.ok.AddSessionConfigEntry(options, b"probe.key", b"second")
        return first, entry(api, options, b"probe.key")

    assert registering(body) == (b"first\0", b"second\0")


@pytest.mark.slot(ADD)
@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        (b"k" * 1024, b"v" * 8192, E.ORT_OK),
        (b"k" * 1025, b"v", E.ORT_INVALID_ARGUMENT),
        (b"k", b"v" * 8193, E.ORT_INVALID_ARGUMENT),
        (b"", b"v", E.ORT_INVALID_ARGUMENT),
        (None, b"v", E.ORT_INVALID_ARGUMENT),
        (b"k", None, E.ORT_INVALID_ARGUMENT),
    ],
    ids=["longest", "long_key", "long_value", "empty_key", "null_key", "null_value"],
)
def test_limits_of_an_entry(registering, key, value, code):
    assert registering(lambda api, options: api.code.AddSessionConfigEntry(options, key, value)) == code


@pytest.mark.slot(ADD)
def test_entry_without_options_is_refused(api):
    assert api.code.AddSessionConfigEntry(None, b"k", b"v") == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(HAS, GET)
def test_missing_entry_is_no_error_for_has_and_one_for_get(registering):
    def body(api, options):
        size = C.c_size_t(42)
        code = api.code.GetSessionConfigEntry(options, b"probe.none", None, C.byref(size))
        return api.get.HasSessionConfigEntry(options, b"probe.none"), code, size.value

    assert registering(body) == (0, E.ORT_INVALID_ARGUMENT, 42)


@pytest.mark.slot(GET)
def test_small_buffer_is_told_the_size_and_left_alone(registering):
    def body(api, options):
        api.ok.AddSessionConfigEntry(options, b"probe.key", b"value")
        buffer, size = C.create_string_buffer(b"?????", 5), C.c_size_t(5)
        return api.code.GetSessionConfigEntry(options, b"probe.key", buffer, C.byref(size)), buffer.raw, size.value

    assert registering(body) == (E.ORT_INVALID_ARGUMENT, b"?????", 6)


@pytest.mark.slot(ALL, "OrtApi.GetKeyValue", "OrtApi.ReleaseKeyValuePairs")
def test_all_entries_are_an_owned_snapshot(registering):
    def body(api, options):
        api.ok.AddSessionConfigEntry(options, b"probe.key", b"before")
        pairs = api.get.GetSessionOptionsConfigEntries(options)
        api.ok.AddSessionConfigEntry(options, b"probe.key", b"after")
        value = text(api.GetKeyValue(pairs, b"probe.key"))
        api.ReleaseKeyValuePairs(pairs)
        return value

    assert registering(body) == "before"


@pytest.mark.slot(ALL)
def test_all_entries_of_no_options_are_refused(api):
    assert api.code.GetSessionOptionsConfigEntries(None, C.byref(C.c_void_p())) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(HAS, GET)
def test_entry_added_in_python_is_seen(probe):
    options = probe.ort.SessionOptions()
    options.add_session_config_entry("custom_op.Probe.mode", "fast")
    seen = []
    probe.options(lambda handle, base: seen.append(entry(probe.api, handle, b"custom_op.Probe.mode")), options)
    assert seen == [b"fast\0"]


@pytest.mark.slot(ADD)
def test_entry_added_by_a_library_is_seen_in_python(probe):
    options = probe.options(lambda handle, base: probe.api.ok.AddSessionConfigEntry(handle, b"probe.key", b"value"))
    assert options.get_session_config_entry("probe.key") == "value"


@pytest.fixture
def pairs(api):
    """Return an empty set of pairs."""
    made = api.get.CreateKeyValuePairs()
    yield made
    api.ReleaseKeyValuePairs(made)


def listed(api, pairs):
    keys, values, count = C.c_void_p(), C.c_void_p(), C.c_size_t(99)
    api.GetKeyValuePairs(pairs, C.byref(keys), C.byref(values), C.byref(count))
    if count.value == 0:
        return []
    array = C.c_void_p * count.value
    return [
        (text(k), text(v))
        for k, v in zip(array.from_address(keys.value), array.from_address(values.value), strict=True)
    ]


KEY_VALUE = "OrtApi.CreateKeyValuePairs", "OrtApi.AddKeyValuePair", "OrtApi.ReleaseKeyValuePairs"


@pytest.mark.slot(*KEY_VALUE, "OrtApi.GetKeyValuePairs")
def test_pairs_keep_insertion_order(api, pairs):
    for key in (b"b", b"a", b"c"):
        api.AddKeyValuePair(pairs, key, key.upper())
    assert listed(api, pairs) == [("b", "B"), ("a", "A"), ("c", "C")]


@pytest.mark.slot("OrtApi.AddKeyValuePair", "OrtApi.GetKeyValuePairs")
def test_replacing_a_value_sorts_by_key_and_later_pairs_append(api, pairs):
    for key, value in ((b"b", b"1"), (b"c", b"2"), (b"a", b"3"), (b"c", b"4"), (b"0", b"5")):
        api.AddKeyValuePair(pairs, key, value)
    assert listed(api, pairs) == [("a", "3"), ("b", "1"), ("c", "4"), ("0", "5")]


@pytest.mark.slot("OrtApi.GetKeyValuePairs")
def test_new_set_is_empty(api, pairs):
    assert listed(api, pairs) == []


@pytest.mark.slot("OrtApi.AddKeyValuePair")
@pytest.mark.parametrize(("key", "value"), [(None, b"v"), (b"k", None), (b"", b"v")])
def test_incomplete_pair_is_ignored(api, pairs, key, value):
    api.AddKeyValuePair(pairs, key, value)
    assert listed(api, pairs) == []


@pytest.mark.slot("OrtApi.AddKeyValuePair", "OrtApi.GetKeyValue")
def test_empty_value_is_stored(api, pairs):
    api.AddKeyValuePair(pairs, b"k", b"")
    assert text(api.GetKeyValue(pairs, b"k")) == ""


@pytest.mark.slot("OrtApi.AddKeyValuePair")
def test_pair_is_copied(api, pairs):
    value = C.create_string_buffer(b"before")
    api.AddKeyValuePair(pairs, b"k", C.addressof(value))
    value.value = b"after!"
    assert text(api.GetKeyValue(pairs, b"k")) == "before"


@pytest.mark.slot("OrtApi.GetKeyValue")
def test_value_of_an_unknown_key_is_null(api, pairs):
    assert api.GetKeyValue(pairs, b"none") is None


@pytest.mark.slot("OrtApi.GetKeyValue")
@pytest.mark.host_stricter
def test_value_of_a_null_key_is_null(api, pairs):
    assert api.GetKeyValue(pairs, None) is None


@pytest.mark.slot("OrtApi.RemoveKeyValuePair")
def test_removed_pair_is_gone(api, pairs):
    for key in (b"a", b"b"):
        api.AddKeyValuePair(pairs, key, b"v")
    api.RemoveKeyValuePair(pairs, b"a")
    assert listed(api, pairs) == [("b", "v")]


@pytest.mark.slot("OrtApi.RemoveKeyValuePair", "OrtApi.GetKeyValuePairs")
def test_pair_is_removed_by_the_key_that_the_pairs_lend(api, pairs):
    for key in (b"a", b"bx", b"b"):
        api.AddKeyValuePair(pairs, key, b"v")
    keys, values, count = C.c_void_p(), C.c_void_p(), C.c_size_t()
    api.GetKeyValuePairs(pairs, C.byref(keys), C.byref(values), C.byref(count))
    api.RemoveKeyValuePair(pairs, C.c_void_p.from_address(keys.value).value)
    assert listed(api, pairs) == [("bx", "v"), ("b", "v")]


@pytest.mark.slot("OrtApi.RemoveKeyValuePair")
@pytest.mark.parametrize("key", [None, b"none"])
def test_removing_an_unknown_key_is_ignored(api, pairs, key):
    api.AddKeyValuePair(pairs, b"a", b"v")
    api.RemoveKeyValuePair(pairs, key)
    assert listed(api, pairs) == [("a", "v")]
