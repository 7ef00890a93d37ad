# SPDX-License-Identifier: Apache-2.0
"""Which execution providers a session may ask for, and in which forms."""

from __future__ import annotations

from .errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def check_providers(
    providers: Sequence[str | tuple[str, Mapping[str, object]]] | None,
    provider_options: Sequence[Mapping[str, object]] | None,
    disabled_optimizers: Sequence[str] | None = None,
) -> None:
    """Refuses providers that are not available, rather than running on others without a word."""
    if not (disabled_optimizers is None or isinstance(disabled_optimizers, set) or is_list(disabled_optimizers)):
        raise TypeError(f"disabled_optimizers: expected a list of names, got {disabled_optimizers!r}")
    if providers is None:
        if provider_options is not None and not (is_list(provider_options) and len(provider_options) == 0):
            raise InvalidArgument(f"provider_options: expected one entry per provider (0), got {provider_options!r}")
        return
    for name, options in pairs(providers, provider_options):
        if not isinstance(name, str):
            raise InvalidArgument(f"providers: expected names or pairs of a name and a dict of options, got {name!r}")
        if name != CPU_PROVIDER:
            raise InvalidArgument(f"providers: expected names of {[CPU_PROVIDER]}, got {name!r}")
        if not isinstance(options, dict):
            raise InvalidArgument(f"provider options of {name}: expected a dict, got {options!r}")
        if options:
            raise InvalidArgument(f"provider options of {name}: it has none, got {options!r}")
