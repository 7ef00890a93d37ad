# SPDX-License-Identifier: Apache-2.0
"""Which execution providers a session asks, and in which forms a caller may name them."""

from __future__ import annotations

from . import _host
from .arguments import text
from .ep_devices import OrtEpDevice
from .errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .options import SessionOptions

    Providers = Sequence[str | tuple[str, Mapping[str, object]]] | None
    ProviderOptions = Sequence[Mapping[str, object]] | None

CPU_PROVIDER = "CPUExecutionProvider"


def is_list(value: object) -> bool:
    """Tells whether it is a list, a tuple or the like; text and mappings are not."""
    return hasattr(value, "__getitem__") and hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict))


def pairs(providers: object, provider_options: object) -> list[tuple[object, object]]:
    """Returns names and options, whichever of their forms was used."""
    if not is_list(providers):
        raise InvalidArgument(f"providers: expected a list of names, got {providers!r}")
    names: list[object] = list(providers)  # type: ignore[call-overload]
    if provider_options is None:
        return [(name[0], name[1]) if isinstance(name, tuple) and len(name) == 2 else (name, {}) for name in names]
    if not is_list(provider_options):
        raise InvalidArgument(f"provider_options: expected a list of dicts, got {provider_options!r}")
    options: list[object] = list(provider_options)  # type: ignore[call-overload]
    if len(options) != len(names):
        raise InvalidArgument(f"provider_options: expected one entry per provider ({len(names)}), got {len(options)}")
    return list(zip(names, options, strict=True))


def named_providers(providers: Providers, provider_options: ProviderOptions) -> list[tuple[str, dict[str, str]]]:
    """Returns the names and options of the providers; our own is the last of every session and may end the list."""
    if providers is None:
        if provider_options is not None and not (is_list(provider_options) and len(provider_options) == 0):
            raise InvalidArgument(f"provider_options: expected one entry per provider (0), got {provider_options!r}")
        return []
    found: list[tuple[str, dict[str, str]]] = []
    for name, options in pairs(providers, provider_options):
        if not isinstance(name, str):
            raise InvalidArgument(f"providers: expected names or pairs of a name and a dict of options, got {name!r}")
        if found and found[-1][0] == CPU_PROVIDER != name:
            raise InvalidArgument(f"providers: expected {CPU_PROVIDER} last, got {name!r} behind it")
        if not isinstance(options, dict):
            raise InvalidArgument(f"provider options of {name}: expected a dict, got {options!r}")
        if name == CPU_PROVIDER and options:
            raise InvalidArgument(f"provider options of {name}: it has none, got {options!r}")
        found.append((name, {text("provider option", key): str(value) for key, value in options.items()}))
    return found


def devices_of(name: str) -> list[OrtEpDevice]:
    """Returns the devices of the provider of that name."""
    offered = _host.ep_devices()
    found = [device for device in offered if device.ep_name == name]
    if not found:
        raise InvalidArgument(f"providers: expected names of {sorted({d.ep_name for d in offered})}, got {name!r}")
    libraries = list(dict.fromkeys(device.registration_name for device in found))
    if len(libraries) > 1:
        raise InvalidArgument(
            f"providers: expected a name of one library, got {name!r} of those registered as {libraries}; "
            "select its devices with add_provider_for_devices"
        )
    return found


def select(options: SessionOptions, providers: Providers, provider_options: ProviderOptions) -> _host.SessionOptions:
    """Returns the options of a session with these providers; without names, those of the options."""
    named = named_providers(providers, provider_options)
    if not named:
        return options
    if options.has_providers():
        import warnings

        warnings.warn(
            "the session options have execution providers already; the session uses those of its own argument instead",
            stacklevel=3,
        )
    native = options._without_providers()
    for name, entries in named:
        if name != CPU_PROVIDER:
            native._add_provider([device.id for device in devices_of(name)], entries)
    return native


def add_provider(options: SessionOptions, devices: Sequence[OrtEpDevice], provider_options: Mapping[str, str]) -> None:
    """Selects devices in session options."""
    if not is_list(devices) or not all(isinstance(device, OrtEpDevice) for device in devices):
        raise TypeError(f"add_provider_for_devices: devices: expected a list of OrtEpDevice, got {devices!r}")
    if not hasattr(provider_options, "items"):
        raise TypeError(f"add_provider_for_devices: expected a dict of options, got {provider_options!r}")
    entries = {
        text("add_provider_for_devices: key", key): text(f"add_provider_for_devices: {key!r}", value)
        for key, value in provider_options.items()
    }
    if devices and all(not device.registration_name for device in devices):
        if entries:
            raise InvalidArgument(f"provider options of {CPU_PROVIDER}: it has none, got {entries!r}")
        return  # the last provider of every session
    options._add_provider([device.id for device in devices], entries)
