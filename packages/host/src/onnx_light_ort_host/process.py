# SPDX-License-Identifier: Apache-2.0
"""Functions that concern the process, not one session."""

from __future__ import annotations

from pathlib import Path

from . import _host
from .arguments import integer, text
from .errors import InvalidArgument
from .providers import CPU_PROVIDER
from .records import LoadPolicy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from .ep_devices import OrtEpDevice, OrtHardwareDeviceType
    from .library_report import LibraryReport
    from .records import Finding, SupportRow, TestedLibrary


def get_version_string() -> str:
    """Returns the version of this package.

    Returns
    -------
    str
        Not the version of ONNX Runtime that libraries are told, which is ``1.30.0``.
    """
    return _host.product_version()


def get_build_info() -> str:
    """Returns who this is.

    Returns
    -------
    str
        Name and version of the product and version of the ABI.
    """
    return _host.build_info()


def get_include() -> str:
    """Returns the folder of the interface's declarations, for who builds a plugin.

    Returns
    -------
    str
        What ``#include <ort_abi/ort_c_api.h>`` is found in. The header is complete for version 30 of the interface.
    """
    return str(Path(__file__).parent / "include")


def get_available_providers() -> list[str]:
    """Returns the execution providers that a session may ask for.

    Returns
    -------
    list of str
        In order of preference.
    """
    return [CPU_PROVIDER]


def get_all_providers() -> list[str]:
    """Returns the execution providers that this version knows.

    Returns
    -------
    list of str
        In order of preference.
    """
    return [CPU_PROVIDER]


def get_device() -> str:
    """Returns the kind of device that models run on.

    Returns
    -------
    str
        ``CPU``.
    """
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Sets which log lines are written where a session does not say.

    Parameters
    ----------
    severity : int
        0 verbose, 1 info, 2 warning, 3 error, 4 fatal.

    Raises
    ------
    InvalidArgument
        If there is no such severity.
    """
    _host.set_default_logger_severity(integer("set_default_logger_severity", severity, 0, 4))


def enable_checked_mode() -> None:
    """Turns on the checks of what libraries do with the objects they are given, for the whole process.

    Raises
    ------
    OrtHostError
        If a library has been loaded already.
    """
    _host.enable_checked_mode()


def checked_rules() -> dict[str, str]:
    """Returns the rules that checked mode watches.

    Returns
    -------
    dict of str to str
        What breaks a rule, by the rule's name. Names are stable.
    """
    return _host.checked_rules()


def checked_findings() -> list[Finding]:
    """Returns what libraries did against the rules of the interface, in checked mode.

    Returns
    -------
    list of Finding
        Those of the whole process so far, the oldest first; at most 1000. Empty without checked mode.
    """
    return _host.checked_findings()


def set_load_policy(policy: LoadPolicy) -> None:
    """Sets where libraries may come from, for those that are loaded from now on.

    Parameters
    ----------
    policy : LoadPolicy
        The rules.

    Raises
    ------
    TypeError
        If it is no policy.
    """
    if not isinstance(policy, LoadPolicy):
        raise TypeError(f"set_load_policy: expected a LoadPolicy, got {type(policy).__name__}")
    _host.set_load_policy(policy)


def get_load_policy() -> LoadPolicy:
    """Returns where libraries may come from.

    Returns
    -------
    LoadPolicy
        The rules now in force.
    """
    return _host.get_load_policy()


def inspect_library(path: str | PathLike[str], *, load: bool = False) -> LibraryReport:
    """Looks at a library: at its file alone or, on demand, at what it registers.

    Parameters
    ----------
    path : path
        The file.
    load : bool, optional
        True also loads the library, if it is not refused, and runs its ``RegisterCustomOps``, without any model: its
        code runs in this process. What it registered is dropped again.

    Returns
    -------
    LibraryReport
        Its exports and dependencies, and whether it would be loaded. A library for Windows or macOS never is; what it
        exports and needs is told if the extra ``inspect`` is installed. With ``load`` also its operators.

    Raises
    ------
    NoSuchFile, Fail
        If there is no such file, or it is no regular file; with ``load`` also if the loader of the system refuses it.
    """
    report = _host.inspect_library(path)
    if report.refused_because:
        from .foreign_library import describe

        return describe(report)
    return report.with_registration(_host.inspect_registration(path)) if load else report


def accepted_api_versions() -> list[int]:
    """Returns the versions of the C API that libraries are granted.

    Returns
    -------
    list of int
        Ascending.
    """
    return _host.accepted_api_versions()


def tested_libraries() -> list[TestedLibrary]:
    """Returns the published libraries that the tests of this host run, unmodified.

    Returns
    -------
    list of TestedLibrary
        A library that is not on it may load and still need what is not supported.
    """
    return _host.tested_libraries()


def support_matrix() -> list[SupportRow]:
    """Returns what of the ABI is supported.

    Returns
    -------
    list of SupportRow
        One per slot of every table and per callback of a library, computed from the tables that libraries receive.
    """
    return _host.support_matrix()


def register_execution_provider_library(registration_name: str, library_path: str | PathLike[str]) -> None:
    """Loads a library of execution providers and asks it for its devices.

    Parameters
    ----------
    registration_name : str
        Name for later calls; not in use yet.
    library_path : path
        The file. A bare name is a file of the current folder.

    Raises
    ------
    NoSuchFile, Fail
        If there is no such library, `LoadPolicy` refuses it, the name is in use, or the library breaks a rule: the
        message names it. Nothing of it is registered then.
    OrtHostError
        What the library itself reports, with its code and message.
    """
    _host.register_ep_library(text("registration_name", registration_name), library_path)


def unregister_execution_provider_library(registration_name: str) -> None:
    """Releases the devices and factories of a library, once no session uses them any more.

    Parameters
    ----------
    registration_name : str
        Name that it was registered with.

    Raises
    ------
    Fail
        If no library is registered with it.
    """
    _host.unregister_ep_library(text("registration_name", registration_name))


def get_ep_devices() -> list[OrtEpDevice]:
    """Returns the devices that execution providers offer.

    Returns
    -------
    list of OrtEpDevice
        The host's own, then those of libraries in the order of their registration.
    """
    return _host.ep_devices()


def hardware_type(value: object) -> int:
    """Returns the number of a kind of hardware."""
    names = ("CPU", "GPU", "NPU")
    if isinstance(value, str):
        if value not in names:
            raise InvalidArgument(f"device_type: expected one of {list(names)} or 0 to 2, got {value!r}")
        return names.index(value)
    return integer("device_type", value, 0, 2)


def add_synthetic_hardware_device(
    *,
    device_type: OrtHardwareDeviceType | int | str,
    vendor_id: int = 0,
    vendor: str = "",
    device_id: int = 0,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Adds a device that does not exist, to try a library that insists on one.

    Libraries that are registered from now on are offered it, until the process ends. Every report marks it.

    Parameters
    ----------
    device_type : OrtHardwareDeviceType or str
        CPU, GPU or NPU, by name too.
    vendor_id, device_id : int
        Numbers of 32 bits.
    vendor : str
        Name of the vendor.
    metadata : dict of str to str, optional
        What else is to be known.

    Raises
    ------
    InvalidArgument
        If there is no such type, or a number does not fit in 32 bits.
    TypeError
        If an argument has another type.
    """
    entries = {text("metadata", key): text("metadata", value) for key, value in dict(metadata or {}).items()}
    _host.add_synthetic_hardware_device(
        hardware_type(device_type),
        integer("vendor_id", vendor_id, 0, 2**32 - 1),
        text("vendor", vendor),
        integer("device_id", device_id, 0, 2**32 - 1),
        entries,
    )
