# SPDX-License-Identifier: Apache-2.0
"""The plugin's skeleton in the real ONNX Runtime."""

from __future__ import annotations

import onnx_light_ort_plugin
import onnxruntime
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as OrtNotImplemented


def test_registering_its_custom_ops_fails_and_says_why() -> None:
    options = onnxruntime.SessionOptions()
    with pytest.raises(OrtNotImplemented, match="has no custom operators"):
        options.register_custom_ops_library(onnx_light_ort_plugin.get_library_path())


def test_registering_its_execution_provider_fails_and_says_why() -> None:
    with pytest.raises(OrtNotImplemented, match="has no execution provider"):
        onnxruntime.register_execution_provider_library("onnx_light", onnx_light_ort_plugin.get_library_path())
    assert "OnnxLightExecutionProvider" not in {device.ep_name for device in onnxruntime.get_ep_devices()}
