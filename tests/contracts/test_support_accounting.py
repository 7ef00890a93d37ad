# SPDX-License-Identifier: Apache-2.0
"""The support matrix and the contract tests name the same slots."""

import ast
from pathlib import Path

import pytest
from contracts.harness.abi import members

pytestmark = pytest.mark.slot()
HOST = pytest.mark.host_stricter

TABLES = ["OrtApiBase", "OrtApi", "OrtEpApi", "OrtModelEditorApi", "OrtCompileApi", "OrtInteropApi"]
CALLBACKS = ["OrtCustomOp", "OrtAllocator"]


def named(marker):
    """Return every slot that a test file of this folder passes to a marker, read from the sources."""
    found = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {}
        for node in tree.body:
            if isinstance(node, ast.Assign):
                constants |= bindings(node.targets[0], node.value)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"pytest.mark.{marker}":
                for argument in node.args:
                    found |= strings(argument, constants)
    return found


def bindings(target, value):
    """Return what a module-level assignment binds, pairwise for tuples."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return {t.id: v for t, v in zip(target.elts, value.elts, strict=True)}
    return {target.id: value} if isinstance(target, ast.Name) else {}


def strings(node, constants):
    """Return the strings an expression of constants, names and generated slot names stands for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.Starred):
        return strings(node.value, constants)
    if isinstance(node, ast.Name) and node.id in constants:
        return strings(constants[node.id], constants)
    if isinstance(node, ast.Tuple | ast.List):
        return set().union(*(strings(element, constants) for element in node.elts))
    if isinstance(node, ast.Dict):
        return {key.value for key in node.keys}
    if isinstance(node, ast.GeneratorExp) and isinstance(node.elt, ast.JoinedStr):
        prefix = node.elt.values[0].value
        return {prefix + name for name in strings(node.generators[0].iter, constants)}
    return set()


def rows(probe, *tables):
    return [r for r in probe.ort.support_matrix() if r.table in tables]


@HOST
def test_every_slot_has_exactly_one_row(probe):
    listed = [(r.table, r.name, r.index) for r in rows(probe, *TABLES)]
    expected = [(t, m["name"], m["index"]) for t in TABLES for m in members(t).values()]
    assert sorted(listed) == sorted(expected)


@HOST
def test_every_slot_row_has_one_of_two_statuses(probe):
    assert {r.status for r in rows(probe, *TABLES)} == {"supported", "not_implemented"}


@HOST
def test_every_supported_slot_has_a_contract_test(probe):
    supported = {f"{r.table}.{r.name}" for r in rows(probe, *TABLES) if r.status == "supported"}
    assert supported - named("slot") == set()


@HOST
def test_every_slot_with_a_contract_test_is_supported(probe):
    stubs = {f"{r.table}.{r.name}" for r in rows(probe, *TABLES) if r.status == "not_implemented"}
    assert stubs & named("slot") == set()


@HOST
def test_every_stated_limit_is_shown_by_a_contract_test(probe):
    limited = {f"{r.table}.{r.name}" for r in rows(probe, *TABLES) if r.limit}
    assert limited == named("limit")


@HOST
def test_every_callback_has_exactly_one_row(probe):
    listed = [(r.table, r.name) for r in rows(probe, *CALLBACKS)]
    expected = [(t, m["name"]) for t in CALLBACKS for m in members(t).values() if m["kind"] == "function_pointer"]
    assert sorted(listed) == sorted(expected)


@HOST
def test_every_callback_that_is_invoked_has_a_contract_test(probe):
    invoked = {f"{r.table}.{r.name}" for r in rows(probe, *CALLBACKS) if r.status.startswith("invoked")}
    assert invoked - named("slot") == set()


@pytest.mark.parametrize("table", TABLES + CALLBACKS)
def test_every_named_slot_exists(table):
    unknown = {s for s in named("slot") if s.split(".")[0] == table and s.split(".")[1] not in members(table)}
    assert unknown == set()
