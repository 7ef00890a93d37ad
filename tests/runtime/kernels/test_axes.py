# SPDX-License-Identifier: Apache-2.0
"""Lists of axes, which many operators have: one that is given twice, or is none, is refused wherever it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from kernel_arrays import int64
from onnx_light_ort_host import InvalidArgument, InvalidGraph

X = np.ones((1, 3, 1, 4), np.float32)
# What operators need besides the data and the axes: the inputs between them.
BETWEEN: dict[str, list[np.ndarray | None]] = {
    "CenterCropPad": [int64([1, 1])],
    "Pad": [int64([0, 0, 0, 0]), None],
    "Resize": [None, None, int64([2, 2])],
    "Slice": [int64([0, 0]), int64([1, 1])],
}
# What is wrong with two axes, and the message.
WRONG = {
    "twice": ([2, -2], r"must be distinct, got axis 2 twice in \[2, -[24]\]"),
    "beyond": ([2, -9], r"must be in \[-\d, \d\] for rank \d, got -9"),
}


def operators() -> list[tuple[str, int, bool]]:
    """Return the operators of ONNX with a list of axes, the last opset that has it, and whether it is an attribute."""
    found: dict[tuple[str, bool], int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        has = {True: "axes" in schema.attributes, False: any(formal.name == "axes" for formal in schema.inputs)}
        if schema.domain or schema.deprecated:
            continue
        for by_attribute in (True, False):
            if has[by_attribute]:
                key = schema.name, by_attribute
                found[key] = max(found.get(key, 0), schema.since_version)
    return sorted((name, since, by_attribute) for (name, by_attribute), since in found.items())


OPERATORS = operators()


def test_all_kinds_of_operators_are_there() -> None:
    assert len([name for name, _, _ in OPERATORS if name.startswith("Reduce")]) == 20
    assert {name for name, _, _ in OPERATORS if not name.startswith("Reduce")} == {
        "CenterCropPad", "MeanVarianceNormalization", "Pad", "Resize", "Slice", "Squeeze", "Unsqueeze",
    }  # fmt: skip


def refused(
    run_node: Any, op_type: str, opset: int, by_attribute: bool, kind: str, ahead: bool, error: type[Exception]
) -> None:
    """Run a node, which is refused; `ahead` says whether what inference has to know is known before the run."""
    axes, message = WRONG[kind]
    if op_type == "Unsqueeze" and kind == "twice":
        axes = [2, -4]
    inputs: list[np.ndarray | None] = [X]
    attributes: dict[str, Any] = {"axes": axes} if by_attribute else {}
    if op_type == "Slice" and by_attribute:
        attributes |= {"starts": [0, 0], "ends": [1, 1]}
    else:
        inputs += BETWEEN.get(op_type, [])
    if not by_attribute:
        inputs.append(int64(axes))
    place = "attribute axes" if by_attribute else rf"input {len(inputs) - 1} \(axes\)"
    constants = [len(inputs) - 1] if ahead and not by_attribute else []
    with pytest.raises(error, match=f"node .*: {place}: {message}"):
        run_node(op_type, inputs, opset, constants=constants, unranked=not ahead, **attributes)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(("op_type", "opset", "by_attribute"), OPERATORS)
def test_wrong_axes_are_refused_by_the_kernel(
    run_node: Any, op_type: str, opset: int, by_attribute: bool, kind: str
) -> None:
    refused(run_node, op_type, opset, by_attribute, kind, False, InvalidArgument)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(("op_type", "opset", "by_attribute"), OPERATORS)
def test_wrong_axes_are_refused_ahead(run_node: Any, op_type: str, opset: int, by_attribute: bool, kind: str) -> None:
    """Where extents are inferred from the axes, the session is refused."""
    is_inferred = op_type.startswith("Reduce") or op_type in ("Slice", "Squeeze", "Unsqueeze")
    refused(run_node, op_type, opset, by_attribute, kind, True, InvalidGraph if is_inferred else InvalidArgument)
