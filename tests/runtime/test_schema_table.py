# SPDX-License-Identifier: Apache-2.0
"""The generated table says of every operator what the onnx package says."""

from __future__ import annotations

import math
from typing import Any

import onnx
import pytest
from onnx.defs import OpSchema

OPTIONS = {
    OpSchema.FormalParameterOption.Single: 0,
    OpSchema.FormalParameterOption.Optional: 1,
    OpSchema.FormalParameterOption.Variadic: 2,
}


def known_types(types: Any) -> set[str]:
    """Return the type strings that the runtime tells apart; it lumps maps together."""
    plain = {t for t in types if "map(" not in t}
    return plain | ({"other types"} if set(types) != plain else set())


def same_default(ours: Any, attribute: OpSchema.Attribute) -> bool:
    """Compare an attribute's default."""
    if not attribute.default_value.type:
        return ours is None
    theirs = onnx.helper.get_attribute_value(attribute.default_value)
    if isinstance(theirs, bytes):
        return bool(ours == theirs.decode())
    if isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-8)
    if isinstance(theirs, list):
        return bool(ours == [item.decode() if isinstance(item, bytes) else item for item in theirs])
    return bool(ours == theirs)


@pytest.fixture(scope="module")
def table(schemas: list[dict[str, Any]]) -> dict[tuple[str, str, int], dict[str, Any]]:
    return {(schema["domain"], schema["name"], schema["since"]): schema for schema in schemas}


def test_same_operators(table: dict[tuple[str, str, int], dict[str, Any]]) -> None:
    theirs = {(s.domain, s.name, s.since_version) for s in onnx.defs.get_all_schemas_with_history()}
    assert set(table) == theirs
    assert len(theirs) >= 600


def test_same_formals(table: dict[tuple[str, str, int], dict[str, Any]]) -> None:
    for schema in onnx.defs.get_all_schemas_with_history():
        ours = table[schema.domain, schema.name, schema.since_version]
        for key, formals in (("inputs", schema.inputs), ("outputs", schema.outputs)):
            assert len(ours[key]) == len(formals), schema.name
            for row, formal in zip(ours[key], formals, strict=True):
                name, parameter, types, option, homogeneous, min_arity = row
                assert name == formal.name
                assert parameter == formal.type_str
                assert set(types.split(", ")) == known_types(formal.types), (schema.name, schema.since_version, name)
                assert option == OPTIONS[formal.option]
                assert homogeneous == formal.is_homogeneous
                assert min_arity == formal.min_arity


def test_same_arity_and_attributes(table: dict[tuple[str, str, int], dict[str, Any]]) -> None:
    for schema in onnx.defs.get_all_schemas_with_history():
        ours = table[schema.domain, schema.name, schema.since_version]
        assert ours["deprecated"] == schema.deprecated
        assert ours["arity"] == [schema.min_input, schema.max_input, schema.min_output, schema.max_output], schema.name
        assert {row[0] for row in ours["attributes"]} == set(schema.attributes)
        for name, kind, required, default in ours["attributes"]:
            attribute = schema.attributes[name]
            assert kind == int(attribute.type.value)
            assert required == attribute.required
            assert same_default(default, attribute), (schema.name, schema.since_version, name, default)
