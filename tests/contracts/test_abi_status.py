# SPDX-License-Identifier: Apache-2.0
"""OrtStatus."""

import ctypes as C

import pytest
from contracts.harness import E, text


@pytest.fixture
def new_status(api):
    """Return a creator whose statuses are released after the test."""
    made = []

    def create(code, message):
        made.append(api.CreateStatus(code, message))
        return made[-1]

    yield create
    for status in made:
        api.ReleaseStatus(status)


@pytest.mark.slot("OrtApi.CreateStatus", "OrtApi.GetErrorCode", "OrtApi.GetErrorMessage", "OrtApi.ReleaseStatus")
def test_status_keeps_code_and_message(api, new_status):
    status = new_status(E.ORT_EP_FAIL, b"no such node")
    assert api.GetErrorCode(status) == E.ORT_EP_FAIL
    assert text(api.GetErrorMessage(status)) == "no such node"


@pytest.mark.slot("OrtApi.CreateStatus")
def test_message_is_copied(api, new_status):
    message = C.create_string_buffer(b"before")
    status = new_status(E.ORT_FAIL, C.addressof(message))
    message.value = b"after!"
    assert text(api.GetErrorMessage(status)) == "before"


@pytest.mark.slot("OrtApi.CreateStatus")
@pytest.mark.parametrize("message", [b"", None])
def test_empty_and_null_message_read_as_empty(api, new_status, message):
    assert text(api.GetErrorMessage(new_status(E.ORT_FAIL, message))) == ""


@pytest.mark.slot("OrtApi.CreateStatus")
@pytest.mark.parametrize(("length", "kept"), [(4096, 4096), (4097, 4096), (10000, 4096)])
def test_message_is_cut_at_4096_bytes(api, new_status, length, kept):
    assert text(api.GetErrorMessage(new_status(E.ORT_FAIL, b"m" * length))) == "m" * kept


@pytest.mark.slot("OrtApi.CreateStatus", "OrtApi.GetErrorCode")
@pytest.mark.parametrize("code", [E.ORT_OK, E.ORT_INVALID_ARGUMENT, E.ORT_NOT_FOUND, E.ORT_DEVICE_RESET, 77])
def test_code_is_not_validated(api, new_status, code):
    assert api.GetErrorCode(new_status(code, b"")) == code


@pytest.mark.slot("OrtApi.GetErrorMessage")
def test_message_pointer_is_stable_until_release(api, new_status):
    status = new_status(E.ORT_FAIL, b"stable")
    assert api.GetErrorMessage(status) == api.GetErrorMessage(status)


RELEASES = [
    "Status",
    "Value",
    "TypeInfo",
    "TensorTypeAndShapeInfo",
    "MemoryInfo",
    "KeyValuePairs",
    "KernelInfo",
    "CustomOpDomain",
    "OpAttr",
    "Allocator",
]


@pytest.mark.slot(
    "OrtApi.ReleaseStatus",
    "OrtApi.ReleaseValue",
    "OrtApi.ReleaseTypeInfo",
    "OrtApi.ReleaseTensorTypeAndShapeInfo",
    "OrtApi.ReleaseMemoryInfo",
    "OrtApi.ReleaseKeyValuePairs",
    "OrtApi.ReleaseKernelInfo",
    "OrtApi.ReleaseCustomOpDomain",
    "OrtApi.ReleaseOpAttr",
    "OrtApi.ReleaseAllocator",
)
@pytest.mark.parametrize("kind", RELEASES)
def test_release_of_null_does_nothing(api, kind):
    assert getattr(api, f"Release{kind}")(None) is None
