# SPDX-License-Identifier: Apache-2.0
"""Hardware, and execution providers that can use it."""

from __future__ import annotations

from enum import IntEnum

from .records import Record


class OrtHardwareDeviceType(IntEnum):
    """What a piece of hardware is."""

    CPU = 0
    GPU = 1
    NPU = 2


class OrtHardwareDevice(Record):
    """A piece of hardware.

    Attributes
    ----------
    type : OrtHardwareDeviceType
        CPU, GPU or NPU.
    vendor_id : int
        Number of the vendor, of the PCI list where it has one there.
    vendor : str
        Its name.
    device_id : int
        Number of the device.
    metadata : dict of str to str
        What else is known.
    synthetic : bool
        True if `add_synthetic_hardware_device` made it up.
    """

    __slots__ = ("type", "vendor_id", "vendor", "device_id", "metadata", "synthetic")
    type: OrtHardwareDeviceType
    vendor_id: int
    vendor: str
    device_id: int
    metadata: dict[str, str]
    synthetic: bool


class OrtEpDevice(Record):
    """A piece of hardware as an execution provider offers it.

    Attributes
    ----------
    ep_name, ep_vendor : str
        The execution provider and who made it.
    ep_metadata : dict of str to str
        What the provider says of itself; ``version`` and ``library_path`` among it.
    ep_options : dict of str to str
        Its options and their defaults.
    device : OrtHardwareDevice
        The hardware.
    registration_name : str
        Name that its library is registered with; empty for the host's own provider.
    id : tuple of int
        Number of the library's registration, which is never used again, and position among its devices.
    """

    __slots__ = ("ep_name", "ep_vendor", "ep_metadata", "ep_options", "device", "registration_name", "id")
    ep_name: str
    ep_vendor: str
    ep_metadata: dict[str, str]
    ep_options: dict[str, str]
    device: OrtHardwareDevice
    registration_name: str
    id: tuple[int, int]


class Provider(Record):
    """An execution provider of a session.

    Attributes
    ----------
    name : str
        Its name.
    library : str
        Path of its library; empty for the host's own provider.
    audit : str
        ``unaudited library``, or as which tested library it is known; empty for the host's own provider.
    options : dict of str to str
        Its options there.
    notes : str
        What else a user should know: synthetic devices, preferences that are not followed.
    """

    __slots__ = ("name", "library", "audit", "options", "notes")
    name: str
    library: str
    audit: str
    options: dict[str, str]
    notes: str
