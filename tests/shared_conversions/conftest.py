# SPDX-License-Identifier: Apache-2.0
"""Helpers of the tests of the conversions."""

from __future__ import annotations

import re

import pytest
from onnx_light_ort_host._conversions import ConversionError, TensorView


@pytest.fixture
def refuses():
    """Return a function that asserts that a value is refused with exactly this message."""

    def check(message: str, *arguments: object) -> None:
        with pytest.raises(ConversionError, match=f"^{re.escape(message)}$"):
            TensorView(*arguments)

    return check
