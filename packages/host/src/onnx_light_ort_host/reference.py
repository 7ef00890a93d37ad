# SPDX-License-Identifier: Apache-2.0
"""Nodes evaluated by ``onnx.reference``. Imported when the first such node appears."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

try:
    from onnx.reference import ReferenceEvaluator
except ImportError as error:
    raise ImportError(
        f"the package onnx is needed, which 'pip install onnx-light-ort-host[reference]' installs: {error}"
    ) from error


class NodeEvaluator:
    """One node, evaluated by ``onnx.reference``.

    Parameters
    ----------
    model : bytes
        A model that holds the node alone.

    Raises
    ------
    Exception
        Whatever ``onnx.reference`` raises for an operator that it does not have.
    """

    def __init__(self, model: bytes) -> None:
        self._evaluator = ReferenceEvaluator(model)
        self._input_names = self._evaluator.input_names

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """Evaluates the node. Safe from many threads.

        Parameters
        ----------
        inputs : sequence of numpy.ndarray, list or None
            The model's inputs in their order.

        Returns
        -------
        list of numpy.ndarray, list or None
            The model's outputs in their order.
        """
        with np.errstate(all="ignore"):  # what overflows is a result here, and no reason to warn
            outputs = self._evaluator.run(None, dict(zip(self._input_names, inputs, strict=True)))
        return [as_value(output) for output in outputs]


def as_value(output: Any) -> Any:
    """Returns what an operator returned with arrays in the place of scalars."""
    if isinstance(output, (list, tuple)):
        return [as_value(element) for element in output]
    return None if output is None else np.asarray(output)
