# SPDX-License-Identifier: Apache-2.0
"""The pages of the operators and of their errors say what the registry of kernels and the tests say."""

from __future__ import annotations

from types import ModuleType

import error_bounds_page
import onnx
import operators_page
import pytest


@pytest.mark.parametrize("generator", [operators_page, error_bounds_page])
def test_page_is_what_would_be_written(generator: ModuleType) -> None:
    for path, text in generator.pages().items():
        assert path.read_text(encoding="utf-8") == text, "run ./dev support-matrix"


def test_every_operator_has_one_row() -> None:
    listed = [(domain, one.name) for domain, found in operators_page.operators().items() for one in found]
    assert sorted(listed) == sorted({(s.domain, s.name) for s in onnx.defs.get_all_schemas_with_history()})
    rows = [line for line in operators_page.page().splitlines() if line.startswith("| ") and "| operator |" not in line]
    assert [line.split(" | ")[0].removeprefix("| ") for line in rows] == [name for _, name in listed]


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("RegexFullMatch", "`onnx.reference`"),
        ("ZipMap", "not run: there are no values that are maps"),
        ("CategoryMapper", "not run: onnx.reference does not have it"),
        ("FlexAttention", "not run: onnx.reference is not asked for nodes with subgraphs"),
        ("Upsample", "refused: ONNX has withdrawn the operator"),
    ],
)
def test_what_has_no_kernel_has_a_reason(name: str, runs: str) -> None:
    found = {one.name: one for of_domain in operators_page.operators().values() for one in of_domain}
    assert {operators_page.without_kernel(schema) for schema in found[name].others} == {runs}
