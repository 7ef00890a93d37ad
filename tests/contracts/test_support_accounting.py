# SPDX-License-Identifier: Apache-2.0
"""The support matrix and the contract tests name the same slots."""

import pytest
from contracts.harness.abi import members
from contracts.named_slots import slots_with_tests

pytestmark = pytest.mark.slot()
HOST = pytest.mark.host_stricter

TABLES = ["OrtApiBase", "OrtApi", "OrtEpApi", "OrtModelEditorApi", "OrtCompileApi", "OrtInteropApi"]
CALLBACKS = [
    "OrtCustomOp",
    "OrtAllocator",
    "OrtEpFactory",
    "OrtEp",
    "OrtNodeComputeInfo",
    "OrtKernelImpl",
    "OrtDataTransferImpl",
]


def named(marker):
    """Return every slot that a test file of this folder passes to a marker."""
    return set(slots_with_tests(marker))


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


@HOST
@pytest.mark.parametrize("name", ["support_matrix.json", "support_matrix.md"])
def test_page_says_what_the_tables_and_the_tests_say(probe, name):
    import support_page  # which imports the host: not when the tests run against ONNX Runtime

    path = support_page.DOCS / name
    assert path.read_text(encoding="utf-8") == support_page.pages()[path], "run ./dev support-matrix"
