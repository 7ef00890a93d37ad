# SPDX-License-Identifier: Apache-2.0
"""Fixtures around ``light_dump``, the program that shows what the runtime makes of a model."""

from __future__ import annotations

import json
import os
import resource
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

MEMORY_LIMIT = 256 << 20


def find_program() -> Path:
    """Return the path of ``light_dump`` in the build directory that the environment names."""
    build = os.environ.get("ONNX_LIGHT_ORT_BUILD")
    if not build:
        raise RuntimeError("ONNX_LIGHT_ORT_BUILD must name the root build directory; ./dev test sets it")
    path = Path(build) / "packages" / "runtime" / "tests" / "light_dump"
    if not path.is_file():
        raise RuntimeError(f"{path}: not built")
    return path


def _is_sanitized() -> bool:
    """Tell whether the program is an AddressSanitizer build, which maps terabytes and bounds memory by itself."""
    return b"__asan_init" in find_program().read_bytes()


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


class Dump:
    """One ``light_dump`` process that answers for many models."""

    def __init__(self, limit_memory: bool = False) -> None:
        self._limit_memory = limit_memory
        self._process: subprocess.Popen[bytes] | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            sanitized = self._limit_memory and _is_sanitized()
            environment = dict(os.environ)
            if sanitized:
                options = environment.get("ASAN_OPTIONS", ""), f"max_allocation_size_mb={MEMORY_LIMIT >> 20}"
                environment["ASAN_OPTIONS"] = ":".join(options).lstrip(":")
            self._process = subprocess.Popen(
                [find_program(), "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                preexec_fn=_limit_memory if self._limit_memory and not sanitized else None,
            )
        return self._process

    def __call__(self, model: onnx.ModelProto | bytes) -> dict[str, Any]:
        """Return what the program says about a model: ``graph``, or ``code`` and ``error``; and ``warnings``."""
        data = model if isinstance(model, bytes) else model.SerializeToString()
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(struct.pack("<I", len(data)) + data)
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            self._process = None
            raise AssertionError(f"light_dump ended with {code} at a model of {len(data)} bytes: {data[:200]!r}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process. It must end well."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        code = self._process.wait()
        self._process = None
        assert code == 0, f"light_dump ended with {code}"


@pytest.fixture(scope="module")
def dump() -> Iterator[Dump]:
    """Say what the runtime makes of a model."""
    program = Dump()
    yield program
    program.close()


@pytest.fixture(scope="module")
def limited_dump() -> Iterator[Dump]:
    """As ``dump``, in a process that may map 256 MiB."""
    program = Dump(limit_memory=True)
    yield program
    program.close()


@pytest.fixture
def dump_file() -> Callable[[Path], dict[str, Any]]:
    """Say what the runtime makes of a model file."""

    def run(path: Path) -> dict[str, Any]:
        out = subprocess.run([find_program(), path], check=True, capture_output=True).stdout
        answer: dict[str, Any] = json.loads(out)
        return answer

    return run


@pytest.fixture(scope="session")
def schemas() -> list[dict[str, Any]]:
    """Every operator schema of the runtime's table."""
    out = subprocess.run([find_program(), "--schemas"], check=True, capture_output=True).stdout
    return [json.loads(line) for line in out.splitlines()]
