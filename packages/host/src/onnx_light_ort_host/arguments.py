# SPDX-License-Identifier: Apache-2.0
"""What an argument or an option may be: another type is a ``TypeError``, another value ``InvalidArgument``."""

from __future__ import annotations

import operator

from .errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def flag(name: str, value: Any) -> bool:
    """Returns a truth value: one of Python or numpy, or 0 or 1. Text such as "no" would count as yes."""
    if isinstance(value, bool):
        return value
    if (type(value) is int and value in (0, 1)) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise TypeError(f"{name}: expected True or False, got {value!r}")


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Returns an integer within limits, of Python or of numpy."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:  # an array has __index__ too
        number = None
    if number is None:
        raise TypeError(f"{name}: expected an integer from {low} to {high}, got {value!r}")
    if not low <= number <= high:
        raise InvalidArgument(f"{name}: expected an integer from {low} to {high}, got {value!r}")
    return number


def text(name: str, value: Any) -> str:
    """Returns text that libraries can read: they get it as UTF-8 that a null character ends."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected str, got {type(value).__name__}")
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidArgument(f"{name}: expected text without null characters and surrogates, got {value!r}")
    return value


def integer_within(low: int, high: int) -> Callable[[str, Any], int]:
    """Returns the check of an integer within limits."""
    return lambda name, value: integer(name, value, low, high)


def one_of(*allowed: int) -> Callable[[str, Any], int]:
    """Returns the check of one of some numbers."""

    def check(name: str, value: Any) -> int:
        number = integer(name, value, min(allowed), max(allowed))
        if number not in allowed:
            raise InvalidArgument(f"{name}: expected one of {list(allowed)}, got {value!r}")
        return number

    return check


class Option:
    """An attribute of an object with ``_values``, checked when it is set.

    Parameters
    ----------
    check : callable
        Takes name and value, and returns the value to keep.
    default : object
        The value of an object on which it was not set.
    """

    def __init__(self, check: Callable[[str, Any], Any], default: Any) -> None:
        self.check = check
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance._values.get(self.name, self.default)

    def __set__(self, instance: Any, value: Any) -> None:
        instance._values[self.name] = self.check(self.name, value)
