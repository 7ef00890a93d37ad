# SPDX-License-Identifier: Apache-2.0
"""What a kernel wants of a node beyond its types, for the operators whose kernels decline some nodes.

A rule may refuse a node that the kernel would take, never the other way: such a node would fail in ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_NUMBERS = frozenset(
    {"float", "double", "float16", "bfloat16"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)

Attributes = dict[str, Any]
Rule = Callable[[Any, int, Attributes, list[str | None]], bool]


def _dropout(node: Any, since: int, attributes: Attributes, _: list[str | None]) -> bool:
    """Random dropout is not supported; before version 7 it is the default."""
    if since < 7:
        return bool(attributes.get("is_test", 0))
    return len(node.input) < 3 or not node.input[2]


def _batch_normalization(node: Any, since: int, attributes: Attributes, _: list[str | None]) -> bool:
    """Training is supported from version 14 on."""
    if since >= 14:
        return True
    return not any(node.output[1:]) and (since >= 7 or bool(attributes.get("is_test", 0)))


def _scatter(_: Any, __: int, attributes: Attributes, elements: list[str | None]) -> bool:
    return attributes.get("reduction", b"none") == b"none" or elements[0] in _NUMBERS


def _quantize(_: Any, __: int, attributes: Attributes, elements: list[str | None]) -> bool:
    """The division is done in one of the larger floating point types."""
    return attributes.get("precision", 0) == 0 and elements[1] in ("float", "float16", "bfloat16")


def _resize(_: Any, __: int, ___: Attributes, elements: list[str | None]) -> bool:
    return elements[0] in _NUMBERS


# By operator: node, version, attributes as `onnx.helper.get_attribute_value` gives them, element types of the inputs.
_RULES: dict[str, Rule] = {
    "BatchNormalization": _batch_normalization,
    "Constant": lambda _, __, attributes, ___: "sparse_value" not in attributes,
    "Dropout": _dropout,
    "QuantizeLinear": _quantize,
    "Range": lambda _, __, attributes, ___: attributes.get("stash_type", 1) == 1,
    "Resize": _resize,
    "Scatter": _scatter,
    "ScatterElements": _scatter,
    "ScatterND": _scatter,
    "Split": lambda node, since, _, __: since != 1 or len(node.input) < 2,
    "Upsample": _resize,
}


def is_surely_taken(node: Any, since: int, attributes: Attributes, elements: list[str | None]) -> bool:
    """Return whether the kernel of an operator that declines some nodes takes this one. Without a rule: no."""
    rule = _RULES.get(node.op_type)
    return rule is not None and rule(node, since, attributes, elements)
