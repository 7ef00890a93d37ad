# SPDX-License-Identifier: Apache-2.0
"""The configuration of the environment, and what the name of a registration adds to it."""

import ctypes as C

import pytest
from contracts.harness import E, EpFactory, Table, entry_points, registered, text

pytestmark = pytest.mark.slot("OrtEpApi.GetEnvConfigEntries")
ALLOWED = {"allow_virtual_devices": "1"}


@pytest.fixture
def ep_api(api):
    """Return the ``OrtEpApi`` table."""
    return Table(api.GetEpApi(), "OrtEpApi", api)


def config(ep_api):
    """Return the configuration as a dict."""
    api = ep_api._api
    found = ep_api.get.GetEnvConfigEntries()
    keys, values, count = C.c_void_p(), C.c_void_p(), C.c_size_t()
    api.GetKeyValuePairs(found, C.byref(keys), C.byref(values), C.byref(count))
    row = C.c_void_p * count.value
    entries = {}
    if count.value:
        sides = row.from_address(keys.value), row.from_address(values.value)
        entries = {text(key): text(value) for key, value in zip(*sides, strict=True)}
    api.ReleaseKeyValuePairs(found)
    return entries


def test_configuration_is_empty(ep_api):
    assert config(ep_api) == {}


def test_configuration_is_a_copy_of_the_caller(api, ep_api):
    mine = ep_api.get.GetEnvConfigEntries()
    api.AddKeyValuePair(mine, b"key", b"value")
    assert config(ep_api) == {}
    api.ReleaseKeyValuePairs(mine)


def test_configuration_needs_a_destination(ep_api):
    assert ep_api.code.GetEnvConfigEntries(None) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot("OrtEpFactory.GetSupportedDevices")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("some.virtual", ALLOWED),
        (".virtual", ALLOWED),
        ("virtual", {}),
        ("some.virtual.not", {}),
        ("some.Virtual", {}),
        ("some_virtual", {}),
    ],
)
def test_name_that_ends_in_virtual_allows_virtual_devices(probe, ep_api, name, expected):
    """Visible to the library that is being registered, and as long as it is registered."""
    during = []

    def devices(factory, hardware):
        during.append(config(factory.ep_api))
        return [factory.device(factory.cpu(hardware))]

    with registered(probe, EpFactory(probe, devices=devices), name=name):
        assert during == [expected]
        assert config(ep_api) == expected
    assert config(ep_api) == {}


def test_virtual_devices_are_allowed_until_the_last_such_library_is_gone(probe, ep_api):
    with registered(probe, EpFactory(probe), name="one.virtual"):
        with registered(probe, EpFactory(probe, ep_name="Other"), name="two.virtual"):
            assert config(ep_api) == ALLOWED
        assert config(ep_api) == ALLOWED
        with registered(probe, EpFactory(probe, ep_name="Third"), name="three"):
            assert config(ep_api) == ALLOWED
    assert config(ep_api) == {}


@pytest.mark.host_stricter
def test_registration_that_fails_allows_nothing(probe, ep_api):
    """ORT forgets to take it back."""
    refused = probe.status
    with entry_points(probe, [], status=refused), pytest.raises(probe.exception("Fail")):
        probe.ort.register_execution_provider_library("failing.virtual", probe.path)
    assert config(ep_api) == {}


@pytest.mark.host_stricter
def test_name_that_is_in_use_takes_nothing_back(probe, ep_api):
    with registered(probe, EpFactory(probe), name="one.virtual"):
        with pytest.raises(probe.exception("Fail")):
            probe.ort.register_execution_provider_library("one.virtual", probe.path)
        assert config(ep_api) == ALLOWED
    assert config(ep_api) == {}
