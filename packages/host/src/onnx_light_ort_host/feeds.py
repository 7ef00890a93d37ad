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


def make_feed(
    arg: NodeArg, what: str, dims: Mapping[str, int], shape: Sequence[int] | None = None
) -> np.ndarray[Any, np.dtype[Any]]:
    """Returns the array that an option ``--input NAME=WHAT`` describes.

    Parameters
    ----------
    arg : NodeArg
        The input.
    what : str
        ``zeros``, ``ones``, ``random`` or ``random:SEED`` (the same values for the same seed), or the path of an
        ``.npy`` file or, as ``FILE.npz:NAME``, of an ``.npz`` file.
    dims : mapping of str to int
        Extents of symbolic dimensions; others and unknown ones are 1.
    shape : sequence of int, optional
        The whole shape, instead of the input's.

    Returns
    -------
    numpy.ndarray
        Of the input's type and shape, or what the file holds.

    Raises
    ------
    InvalidArgument
        If the file cannot be read as an array, or the input is no tensor.
    """
    kind, colon, seed = what.partition(":")
    if not (what in ("zeros", "ones", "random") or (kind == "random" and colon)):
        return load_feed(arg, what)
    if not arg.type.startswith("tensor("):
        raise InvalidArgument(f"input {arg.name!r}: expected a tensor to make up, got {arg.type}")
    if shape is None:
        shape = [dim if isinstance(dim, int) else dims.get(dim or "", 1) for dim in arg.shape or []]
    if arg.type == "tensor(string)":
        return np.full(shape, {"zeros": "", "ones": "1"}.get(kind, "text"), object)
    dtype = numpy_dtype(arg.type)
    if kind != "random":
        return np.full(shape, kind == "ones", dtype)
    generator = np.random.default_rng(int(seed or 0))
    if dtype.kind in "biu":
        return generator.integers(0, 2 if dtype.kind == "b" else 10, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def as_feed(arg: NodeArg, array: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    """Turns the text of a file, which has a fixed width there, into strings."""
    return array.astype(str).astype(object) if arg.type == "tensor(string)" and array.dtype.kind in "US" else array


def load_feed(arg: NodeArg, what: str) -> np.ndarray[Any, np.dtype[Any]]:
    """Reads one array of an ``.npy`` or ``.npz`` file."""
    path, name = what, arg.name
    if ".npz:" in what:
        path, _, name = what.rpartition(":")
    try:
        content = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InvalidArgument(
            f"input {arg.name!r}: expected 'zeros', 'ones', 'random', an .npy or an .npz file, got {what!r}: {error}"
        ) from error
    if isinstance(content, np.ndarray):
        return as_feed(arg, content)
    with content:
        if name not in content:
            raise InvalidArgument(f"input {arg.name!r}: {path} holds arrays {content.files}, got the name {name!r}")
        return as_feed(arg, content[name])


def load_feeds(path: str, args: Mapping[str, NodeArg]) -> dict[str, Any]:
    """Returns the arrays of an ``.npz`` file by input.

    Parameters
    ----------
    path : str
        The file; each of its arrays is named like an input.
    args : mapping of str to NodeArg
        The inputs of the model.

    Returns
    -------
    dict of str to numpy.ndarray
        One for each array of the file.

    Raises
    ------
    InvalidArgument
        If the file is no such archive, or an array is named like no input.
    """
    try:
        content = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"--inputs: expected an .npz file, got {path!r}: {error}") from error
    if isinstance(content, np.ndarray):
        raise InvalidArgument(
            f"--inputs: expected an .npz file with one array for each input, got one array in {path!r}"
        )
    with content:
        for name in content.files:
            if name not in args:
                raise InvalidArgument(f"--inputs: expected arrays named {list(args)}, got {name!r} in {path!r}")
        return {name: as_feed(args[name], content[name]) for name in content.files}


def tensors_of(name: str, value: Any) -> list[tuple[str, np.ndarray[Any, np.dtype[Any]]]]:
    """Returns the tensors that a value holds, those of a sequence called ``NAME.0``, ``NAME.1`` and so on."""
    if isinstance(value, list):
        return [pair for i, element in enumerate(value) for pair in tensors_of(f"{name}.{i}", element)]
    return [] if value is None else [(name, value)]


def save_outputs(directory: str, names: Sequence[str], values: Sequence[Any]) -> list[str]:
    """Writes each tensor to ``DIRECTORY/NAME.npy``, those of a sequence to ``NAME.0.npy``, ``NAME.1.npy`` and so on.

    Parameters
    ----------
    directory : str
        Made if it does not exist.
    names : sequence of str
        Names of the outputs; characters that are not fit for a file name become ``_``.
    values : sequence of numpy.ndarray, list or None
        The outputs. Types that the file format lacks (bfloat16 and smaller ones) are written as float32, strings as
        fixed-width text.

    Returns
    -------
    list of str
        The files written.
    """
    os.makedirs(directory, exist_ok=True)
    paths: list[str] = []
    pairs = zip(names, values, strict=True)
    for name, value in (tensor for given, output in pairs for tensor in tensors_of(given, output)):
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
