# SPDX-License-Identifier: Apache-2.0
"""Inputs of the command line: read from files, or made up."""

from __future__ import annotations

import zipfile
import zlib

import numpy as np

from ._conversions import numpy_dtype
from .errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .records import NodeArg

    Array = np.ndarray[Any, np.dtype[Any]]

# What numpy lets out of a file that is damaged or something else.
DAMAGE = (OSError, ValueError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def make_feed(arg: NodeArg, what: str, dims: Mapping[str, int], shape: Sequence[int] | None = None) -> Any:
    """Returns the value that an option ``--input NAME=WHAT`` describes.

    Parameters
    ----------
    arg : NodeArg
        The input.
    what : str
        For a tensor ``zeros``, ``ones``, ``random`` or ``random:SEED`` (the same values for the same seed and name of
        the input), or the path of an ``.npy`` file or, as ``FILE.npz:NAME``, of an ``.npz`` file. For a sequence
        ``empty`` or the path of an ``.npz`` file, whose arrays are its elements.
        For an optional ``none`` or what is said of its content.
    dims : mapping of str to int
        Extents of symbolic dimensions; others and unknown ones are 1.
    shape : sequence of int, optional
        The whole shape, instead of the input's.

    Returns
    -------
    numpy.ndarray, list or None
        Of the input's type and shape, or what the file holds.

    Raises
    ------
    InvalidArgument
        If the file cannot be read as arrays, or the input cannot be what is asked for.
    """
    kind = without_optional(arg.type)
    if what == "none":
        if kind == arg.type:
            raise InvalidArgument(f"input {arg.name!r}: only an optional may be none, expected a value of {arg.type}")
        return None
    if kind.startswith("tensor("):
        return made_up(arg, kind, what, dims, shape) if is_made_up(what) else load_tensor(arg, kind, what)
    if kind.startswith("seq(tensor("):
        return [] if what == "empty" else load_sequence(arg, kind[len("seq(") : -1], what)
    raise InvalidArgument(f"input {arg.name!r}: the command line has no values of {arg.type}, got {what!r}")


def is_made_up(what: str) -> bool:
    """Whether an option ``--input NAME=WHAT`` asks for a tensor that is made up, with the shape of the input."""
    return what in ("zeros", "ones") or what.partition(":")[0] == "random"


def without_optional(kind: str) -> str:
    """Returns the type of what an optional holds; of another type itself."""
    return kind[len("optional(") : -1] if kind.startswith("optional(") else kind


def dtype_of(name: str, kind: str) -> np.dtype[Any]:
    """Returns the dtype of the input's arrays."""
    try:
        return numpy_dtype(kind)
    except ValueError as error:
        raise InvalidArgument(f"input {name!r}: {error}") from error


def made_up(arg: NodeArg, kind: str, what: str, dims: Mapping[str, int], shape: Sequence[int] | None) -> Array:
    """Returns an array of the input's type and shape."""
    if shape is None:
        shape = [dim if isinstance(dim, int) else dims.get(dim or "", 1) for dim in arg.shape or []]
    what, _, seed = what.partition(":")
    dtype = dtype_of(arg.name, kind)
    if seed and not (seed.isascii() and seed.isdecimal()):
        raise InvalidArgument(f"input {arg.name!r}: expected a number as seed, got {seed!r}")
    try:
        if dtype.kind == "O":
            return np.full(shape, {"zeros": "", "ones": "1"}.get(what, "text"), object)
        if what != "random":
            return np.full(shape, what == "ones", dtype)
        # Inputs with the same seed differ, else a model that subtracts or compares them is not tried at all.
        generator = np.random.default_rng([int(seed or 0), zlib.crc32(arg.name.encode())])
        if dtype.kind in "biu":
            return generator.integers(0, 2 if dtype.kind == "b" else 10, shape).astype(dtype)
        return generator.standard_normal(shape).astype(dtype)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(f"input {arg.name!r}: numpy has no arrays of shape {list(shape)}: {error}") from error


def read_arrays(path: str, expected: str, only: str | None = None) -> Array | dict[str, Array]:
    """Returns the array of an ``.npy`` file, or those of an ``.npz`` file by name in their order: all, or only one."""
    try:
        with open(path, "rb") as file:  # numpy leaves it open when it finds damage
            content = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return content
            if only is not None and only not in content.files:
                raise ValueError(f"it holds arrays {content.files}, none named {only!r}")
            arrays = {name: content[name] for name in (content.files if only is None else [only])}
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):
                raise ValueError(f"{name!r} in it is no array")
        return arrays
    except DAMAGE as error:
        raise InvalidArgument(f"{expected}, got {path!r}: {error}") from error


def as_feed(name: str, kind: str, array: Array) -> Array:
    """Returns an array of a file as the input takes it.

    Text has a fixed width in a file, and types that numpy lacks are float32 there.
    """
    if kind == "tensor(string)":
        return array.astype(str).astype(object) if array.dtype.kind in "US" else array
    if array.dtype == np.float32 and kind != "tensor(float)":
        dtype = dtype_of(name, kind)
        return array if dtype.isbuiltin == 1 else array.astype(dtype)
    return array


def load_tensor(arg: NodeArg, kind: str, what: str) -> Array:
    """Reads one array of an ``.npy`` or ``.npz`` file."""
    path, name = what, arg.name
    if ".npz:" in what:
        path, _, name = what.rpartition(":")
    expected = f"input {arg.name!r}: expected 'zeros', 'ones', 'random', an .npy or an .npz file"
    content = read_arrays(path, expected, name)
    return as_feed(arg.name, kind, content[name] if isinstance(content, dict) else content)


def load_sequence(arg: NodeArg, element: str, path: str) -> list[Array]:
    """Reads the arrays of an ``.npz`` file, in their order."""
    expected = f"input {arg.name!r}: expected 'empty' or an .npz file with one array for each element of {arg.type}"
    content = read_arrays(path, expected)
    if not isinstance(content, dict):
        raise InvalidArgument(f"{expected}, got one array in {path!r}")
    return [as_feed(arg.name, element, array) for array in content.values()]


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
        If the file is no such archive, or an array is named like no input or like a sequence.
    """
    content = read_arrays(path, "--inputs: expected an .npz file")
    if not isinstance(content, dict):
        raise InvalidArgument(
            f"--inputs: expected an .npz file with one array for each input, got one array in {path!r}"
        )
    feeds = {}
    for name, array in content.items():
        if name not in args:
            raise InvalidArgument(f"--inputs: expected arrays named {list(args)}, got {name!r} in {path!r}")
        kind = without_optional(args[name].type)
        if not kind.startswith("tensor("):
            raise InvalidArgument(
                f"--inputs: input {name!r} is a {args[name].type}, which has a file of its own "
                f"(--input {name}=FILE.npz), got one array in {path!r}"
            )
        feeds[name] = as_feed(name, kind, array)
    return feeds
