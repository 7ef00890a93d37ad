# SPDX-License-Identifier: Apache-2.0
"""What becomes of the outputs of the command ``run``."""

from __future__ import annotations

import os

import numpy as np

from .terminal import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Array = np.ndarray[Any, np.dtype[Any]]

LONGEST_NAME = 200  # of a file, without its ending


def print_outputs(names: Sequence[str], values: Sequence[Any]) -> None:
    """Prints each output with its type and shape, a sequence element by element."""
    for name, value in zip(names, values, strict=True):
        if value is None:
            print(f"{shown(name)}: none")
        elif isinstance(value, list):
            print(f"{shown(name)}: sequence of {len(value)}")
            print_outputs([f"{name}.{i}" for i in range(len(value))], value)
        else:
            text = str(value) if value.ndim else shown(value)  # numpy escapes the text in all but a scalar
            print(f"{shown(name)}: {value.dtype} {list(value.shape)}\n{text}")


def storable(array: Array) -> Array:
    """Returns the array as a type that files have: text of a fixed width, float32 for the types that numpy lacks."""
    if array.dtype == object:
        return array.astype(str)
    return array if array.dtype.isbuiltin == 1 else array.astype(np.float32)


def file_name(name: str, taken: set[str]) -> str:
    """Returns a name that is fit for a file and not taken."""
    safe = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[:LONGEST_NAME]
    unique, i = safe, 1
    while unique in taken:  # another output's name differs only in what is not fit for a file
        unique, i = f"{safe}_{i}", i + 1
    taken.add(unique)
    return unique


def save_outputs(directory: str, names: Sequence[str], values: Sequence[Any]) -> list[str]:
    """Writes a tensor to ``DIRECTORY/NAME.npy`` and a sequence to ``DIRECTORY/NAME.npz``.

    Parameters
    ----------
    directory : str
        Made if it does not exist.
    names : sequence of str
        Names of the outputs; characters that are not fit for a file name become ``_``.
    values : sequence of numpy.ndarray, list or None
        The outputs. The elements of a sequence are the arrays ``0``, ``1`` and so on of the archive; an optional that
        is None has no file. Types that the file format lacks (bfloat16 and smaller ones) are written as float32,
        strings as fixed-width text.

    Returns
    -------
    list of str
        The files written.
    """
    os.makedirs(directory, exist_ok=True)
    paths: list[str] = []
    taken: set[str] = set()
    for name, value in zip(names, values, strict=True):
        stem = os.path.join(directory, file_name(name, taken))
        if isinstance(value, list):
            paths.append(f"{stem}.npz")
            elements: dict[str, Any] = {str(i): storable(element) for i, element in enumerate(value)}
            np.savez(paths[-1], **elements)
        elif value is not None:
            paths.append(f"{stem}.npy")
            np.save(paths[-1], storable(value))
    return paths
