# SPDX-License-Identifier: Apache-2.0
"""Runs a function of a test file in a child process, for calls that may end the process."""

from __future__ import annotations

import importlib.util
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[2]


def run_in_child(
    module: str, function: Callable[[Any], None], timeout: float = 120, **variables: str
) -> subprocess.CompletedProcess:
    """Run ``function(probe)`` in a fresh process and return how that process ended.

    Parameters
    ----------
    module
        Name of the module under test.
    function
        A module-level function of a test file; it is looked up by name in the child.
    timeout
        Seconds after which the child is ended and the test fails.
    variables
        Variables of the environment, beside those of this process.
    """
    start = f"import sys; sys.path.insert(0, {str(TESTS)!r}); from contracts.harness.child import main; main()"
    command = [sys.executable, "-c", start, module, inspect.getsourcefile(function), function.__name__]
    # A sanitizer would turn a signal that a test expects into an exit code.
    options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "handle_segv=0:handle_abort=0"]))
    env = {**os.environ, "ASAN_OPTIONS": options, "TSAN_OPTIONS": f"{os.environ.get('TSAN_OPTIONS', '')} handle_segv=0"}
    return subprocess.run(command, env=env | variables, capture_output=True, text=True, timeout=timeout, check=False)


def main() -> None:
    """Entry point of the child: module, test file and function name are the arguments."""
    from .probe import Probe

    module, path, name = sys.argv[1:4]
    spec = importlib.util.spec_from_file_location("test_in_child", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    getattr(loaded, name)(Probe(module))
