# SPDX-License-Identifier: Apache-2.0
"""What the products' libraries need, export and leave undefined; each rule also against a library that breaks it."""

from __future__ import annotations

from pathlib import Path

import pytest
from link_graph.elf import read_library
from link_graph.library_rules import export_difference, foreign_dependencies, fragile_loading, undefined_matching
from link_graph.products import ENTRY_POINTS, Product, products

PRODUCTS = products()
every_product = pytest.mark.parametrize("product", PRODUCTS, ids=[product.path.name for product in PRODUCTS])


def test_something_was_built() -> None:
    assert PRODUCTS


@every_product
def test_needs_only_the_c_and_cxx_run_time(product: Product) -> None:
    assert foreign_dependencies(read_library(product.path)) == []


def test_a_needed_library_of_somebody_else_is_found(breaking: Path) -> None:
    library = read_library(breaking / "liblink_graph_foreign_needed.so")
    assert foreign_dependencies(library) == ["liblink_graph_foreign.so"]


@every_product
def test_loads_without_search_path_and_text_relocations(product: Product) -> None:
    assert fragile_loading(read_library(product.path)) == []


def test_a_search_path_is_found(breaking: Path) -> None:
    assert fragile_loading(read_library(breaking / "liblink_graph_search_path.so")) == ["search path /opt/nowhere"]


def test_text_relocations_are_found(breaking: Path) -> None:
    assert fragile_loading(read_library(breaking / "liblink_graph_text_relocation.so")) == ["text relocations"]


@every_product
def test_exports_its_entry_points_and_nothing_else(product: Product) -> None:
    assert export_difference(read_library(product.path), product.exports) == []


def test_another_export_is_found(breaking: Path) -> None:
    assert export_difference(read_library(breaking / "liblink_graph_extra_export.so"), ENTRY_POINTS) == ["+Leaked"]


def test_a_missing_export_is_found(breaking: Path) -> None:
    library = read_library(breaking / "liblink_graph_search_path.so")
    assert export_difference(library, ENTRY_POINTS | {"Absent"}) == ["-Absent"]


@every_product
def test_leaves_no_name_of_onnxruntime_undefined(product: Product) -> None:
    assert undefined_matching(read_library(product.path), "Ort") == []


def test_an_undefined_name_of_onnxruntime_is_found(breaking: Path) -> None:
    library = read_library(breaking / "liblink_graph_undefined_ort.so")
    assert undefined_matching(library, "Ort") == ["OrtGetApiBase"]


def test_who_provides_the_entry_point_of_onnxruntime() -> None:
    """One library apart, which is opened on demand and not named like ONNX Runtime."""
    found = [product.path for product in PRODUCTS if "OrtGetApiBase" in product.exports]
    hosts = [product for product in PRODUCTS if product.needs_python]
    assert [path.name for path in found] == ["libonnx_light_ort_api_base.so"] * bool(hosts)


def test_the_plugin_leaves_no_name_of_python_undefined() -> None:
    plugins = [product.path for product in PRODUCTS if not product.needs_python]
    assert [undefined_matching(read_library(plugin), "_?Py") for plugin in plugins] == [[] for _ in plugins]


def test_an_undefined_name_of_python_is_found(breaking: Path) -> None:
    library = read_library(breaking / "liblink_graph_undefined_python.so")
    assert undefined_matching(library, "_?Py") == ["PyErr_Clear"]


@every_product
def test_exports_no_unique_symbol(product: Product) -> None:
    assert read_library(product.path).unique == frozenset()


def test_a_unique_symbol_is_found(breaking: Path) -> None:
    """A library with one can never be unloaded, and shares the variable with every other library that has it."""
    library = read_library(breaking / "liblink_graph_unique_export.so")
    assert library.unique == {"_ZZN7Counter5ValueEvE5value"}
