# SPDX-License-Identifier: Apache-2.0
"""The meson-python backend, with the wheel tagged for any Python.

The wheel holds a native library that ONNX Runtime loads, and no extension module, so no CPython ABI is involved;
meson-python cannot know that.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import mesonpy
from mesonpy import (  # noqa: F401  (the hooks of PEP 517 and PEP 660)
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the wheel, then tag it ``py3-none-<platform>``; return its file name."""
    name = mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)
    command = [sys.executable, "-m", "wheel", "tags", "--python-tag", "py3", "--abi-tag", "none", "--remove"]
    done = subprocess.run([*command, str(Path(wheel_directory, name))], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.split()[-1]
