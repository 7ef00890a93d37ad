# SPDX-License-Identifier: Apache-2.0
"""The bundled example: a model with a custom operator, and the library that brings the operator."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from .absence import ENTRY_POINT, LIBRARY, mapped_files, onnx_runtime_objects
from .cli_outputs import print_outputs
from .cli_reports import assignment_table
from .options import SessionOptions
from .session import InferenceSession


def main() -> int:
    """Runs the example and checks what it claims.

    Returns
    -------
    int
        0, or 1 if an output is wrong, the library did not run its node, or ONNX Runtime is in the process.
    """
    folder = files(__package__).joinpath("demo")
    library = str(folder.joinpath("libadd_two.so"))
    options = SessionOptions()
    options.register_custom_ops_library(library)
    session = InferenceSession(str(folder.joinpath("add_two.onnx")), options)

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    values = session.run(None, {"x": x})
    print(f"x: {x.dtype} {list(x.shape)}\n{x}")
    print_outputs([arg.name for arg in session.get_outputs()], values)
    rows = session.node_assignments()
    print(f"\n{assignment_table(rows)}\n")

    problems = []
    if not np.allclose(values[0], np.maximum(x * x + 2 - 6, 0)):
        problems.append("the output is not relu(x * x + 2 - 6)")
    if [row.op_type for row in rows if row.library] != ["AddTwo"]:
        problems.append(f"{library} did not run the node AddTwo")
    found = onnx_runtime_objects()
    problems += [f"{path} is ONNX Runtime" for path in found]
    for problem in problems:
        print(f"demo: {problem}")
    if not problems:
        print(
            f"checked: none of the {len(mapped_files())} files mapped into this process is {LIBRARY} or provides "
            f"{ENTRY_POINT.decode()}"
        )
    return 1 if problems else 0
