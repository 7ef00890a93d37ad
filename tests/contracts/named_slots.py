# SPDX-License-Identifier: Apache-2.0
"""Which contract tests name which slots, read from the sources of this folder."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent


def slots_with_tests(marker: str = "slot") -> dict[str, list[str]]:
    """Return, for each slot passed to a marker, the tests that name it, as ``test_abi_status.py::test_name``.

    A marker that is not at a test, such as one of a case that a function makes, counts for the file alone.
    """
    found: dict[str, set[str]] = {}
    for path in sorted(FOLDER.glob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = _constants(tree)
        for test, call in _marks(tree, marker):
            name = f"{path.name}::{test}" if test else path.name
            for argument in call.args:
                for slot in _strings(argument, constants):
                    found.setdefault(slot, set()).add(name)
    return {slot: sorted(names) for slot, names in sorted(found.items())}


def _marks(tree: ast.Module, marker: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield each use of a marker with the test that it stands at."""
    for top in tree.body:
        test = top.name if isinstance(top, ast.FunctionDef) and top.name.startswith("test_") else ""
        for node in ast.walk(top):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"pytest.mark.{marker}":
                yield test, node


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return what module-level assignments bind, pairwise for tuples."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            found |= {t.id: v for t, v in zip(target.elts, value.elts, strict=True) if isinstance(t, ast.Name)}
        elif isinstance(target, ast.Name):
            found[target.id] = value
    return found


def _strings(node: ast.AST, constants: dict[str, ast.expr]) -> set[str]:
    """Return the strings an expression of constants, names and generated slot names stands for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.Starred):
        return _strings(node.value, constants)
    if isinstance(node, ast.Name) and node.id in constants:
        return _strings(constants[node.id], constants)
    if isinstance(node, ast.Tuple | ast.List):
        return set().union(*(_strings(element, constants) for element in node.elts))
    if isinstance(node, ast.Dict):
        return {key.value for key in node.keys if isinstance(key, ast.Constant)}
    if isinstance(node, ast.GeneratorExp | ast.ListComp) and isinstance(node.elt, ast.JoinedStr):
        prefix = node.elt.values[0].value  # type: ignore[attr-defined]
        return {prefix + name for name in _strings(node.generators[0].iter, constants)}
    return set()
