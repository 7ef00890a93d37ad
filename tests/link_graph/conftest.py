# SPDX-License-Identifier: Apache-2.0
"""Where the checked libraries are: a build directory, or for some tests an installation."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def build() -> Path:
    """Return the build directory of the super-project."""
    return Path(os.environ["ONNX_LIGHT_ORT_BUILD"])


@pytest.fixture(scope="session")
def breaking(build: Path) -> Path:
    """Return the folder of the libraries that break a rule each."""
    return build / "fixtures" / "link_graph"
