# SPDX-License-Identifier: Apache-2.0
"""Who includes whom, in what ninja compiled and in the sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from link_graph.include_rules import (
    ALLOWED,
    FOLDERS,
    ROOT,
    compiled_edges,
    forbidden_compiled,
    forbidden_in_source,
    ort_words,
    sources,
)

# The fixtures of these tests break the rules on purpose.
BREAKING = "fixtures/link_graph/"


@pytest.fixture(scope="module")
def edges(build: Path) -> list[tuple[str, str]]:
    return list(compiled_edges(build))


def test_what_was_compiled_includes_only_what_its_room_may_know(edges: list[tuple[str, str]], build: Path) -> None:
    own = [edge for edge in edges if not edge[0].startswith(BREAKING)]
    assert own
    assert forbidden_compiled(own, build) == []


def test_a_compiled_include_of_another_room_is_found(edges: list[tuple[str, str]], build: Path) -> None:
    found = forbidden_compiled([edge for edge in edges if edge[0].startswith(BREAKING)], build)
    assert {(Path(target).name, Path(included).name) for target, included in found} >= {
        ("foreign_include.cc.o", "shape.h")
    }
    assert {Path(target).name for target, _ in found} == {"foreign_include.cc.o"}


@pytest.mark.parametrize(
    ("target", "included"),
    [
        ("packages/runtime/liblight.a.p/a.cc.o", ROOT / "subprojects/ort_headers/include/ort_abi/barrier.h"),
        ("packages/runtime/liblight.a.p/a.cc.o", Path("/usr/include/python3.11/Python.h")),
        ("packages/host/libort_host.a.p/a.cc.o", ROOT / "packages/ort_plugin/src/plugin.h"),
        ("packages/ort_plugin/src/p.so.p/a.cc.o", ROOT / "packages/host/src/abi/table.h"),
        ("packages/ort_plugin/src/p.so.p/a.cc.o", Path("/usr/include/python3.11/Python.h")),
        ("packages/shared_conversions/libconversions.a.p/a.cc.o", ROOT / "packages/runtime/include/light/graph.h"),
        ("fixtures/probe/libprobe.so.p/a.cc.o", ROOT / "packages/runtime/include/light/graph.h"),
        ("packages/host/libort_host.a.p/a.cc.o", Path("/usr/include/onnxruntime/onnxruntime_c_api.h")),
    ],
)
def test_a_forbidden_edge_is_found(target: str, included: Path, build: Path) -> None:
    assert forbidden_compiled([(target, str(included))], build) == [(target, str(included))]


@pytest.mark.parametrize(("folder", "room"), FOLDERS.items())
def test_sources_include_only_what_their_room_may_know(folder: str, room: str) -> None:
    found = {
        str(source.relative_to(ROOT)): forbidden
        for source in sources(ROOT / folder)
        if not str(source.relative_to(ROOT)).startswith(BREAKING) and (forbidden := forbidden_in_source(source, room))
    }
    assert found == {}


def test_a_forbidden_include_in_a_source_is_found() -> None:
    source = ROOT / "fixtures" / "link_graph" / "foreign_include.cc"
    assert forbidden_in_source(source, "fixtures") == ["conversions/shape.h"]


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("runtime", "ort_abi/ort_c_api.h"),
        ("runtime", "Python.h"),
        ("ort_plugin", "numpy/arrayobject.h"),
        ("shared_conversions", "light/graph.h"),
        ("host", "onnxruntime_c_api.h"),
    ],
)
def test_a_forbidden_name_in_a_source_is_found(room: str, line: str, tmp_path: Path) -> None:
    source = tmp_path / "a.cc"
    source.write_text(f"#include <vector>\n  #  include <{line}>\n")
    assert forbidden_in_source(source, room) == [line]


def test_every_room_of_the_table_has_a_folder() -> None:
    assert set(FOLDERS.values()) == set(ALLOWED)
    assert [folder for folder in FOLDERS if not (ROOT / folder).is_dir()] == []


def test_the_runtime_does_not_speak_of_onnxruntime() -> None:
    runtime = ROOT / "packages" / "runtime"
    files = sources(runtime)
    assert files
    assert {str(source): words for source in files if (words := ort_words(source))} == {}


def test_a_word_of_onnxruntime_is_found(tmp_path: Path) -> None:
    source = tmp_path / "a.cc"
    source.write_text("// short: the OrtValue of ORT_API, an ort_host thing\nint sort_order;\n")
    assert ort_words(source) == ["OrtValue", "ORT_API", "ort_host"]
