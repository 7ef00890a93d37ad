# SPDX-License-Identifier: Apache-2.0
"""The command ``onnx-light-ort-plugin``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from onnx_light_ort_plugin._version import __version__
from onnx_light_ort_plugin.operators import get_library_path, supported_operators
from onnx_light_ort_plugin.rewrite import rewrite_model


def _ops(_: argparse.Namespace) -> int:
    for name, versions in sorted(supported_operators().items()):
        print(name, ", ".join(map(str, sorted(versions))))
    return 0


def _path(_: argparse.Namespace) -> int:
    print(get_library_path())
    return 0


def _rewrite(options: argparse.Namespace) -> int:
    try:
        import onnx
    except ImportError:
        print("onnx-light-ort-plugin: rewrite needs the package onnx: pip install onnx", file=sys.stderr)
        return 1
    from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]  # onnx needs it

    try:
        # What a model refers to is found from its folder: beside it, the new one refers to the same files.
        folders = [Path(file).resolve().parent for file in (options.model, options.output)]
        model = onnx.load(options.model, load_external_data=folders[0] != folders[1])
        if not model.HasField("graph"):  # an empty file parses
            raise ValueError(f"{options.model} is no model: it has no graph")
        onnx.save(rewrite_model(model, options.op_types), options.output)
    except DecodeError as error:
        print(f"onnx-light-ort-plugin: {options.model} is no model: {error}", file=sys.stderr)
        return 1
    except EncodeError:
        large = "with its weights it is larger than 2 GiB; in the folder of the model, they would stay apart"
        print(f"onnx-light-ort-plugin: {options.output}: {large}", file=sys.stderr)
        return 1
    except onnx.checker.ValidationError as error:  # its external data is not there
        print(f"onnx-light-ort-plugin: {options.model}: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"onnx-light-ort-plugin: {error}", file=sys.stderr)
        return 1
    return 0


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="onnx-light-ort-plugin", description="The kernels of onnx-light-ort for ORT.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    ops = commands.add_parser("ops", help="list the operators that there are kernels for, with their versions in ONNX")
    ops.set_defaults(run=_ops)
    path = commands.add_parser("path", help="print the path of the native library")
    path.set_defaults(run=_path)
    rewrite = commands.add_parser("rewrite", help="turn standard operators of a model into custom operators")
    rewrite.add_argument("model", help="the model to read")
    rewrite.add_argument("output", help="where to write the new model")
    rewrite.add_argument("--op-types", metavar="A,B", type=_names, help="only these operators; default: all")
    rewrite.set_defaults(run=_rewrite)
    options = parser.parse_args(arguments)
    try:
        status = int(options.run(options))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter writes again at its end
        return 128 + signal.SIGPIPE
    return status
