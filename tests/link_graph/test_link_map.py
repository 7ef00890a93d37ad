# SPDX-License-Identifier: Apache-2.0
"""What went into a link, by the linker's own account."""

from __future__ import annotations

from pathlib import Path

from link_graph.library_rules import foreign_link_inputs
from link_graph.products import PLUGIN_ROOMS, products


def test_what_needs_no_python_is_linked_from_its_own_rooms(build: Path) -> None:
    found = {
        product.path.name: foreign_link_inputs(product.path.with_suffix(".map"), build, product.rooms)
        for product in products()
        if not product.needs_python
    }
    assert found == {name: [] for name in found}


def test_an_input_from_elsewhere_is_found(breaking: Path, build: Path) -> None:
    found = foreign_link_inputs(breaking / "foreign_input.map", build, PLUGIN_ROOMS)
    assert any(name.endswith("liblink_graph_foreign_static.a") for name in found)


def test_a_map_without_inputs_is_an_error(tmp_path: Path) -> None:
    empty = tmp_path / "empty.map"
    empty.write_text("Memory Configuration\n")
    assert foreign_link_inputs(empty, tmp_path, PLUGIN_ROOMS) == [f"{empty}: no LOAD lines"]


def test_a_library_of_the_system_folder_is_not_the_compilers(tmp_path: Path) -> None:
    link_map = tmp_path / "system.map"
    link_map.write_text("LOAD /usr/lib/libonnxruntime.so\nLOAD /usr/lib/libc.so.6\n")
    assert foreign_link_inputs(link_map, tmp_path, PLUGIN_ROOMS) == ["/usr/lib/libonnxruntime.so"]
