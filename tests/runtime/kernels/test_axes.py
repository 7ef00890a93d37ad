# SPDX-License-Identifier: Apache-2.0
"""Lists of axes, which many operators have: an axis that is given twice is refused wherever it is."""

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
TWICE = r"node .*: (input \d \(axes\)|(attribute )?axes): must be distinct, got axis 2 twice in \[2, -[24]\]"


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


def run_with_axis_2_twice(run_node: Any, op_type: str, opset: int, by_attribute: bool, ahead: bool) -> None:
    """Run a node; `ahead` says whether what inference has to know is known before the run."""
    axes = [2, -4 if op_type == "Unsqueeze" else -2]
    inputs: list[np.ndarray | None] = [X]
    attributes: dict[str, Any] = {"axes": axes} if by_attribute else {}
    if op_type == "Slice" and by_attribute:
        attributes |= {"starts": [0, 0], "ends": [1, 1]}
    else:
        inputs += BETWEEN.get(op_type, [])
    if not by_attribute:
        inputs.append(int64(axes))
    constants = [len(inputs) - 1] if ahead and not by_attribute else []
    run_node(op_type, inputs, opset, constants=constants, unranked=not ahead, **attributes)


@pytest.mark.parametrize(("op_type", "opset", "by_attribute"), OPERATORS)
def test_an_axis_given_twice_is_refused_by_the_kernel(
    run_node: Any, op_type: str, opset: int, by_attribute: bool
) -> None:
    with pytest.raises(InvalidArgument, match=TWICE):
        run_with_axis_2_twice(run_node, op_type, opset, by_attribute, ahead=False)


@pytest.mark.parametrize(("op_type", "opset", "by_attribute"), OPERATORS)
def test_an_axis_given_twice_is_refused_ahead(run_node: Any, op_type: str, opset: int, by_attribute: bool) -> None:
    """Where extents are inferred from the axes, the session is refused."""
    is_inferred = op_type.startswith("Reduce") or op_type in ("Slice", "Squeeze", "Unsqueeze")
    with pytest.raises(InvalidGraph if is_inferred else InvalidArgument, match=TWICE):
        run_with_axis_2_twice(run_node, op_type, opset, by_attribute, ahead=True)
