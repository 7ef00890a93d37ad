# SPDX-License-Identifier: Apache-2.0
"""The instruction-set libraries: nothing compiled for a newer processor may become the copy that everybody runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from link_graph.elf import archive_global_symbols, archive_weak_symbols
from link_graph.include_rules import ROOT, not_c_headers, sources

SIMD = ROOT / "packages" / "runtime" / "src" / "simd"
LEVELS = ("baseline", "avx2", "avx512")


@pytest.mark.parametrize("level", LEVELS)
def test_objects_define_no_weak_symbol(level: str, build: Path) -> None:
    assert archive_weak_symbols(build / "packages" / "runtime" / f"liblight_simd_{level}.a") == set()


@pytest.mark.parametrize("level", LEVELS)
def test_objects_define_one_table(level: str, build: Path) -> None:
    symbols = archive_global_symbols(build / "packages" / "runtime" / f"liblight_simd_{level}.a")
    assert len(symbols) == 1, symbols


def test_a_weak_symbol_is_found(breaking: Path) -> None:
    found = archive_weak_symbols(breaking / "liblink_graph_weak_simd.a")
    assert any("max_element" in name for name in found)


def test_sources_include_only_c_headers_and_their_own() -> None:
    files = [source for source in sources(SIMD) if source.name != "simd.h"]
    assert files
    assert {source.name: found for source in files if (found := not_c_headers(source, SIMD))} == {}


def test_an_include_of_the_cxx_library_is_found() -> None:
    assert not_c_headers(ROOT / "fixtures" / "link_graph" / "weak_simd.cc", SIMD) == ["algorithm"]
