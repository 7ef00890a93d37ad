# SPDX-License-Identifier: Apache-2.0
"""An ``OrtEpFactory`` built from Python callables, and its registration through the probe library."""

from __future__ import annotations

import contextlib
import ctypes as C
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .abi import E, PluginStruct, Table

if TYPE_CHECKING:
    from .probe import Probe


class EpFactory(PluginStruct):
    """A factory that offers the CPU, unless ``devices`` says otherwise.

    Parameters
    ----------
    probe
        The probe that records exceptions.
    devices
        ``devices(factory, hardware)`` gets the addresses of the hardware devices and returns those of EP devices.
    version
        Value of the struct's version field.
    """

    def __init__(
        self,
        probe: Probe,
        ep_name: str | None = "ProbeExecutionProvider",
        vendor: str | None = "probe",
        release: str | None = "1.2.3",
        devices: Callable[[EpFactory, list[int]], Sequence[int | None]] | None = None,
        version: int = 30,
    ):
        super().__init__("OrtEpFactory", version, probe.guard)
        self.probe, self.api = probe, probe.api
        self.ep_api = Table(probe.api.GetEpApi(), "OrtEpApi", probe.api)
        self.calls: list[str] = []
        self.name = ep_name or ""
        self.released_eps: list[int] = []
        self._texts = [
            C.create_string_buffer(t.encode()) if t is not None else None for t in (ep_name, vendor, release)
        ]
        for member, value in zip(("GetName", "GetVendor", "GetVersion"), self._texts, strict=True):
            self.count(member, lambda this, value=value: C.addressof(value) if value is not None else 0)
        self.count("GetVendorId", lambda this: 0x1234)
        self.count("GetSupportedDevices", self._supported)
        self.count("CreateEp", lambda *arguments: probe.status())
        self.count("ReleaseEp", lambda this, ep: self.released_eps.append(ep))
        self.count("CreateDataTransfer", lambda this, out: None)
        self._devices = devices or (lambda factory, hardware: [factory.device(factory.cpu(hardware))])
        probe.keep.append(self)

    def count(self, name: str, function: Callable[..., Any]) -> None:
        """Install a member whose calls are listed in ``calls``."""

        def counted(*arguments: Any) -> Any:
            self.calls.append(name)
            return function(*arguments)

        self.set(name, counted)

    def give(self, ep: PluginStruct) -> None:
        """Answer ``CreateEp`` with a provider."""

        def create(this: int, *arguments: int) -> None:
            C.c_void_p.from_address(arguments[-1]).value = ep.address

        self.count("CreateEp", create)

    def cpu(self, hardware: Sequence[int]) -> int:
        """Return the one CPU among hardware devices."""
        (found,) = [h for h in hardware if self.api.HardwareDevice_Type(h) == E.OrtHardwareDeviceType_CPU]
        return found

    def device(self, hardware: int, metadata: int | None = None, options: int | None = None) -> int:
        """Return a new EP device of this factory."""
        return self.ep_api.get.CreateEpDevice(self.address, hardware, metadata, options)

    def _supported(self, this: int, hardware: int, count: int, out: int, room: int, given: int) -> Any:
        found = self._devices(self, list((C.c_void_p * count).from_address(hardware)))
        for i, device in enumerate(found):
            C.c_void_p.from_address(out + 8 * i).value = device
        C.c_size_t.from_address(given).value = len(found)
        return None


@contextlib.contextmanager
def registered(probe: Probe, *factories: EpFactory, name: str = "probe") -> Iterator[list[Any]]:
    """Register factories through the probe library, give their devices in Python, and unregister them at the end."""
    with entry_points(probe, [factory.address for factory in factories]):
        probe.ort.register_execution_provider_library(name, probe.path)
        probe.reraise()
        try:
            yield [d for d in probe.ort.get_ep_devices() if d.ep_name != "CPUExecutionProvider"]
        finally:
            probe.ort.unregister_execution_provider_library(name)
            probe.reraise()


@contextlib.contextmanager
def entry_points(
    probe: Probe, given: Sequence[int | None], count: int | None = None, status: Callable[[], int] | None = None
) -> Iterator[list[int]]:
    """Let ``CreateEpFactories`` give these addresses; yields the list of factories that are released."""
    released: list[int] = []

    def create(name: int, base: int, logger: int, factories: int, room: int, out: int) -> Any:
        for i, factory in enumerate(given):
            C.c_void_p.from_address(factories + 8 * i).value = factory
        C.c_size_t.from_address(out).value = len(given) if count is None else count
        return status() if status else None

    with probe.ep_hooks(create, released.append):
        yield released
