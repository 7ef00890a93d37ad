# SPDX-License-Identifier: Apache-2.0
"""Hardware devices and libraries of execution providers, from Python."""

from __future__ import annotations

import onnx_light_ort_host as ort
import pytest

SYNTHETIC = """
import sys, onnx_light_ort_host as ort
ort.add_synthetic_hardware_device(
    device_type=ort.OrtHardwareDeviceType.GPU, vendor_id=0x10DE, vendor="Nvidia", device_id=7, metadata={"memory": "8"}
)
ort.add_synthetic_hardware_device(device_type=2, vendor="maker")
sys.path.insert(0, sys.argv[1])
from contracts.harness import EpFactory, Probe, registered

probe = Probe("onnx_light_ort_host")
factory = EpFactory(probe, devices=lambda factory, hardware: [factory.device(h) for h in hardware])
with registered(probe, factory) as offered:
    for d in offered:
        h = d.device
        print(h.type.name, h.vendor_id, h.vendor, h.device_id, h.metadata, h.synthetic, sep="|")
"""


def test_synthetic_devices_are_offered_to_libraries_and_marked(run_python, request):
    lines = run_python(SYNTHETIC, request.config.rootpath / "tests").stdout.splitlines()
    assert lines[:2] == ["NPU|0|maker|0|{}|True", "GPU|4318|Nvidia|7|{'memory': '8'}|True"]
    assert lines[2].startswith("CPU|")
    assert lines[2].endswith("|0|{}|False")
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, TypeError, "device_type"),
        ({"device_type": 3}, ort.InvalidArgument, "device_type.*0 to 2"),
        ({"device_type": "TPU"}, ort.InvalidArgument, "device_type.*'CPU', 'GPU', 'NPU'"),
        ({"device_type": 1, "vendor_id": -1}, ort.InvalidArgument, "vendor_id"),
        ({"device_type": 1, "device_id": 2**32}, ort.InvalidArgument, "device_id"),
        ({"device_type": 1, "vendor": 5}, TypeError, "vendor"),
        ({"device_type": 1, "metadata": {"a": 1}}, TypeError, "metadata"),
    ],
)
def test_device_that_cannot_be_is_refused(arguments, error, words):
    before = ort.get_ep_devices()
    with pytest.raises(error, match=words):
        ort.add_synthetic_hardware_device(**arguments)
    assert ort.get_ep_devices() == before


@pytest.mark.parametrize("is_loaded", [False, True])
def test_library_that_is_no_library_of_providers_is_refused(fixtures, is_loaded):
    if is_loaded:
        ort.SessionOptions().register_custom_ops_library(fixtures / "add_two.so")
    with pytest.raises(ort.Fail, match=r"add_two\.so': exports no CreateEpFactories"):
        ort.register_execution_provider_library("ep", fixtures / "add_two.so")


@pytest.mark.parametrize("name", [5, None])
def test_registration_name_is_text(fixtures, name):
    with pytest.raises(TypeError, match="registration_name"):
        ort.register_execution_provider_library(name, fixtures / "probe.so")


def test_registration_name_is_not_empty(fixtures):
    with pytest.raises(ort.InvalidArgument, match="registration name: must not be empty"):
        ort.register_execution_provider_library("", fixtures / "probe.so")


def test_unknown_registration_name_is_an_error():
    with pytest.raises(ort.Fail, match="'nobody': no library is registered with it"):
        ort.unregister_execution_provider_library("nobody")


def test_our_own_provider_may_be_added_and_is_the_last_anyway():
    options = ort.SessionOptions()
    options.add_provider_for_devices(ort.get_ep_devices()[:1], {})
    assert not options.has_providers()
    with pytest.raises(ort.InvalidArgument, match="provider options of CPUExecutionProvider: it has none"):
        options.add_provider_for_devices(ort.get_ep_devices()[:1], {"key": "value"})


def test_provider_needs_devices():
    with pytest.raises(ort.InvalidArgument, match="devices: at least one is needed, got none"):
        ort.SessionOptions().add_provider_for_devices([], {})


@pytest.mark.parametrize(
    ("devices", "options", "wrong"), [(5, {}, "devices"), ([5], {}, "devices"), ([], 5, "options"), ([], {"a": 1}, "a")]
)
def test_provider_is_selected_by_devices_and_text(devices, options, wrong):
    with pytest.raises(TypeError, match=wrong):
        ort.SessionOptions().add_provider_for_devices(devices, options)
