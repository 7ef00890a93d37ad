# SPDX-License-Identifier: Apache-2.0
"""The skeleton of the plugin: it can be loaded by anybody, offers nothing, and says so."""

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

CreateStatusFn = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
GetApiFn = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)


class Caller:
    """Somebody who loads the plugin: an API base whose table has CreateStatus and nothing else."""

    class Base(ctypes.Structure):
        _fields_ = (("GetApi", GetApiFn), ("GetVersionString", ctypes.c_void_p))

    def __init__(self, answers: Callable[[int], bool]) -> None:
        self.statuses: list[tuple[int, str]] = []
        self.asked: list[int] = []
        self._create_status = CreateStatusFn(self._record)
        self._table = (ctypes.c_void_p * 1)(ctypes.cast(self._create_status, ctypes.c_void_p))
        self._answers = answers
        self._get_api = GetApiFn(self._answer)
        self.base = self.Base(self._get_api, None)

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


@pytest.mark.parametrize("first_version", [1, 8, 30])
def test_custom_ops_are_not_implemented(library: ctypes.CDLL, first_version: int) -> None:
    caller = Caller(lambda version: version >= first_version)
    status = library.RegisterCustomOps(ctypes.c_void_p(1), ctypes.byref(caller.base))
    assert status == 1
    ((code, message),) = caller.statuses
    assert code == NOT_IMPLEMENTED
    assert message.startswith("RegisterCustomOps: ")
    assert caller.asked == list(range(1, first_version + 1))


def test_execution_providers_are_not_implemented(library: ctypes.CDLL) -> None:
    caller = Caller(lambda version: True)
    assert create_ep_factories(library, caller) == (1, 0)
    ((code, message),) = caller.statuses
    assert code == NOT_IMPLEMENTED
    assert message.startswith("CreateEpFactories: ")


def test_releasing_no_factory_succeeds(library: ctypes.CDLL) -> None:
    assert library.ReleaseEpFactory(None) is None


def test_releasing_a_factory_of_somebody_else_is_an_error(library: ctypes.CDLL) -> None:
    caller = Caller(lambda version: True)
    create_ep_factories(library, caller)
    assert library.ReleaseEpFactory(ctypes.c_void_p(1)) == 2
    assert caller.statuses[-1][0] == INVALID_ARGUMENT


@pytest.mark.parametrize("call", ["RegisterCustomOps", "CreateEpFactories"])
def test_a_caller_without_any_table_is_not_told_success(call: str) -> None:
    """There is no status without a table, and null would mean success, so the process ends with the reason."""
    program = (
        "import sys, ctypes; from ort_plugin.test_skeleton import Caller, create_ep_factories\n"
        "import onnx_light_ort_plugin; library = ctypes.CDLL(onnx_light_ort_plugin.get_library_path())\n"
        "caller = Caller(lambda version: False)\n"
        "if sys.argv[1] == 'CreateEpFactories': create_ep_factories(library, caller)\n"
        "else: library.RegisterCustomOps(None, ctypes.byref(caller.base))\n"
    )
    tests = Path(__file__).resolve().parent.parent
    start = f"import sys; sys.path.insert(0, {str(tests)!r})\n"
    done = subprocess.run([sys.executable, "-c", start + program, call], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGABRT
    assert f"{call}: the caller answers no API version from 1 to 30" in done.stderr


def test_the_package_promises_nothing() -> None:
    assert onnx_light_ort_plugin.get_ep_name() == "OnnxLightExecutionProvider"
    assert onnx_light_ort_plugin.get_ep_names() == []
    assert onnx_light_ort_plugin.list_custom_ops() == []


def test_the_package_is_typed_and_has_a_version() -> None:
    assert files("onnx_light_ort_plugin").joinpath("py.typed").is_file()
    major, minor, patch = onnx_light_ort_plugin.__version__.split(".")
    assert (major + minor + patch).isdigit()
