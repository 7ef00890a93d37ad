# SPDX-License-Identifier: Apache-2.0
"""The instruction-set libraries: nothing compiled for a newer processor may become the copy that everybody runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from link_graph.elf import archive_global_symbols, archive_weak_symbols
from link_graph.include_rules import ROOT, not_c_headers, sources, unwanted_flags

SIMD = ROOT / "packages" / "runtime" / "src" / "simd"
LEVELS = ("baseline", "avx2", "avx512")


@pytest.mark.parametrize("level", LEVELS)
def test_objects_define_no_weak_symbol(level: str, build: Path) -> None:
    assert archive_weak_symbols(build / "packages" / "runtime" / "src" / "simd" / f"liblight_simd_{level}.a") == set()


@pytest.mark.parametrize("level", LEVELS)
def test_objects_define_one_table(level: str, build: Path) -> None:
    symbols = archive_global_symbols(build / "packages" / "runtime" / "src" / "simd" / f"liblight_simd_{level}.a")
    # An address sanitizer adds a mark of its own to each global.
    assert len({name.removeprefix("__odr_asan.") for name in symbols}) == 1, symbols


def test_a_weak_symbol_is_found(breaking: Path) -> None:
    found = archive_weak_symbols(breaking / "liblink_graph_weak_simd.a")
    assert any("max_element" in name for name in found)


def test_sources_include_only_c_headers_and_their_own() -> None:
    files = [source for source in sources(SIMD) if source.name != "simd.h"]
    assert files
    assert {source.name: found for source in files if (found := not_c_headers(source, SIMD))} == {}


def test_an_include_of_the_cxx_library_is_found() -> None:
    assert not_c_headers(ROOT / "fixtures" / "link_graph" / "weak_simd.cc", SIMD) == ["algorithm"]


def test_only_these_objects_are_compiled_for_newer_processors(build: Path) -> None:
    commands = [
        (entry["output"], entry["command"].split())
        for entry in json.loads((build / "compile_commands.json").read_text())
        if not entry["output"].startswith("fixtures/")
    ]
    assert any("liblight_simd_avx512" in output for output, _ in commands)
    assert {output: found for output, flags in commands if (found := unwanted_flags(output, flags))} == {}


@pytest.mark.parametrize(
    ("output", "flag"),
    [
        ("packages/runtime/liblight.a.p/a.cc.o", "-mavx2"),
        ("packages/runtime/liblight.a.p/a.cc.o", "-march=native"),
        ("packages/runtime/src/simd/liblight_simd_baseline.a.p/baseline.cc.o", "-mfma"),
        ("packages/runtime/src/simd/liblight_simd_avx512.a.p/avx512.cc.o", "-ffast-math"),
        ("packages/host/libort_host.a.p/a.cc.o", "-Ofast"),
    ],
)
def test_an_unwanted_flag_is_found(output: str, flag: str) -> None:
    assert unwanted_flags(output, ["-O3", "-march=x86-64", flag, "-fno-math-errno"]) == [flag]
