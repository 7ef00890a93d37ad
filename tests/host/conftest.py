# SPDX-License-Identifier: Apache-2.0
"""The host's tests run where ONNX Runtime cannot even be imported."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest


def pytest_configure() -> None:
    if importlib.util.find_spec("onnxruntime") is not None:
        raise pytest.UsageError("onnxruntime can be imported here: the host's tests need an environment without it")


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Return the folder of the built plugin libraries of fixtures/."""
    return Path(os.environ["ONNX_LIGHT_ORT_FIXTURES"])


@pytest.fixture
def run_python():
    """Return a function that runs Python source in a child process and returns what it printed."""

    def run(source: str, *arguments: object, fails: bool = False, **env: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-X", "faulthandler", "-c", source, *map(str, arguments)]
        done = subprocess.run(
            command, env={**os.environ, **env}, capture_output=True, text=True, timeout=300, check=False
        )
        assert (done.returncode != 0) == fails, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run
