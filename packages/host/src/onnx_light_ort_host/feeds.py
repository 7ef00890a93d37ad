# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of the command line."""

from __future__ import annotations

import os

import numpy as np

from ._conversions import numpy_dtype
from .errors import InvalidArgument
from .records import NodeArg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

SEED = 0


def make_feed(arg: NodeArg, what: str, dims: Mapping[str, int]) -> np.ndarray[Any, np.dtype[Any]]:
    """Returns the array that an option ``--input NAME=WHAT`` describes.

    Parameters
    ----------
    arg : NodeArg
        The input.
    what : str
        ``zeros``, ``random`` (always the same values) or the path of an ``.npy`` file.
    dims : mapping of str to int
        Extents of symbolic dimensions; others and unknown ones are 1.

    Returns
    -------
    numpy.ndarray
        Of the input's type and shape, or what the file holds.

    Raises
    ------
    InvalidArgument
        If the file cannot be read as an array, or the input is no tensor.
    """
    if what not in ("zeros", "random"):
        try:
            return np.asarray(np.load(what, allow_pickle=False))
        except (OSError, ValueError) as error:
            raise InvalidArgument(
                f"input {arg.name!r}: expected 'zeros', 'random' or an .npy file, got {what!r}: {error}"
            ) from error
    if not arg.type.startswith("tensor("):
        raise InvalidArgument(f"input {arg.name!r}: expected a tensor to make up, got {arg.type}")
    shape = [dim if isinstance(dim, int) else dims.get(dim or "", 1) for dim in arg.shape or []]
    if arg.type == "tensor(string)":
        return np.full(shape, "" if what == "zeros" else "text", object)
    dtype = numpy_dtype(arg.type)
    if what == "zeros":
        return np.zeros(shape, dtype)
    generator = np.random.default_rng(SEED)
    if dtype.kind in "biu":
        return generator.integers(0, 2 if dtype.kind == "b" else 10, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def save_outputs(directory: str, names: Sequence[str], values: Sequence[Any]) -> list[str]:
    """Writes each tensor to ``DIRECTORY/NAME.npy``.

    Parameters
    ----------
    directory : str
        Made if it does not exist.
    names : sequence of str
        Names of the outputs; characters that are not fit for a file name become ``_``.
    values : sequence of numpy.ndarray or None
        The outputs. Types that the file format lacks (bfloat16 and smaller ones) are written as float32, strings as
        fixed-width text.

    Returns
    -------
    list of str
        The files written.
    """
    os.makedirs(directory, exist_ok=True)
    paths: list[str] = []
    for name, value in zip(names, values, strict=True):
        if value is None:
            continue
        if value.dtype == object:
            value = value.astype(str)
        elif value.dtype.isbuiltin != 1:
            value = value.astype(np.float32)
        safe = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)
        path = os.path.join(directory, f"{safe}.npy")
        if path in paths:  # another output's name differs only in characters that are not fit for a file
            path = os.path.join(directory, f"{safe}_{len(paths)}.npy")
        paths.append(path)
        np.save(paths[-1], value)
    return paths
