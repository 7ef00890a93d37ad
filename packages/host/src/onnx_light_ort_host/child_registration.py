# SPDX-License-Identifier: Apache-2.0
"""The registration of a library in a process of its own, which it may take with it."""

from __future__ import annotations

import json
import os
import sys
import tempfile

from .errors import BY_CODE, OrtHostError
from .library_report import ArgumentReport, KernelReport, OperatorReport, ProviderReport, RegistrationReport
from .process import inspect_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .library_report import LibraryReport


def operator_of(fields: dict[str, Any]) -> OperatorReport:
    """Makes the report of an operator from its fields."""
    arguments = {side: [ArgumentReport(*item.values()) for item in fields[side]] for side in ("inputs", "outputs")}
    pairs = {kind: [(i, o) for i, o in fields[kind]] for kind in ("may_inplace", "aliases")}
    return OperatorReport(*{**fields, **arguments, **pairs}.values())


def provider_of(fields: dict[str, Any]) -> ProviderReport:
    """Makes the report of an execution provider from its fields."""

    def kernel_of(kernel: dict[str, Any]) -> KernelReport:
        pairs = {kind: [(i, o) for i, o in kernel[kind]] for kind in ("may_inplace", "aliases")}
        return KernelReport(*{**kernel, **pairs}.values())

    return ProviderReport(*{**fields, "kernels": [kernel_of(kernel) for kernel in fields["kernels"]]}.values())


def answer_of_child(path: str) -> dict[str, Any]:
    """Returns what the child tells its parent: the registration, or the error that ended it."""
    try:
        registered = inspect_library(path, load=True).registration
        return {"registration": registered.asdict() if registered is not None else None}
    except OrtHostError as error:
        return {"error": str(error), "code": error.code}


def run_child(path: str, answer: int) -> None:
    """Writes the answer to a file and ends the process, without what Python does at its end."""
    import ctypes

    os.write(answer, json.dumps(answer_of_child(path)).encode())
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)  # what the library printed
    os._exit(0)


def inspect_in_child(path: str) -> LibraryReport:
    """Looks at a library and at what it registers; a registration that ends its process is one that failed.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    LibraryReport
        As ``inspect_library(path, load=True)``; of a process that ended no versions of the interface are known.

    Raises
    ------
    OrtHostError
        As ``inspect_library``.
    """
    report = inspect_library(path)
    if report.refused_because:
        return report
    sys.stdout.flush()
    # A file and no pipe: a process that the library leaves behind would keep a pipe open.
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            try:
                run_child(path, answer.fileno())
            finally:
                os._exit(1)
        status = os.waitpid(child, 0)[1]
        answer.seek(0)
        told = answer.read()
    if not told:
        code = os.waitstatus_to_exitcode(status)
        end = f"ended by signal {-code}" if code < 0 else f"ended its process with code {code}"
        failed = f"library '{report.path}': {end} while it registered"
        return report.with_registration(RegistrationReport([], [], [], failed))
    found = json.loads(told)
    if "error" in found:
        raise BY_CODE.get(found["code"], OrtHostError)(found["error"])
    fields = found["registration"]
    operators = [operator_of(operator) for operator in fields["operators"]]
    providers = [provider_of(provider) for provider in fields["providers"]]
    return report.with_registration(
        RegistrationReport(fields["api_versions"], operators, providers, fields["failed_because"])
    )
