# SPDX-License-Identifier: Apache-2.0
"""What went into the plugin's link, by the linker's own account."""

from __future__ import annotations

from pathlib import Path

from link_graph.library_rules import foreign_link_inputs
from link_graph.products import products

ROOMS = {"packages/ort_plugin", "packages/runtime", "packages/shared_conversions"}


def test_the_plugin_is_linked_from_its_own_rooms(build: Path) -> None:
    plugins = [product.path for product in products() if not product.needs_python]
    assert [foreign_link_inputs(plugin.with_suffix(".map"), build, ROOMS) for plugin in plugins] == [
        [] for _ in plugins
    ]


def test_an_input_from_elsewhere_is_found(breaking: Path, build: Path) -> None:
    found = foreign_link_inputs(breaking / "foreign_input.map", build, ROOMS)
    assert any(name.endswith("liblink_graph_foreign_static.a") for name in found)


def test_a_map_without_inputs_is_an_error(tmp_path: Path) -> None:
    empty = tmp_path / "empty.map"
    empty.write_text("Memory Configuration\n")
    assert foreign_link_inputs(empty, tmp_path, ROOMS) == [f"{empty}: no LOAD lines"]


def test_a_library_of_the_system_folder_is_not_the_compilers(tmp_path: Path) -> None:
    link_map = tmp_path / "system.map"
    link_map.write_text("LOAD /usr/lib/libonnxruntime.so\nLOAD /usr/lib/libc.so.6\n")
    assert foreign_link_inputs(link_map, tmp_path, ROOMS) == ["/usr/lib/libonnxruntime.so"]
