# SPDX-License-Identifier: Apache-2.0
"""The entry points of the plugin with a caller that is too old, or that asks for what is not there."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import onnx_light_ort_plugin
import pytest

NOT_IMPLEMENTED, INVALID_ARGUMENT = 9, 2
NEEDED = 25  # the version whose table the plugin works with

CreateStatusFn = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
GetApiFn = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)
VersionFn = ctypes.CFUNCTYPE(ctypes.c_void_p)
VERSION = ctypes.create_string_buffer(b"1.19.2")


class Caller:
    """Somebody who loads the plugin: an API base whose table has CreateStatus and nothing else."""

    class Base(ctypes.Structure):
        _fields_ = (("GetApi", GetApiFn), ("GetVersionString", VersionFn))

    def __init__(self, answers: Callable[[int], bool]) -> None:
        self.statuses: list[tuple[int, str]] = []
        self.asked: list[int] = []
        self._create_status = CreateStatusFn(self._record)
        self._table = (ctypes.c_void_p * 1)(ctypes.cast(self._create_status, ctypes.c_void_p))
        self._answers = answers
        self._get_api = GetApiFn(self._answer)
        self.base = self.Base(self._get_api, VersionFn(lambda: ctypes.addressof(VERSION)))

    def _record(self, code: int, message: bytes) -> int:
        self.statuses.append((code, message.decode()))
        return len(self.statuses)

    def _answer(self, version: int) -> int | None:
        self.asked.append(version)
        return ctypes.addressof(self._table) if self._answers(version) else None


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    library = ctypes.CDLL(onnx_light_ort_plugin.get_library_path())
    for name in ("RegisterCustomOps", "CreateEpFactories", "ReleaseEpFactory"):
        getattr(library, name).restype = ctypes.c_void_p
    return library


def create_ep_factories(library: ctypes.CDLL, caller: Caller) -> tuple[int | None, int]:
    factories, count = (ctypes.c_void_p * 4)(), ctypes.c_size_t(77)
    status = library.CreateEpFactories(
        b"name", ctypes.byref(caller.base), None, factories, ctypes.c_size_t(4), ctypes.byref(count)
    )
    return status, count.value


@pytest.mark.parametrize("oldest", [1, 8, 24])
def test_a_caller_that_is_too_old_is_told_so(library: ctypes.CDLL, oldest: int) -> None:
    caller = Caller(lambda version: oldest <= version < NEEDED)
    assert library.RegisterCustomOps(ctypes.c_void_p(1), ctypes.byref(caller.base)) == 1
    assert create_ep_factories(library, caller)[0] == 2
    assert caller.asked[0] == NEEDED
    for (code, message), entry_point in zip(caller.statuses, ("RegisterCustomOps", "CreateEpFactories"), strict=True):
        assert code == NOT_IMPLEMENTED
        assert message == (
            f"{entry_point}: onnx-light-ort-plugin needs API version {NEEDED}, which ONNX Runtime has from 1.{NEEDED} "
            "on, got 1.19.2"
        )


def test_releasing_no_factory_succeeds(library: ctypes.CDLL) -> None:
    assert library.ReleaseEpFactory(None) is None


def test_releasing_a_factory_of_somebody_else_is_an_error(library: ctypes.CDLL) -> None:
    caller = Caller(lambda version: True)
    library.CreateEpFactories(None, ctypes.byref(caller.base), None, None, ctypes.c_size_t(4), None)
    assert caller.statuses[-1] == (INVALID_ARGUMENT, "CreateEpFactories: num_factories is null")
    assert library.ReleaseEpFactory(ctypes.c_void_p(1)) == 2
    assert caller.statuses[-1][0] == INVALID_ARGUMENT


@pytest.mark.parametrize("call", ["RegisterCustomOps", "CreateEpFactories"])
def test_a_caller_without_any_table_is_not_told_success(call: str) -> None:
    """There is no status without a table, and null would mean success, so the process ends with the reason."""
    program = (
        "import sys, ctypes; from ort_plugin.test_entry_points import Caller, create_ep_factories\n"
        "import onnx_light_ort_plugin; library = ctypes.CDLL(onnx_light_ort_plugin.get_library_path())\n"
        "caller = Caller(lambda version: False)\n"
        "if sys.argv[1] == 'CreateEpFactories': create_ep_factories(library, caller)\n"
        "else: library.RegisterCustomOps(None, ctypes.byref(caller.base))\n"
    )
    tests = Path(__file__).resolve().parent.parent
    start = f"import sys; sys.path.insert(0, {str(tests)!r})\n"
    done = subprocess.run([sys.executable, "-c", start + program, call], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGABRT
    assert f"{call}: the caller answers no API version from 1 to 25" in done.stderr


def test_the_package_is_typed_and_has_a_version() -> None:
    assert files("onnx_light_ort_plugin").joinpath("py.typed").is_file()
    major, minor, patch = onnx_light_ort_plugin.__version__.split(".")
    assert (major + minor + patch).isdigit()
