# SPDX-License-Identifier: Apache-2.0
"""RNN, GRU and LSTM against their equations in numpy's float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from float_checks import FLOATS, close, uniform
from kernel_arrays import kind

Function = Callable[[np.ndarray], Any]
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def f32(value: float) -> float:
    """Return what an attribute holds."""
    return float(np.float32(value))


FUNCTIONS: dict[str, Function] = {
    "Sigmoid": sigmoid,
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Softplus": lambda x: np.log(1 + np.exp(x)),
    "Affine": lambda x: x,
    "Elu": lambda x: np.where(x >= 0, x, np.exp(x) - 1),
    "HardSigmoid": lambda x: np.clip(f32(0.2) * x + 0.5, 0, 1),
    "LeakyRelu": lambda x: np.where(x >= 0, x, f32(0.01) * x),
    "ThresholdedRelu": lambda x: np.where(x >= 1, x, 0),
    "ScaledTanh": np.tanh,
}


def layer(
    op: str,
    x: np.ndarray,
    w: np.ndarray,
    r: np.ndarray,
    b: np.ndarray | None = None,
    lengths: np.ndarray | None = None,
    h0: np.ndarray | None = None,
    c0: np.ndarray | None = None,
    p: np.ndarray | None = None,
    direction: str = "forward",
    functions: Sequence[Function] | None = None,
    clip: float = np.inf,
    linear_before_reset: int = 0,
    input_forget: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Y, Y_h and Y_c of a layer of [steps, batch, input], one sequence and one step at a time."""
    steps, batch, _ = x.shape
    directions, _, hidden = r.shape
    functions = functions or [FUNCTIONS[f] for f in DEFAULTS[op]] * directions
    each = len(functions) // directions
    y = np.zeros((steps, directions, batch, hidden))
    last_h, last_c = np.zeros((directions, batch, hidden)), np.zeros((directions, batch, hidden))
    for d in range(directions):
        f = functions[d * each : (d + 1) * each]
        wx, wr = np.split(w[d].astype(float), GATES[op]), np.split(r[d].astype(float), GATES[op])
        biases = np.zeros(2 * GATES[op] * hidden) if b is None else b[d].astype(float)
        bx, br = (np.split(part, GATES[op]) for part in np.split(biases, 2))
        peepholes = np.split(np.zeros(3 * hidden) if p is None else p[d].astype(float), 3)
        for s in range(batch):
            h = np.zeros(hidden) if h0 is None else h0[d, s].astype(float)
            c = np.zeros(hidden) if c0 is None else c0[d, s].astype(float)
            times = range(steps if lengths is None else int(lengths[s]))
            for t in reversed(times) if direction == "reverse" or d == 1 else times:
                xt = x[t, s].astype(float)

                def gate(g: int, state: np.ndarray, extra: Any = 0.0) -> Any:
                    return np.clip(xt @ wx[g].T + state @ wr[g].T + bx[g] + br[g] + extra, -clip, clip)  # noqa: B023

                if op == "RNN":
                    h = f[0](gate(0, h))
                elif op == "GRU":
                    z, reset = f[0](gate(0, h)), f[0](gate(1, h))
                    if linear_before_reset:
                        candidate = xt @ wx[2].T + bx[2] + reset * (h @ wr[2].T + br[2])
                        candidate = f[1](np.clip(candidate, -clip, clip))
                    else:
                        candidate = f[1](gate(2, reset * h))
                    h = (1 - z) * candidate + z * h
                else:
                    i = f[0](gate(0, h, peepholes[0] * c))
                    forget = 1 - i if input_forget else f[0](gate(2, h, peepholes[2] * c))
                    c = forget * c + i * f[1](gate(3, h))
                    h = f[0](gate(1, h, peepholes[1] * c)) * f[2](np.clip(c, -clip, clip))
                y[t, d, s] = h
            if lengths is None or lengths[s]:  # ONNX Runtime gives zeros for an empty sequence
                last_h[d, s], last_c[d, s] = h, c
    return y, last_h, last_c


def make(rng: Any, op: str, dtype: Any, directions: int, steps: int, batch: int, size: int, hidden: int) -> list[Any]:
    """Return all inputs; the weights small enough that the gates are not all saturated."""
    gates = GATES[op]
    shapes = [
        (steps, batch, size), (directions, gates * hidden, size), (directions, gates * hidden, hidden),
        (directions, 2 * gates * hidden), None, (directions, batch, hidden),
        *([(directions, batch, hidden), (directions, 3 * hidden)] if op == "LSTM" else []),
    ]  # fmt: skip
    inputs = [None if s is None else (uniform(rng, s, np.float64) / 2).astype(dtype) for s in shapes]
    inputs[4] = rng.integers(0, steps + 1, batch).astype(np.int32)
    return inputs


def by_batch(inputs: list[Any]) -> list[Any]:
    """Return inputs in layout 1."""
    swapped = list(inputs)
    for i in (0, 5, 6):
        if i < len(inputs) and inputs[i] is not None:
            swapped[i] = np.ascontiguousarray(inputs[i].swapaxes(0, 1))
    return swapped


def check(
    run_node: Any, op: str, inputs: list[Any], dtype: Any, scale: float = 20, constants: Sequence[int] = (),
    attributes: dict[str, Any] | None = None, opset: int = 22, **more: Any,
) -> None:  # fmt: skip
    """Compare both layouts with the equations."""
    attributes = {"hidden_size": inputs[2].shape[2], **(attributes or {})}
    count = 3 if op == "LSTM" else 2
    known: dict[str, Any] = {
        k: v for k, v in attributes.items() if k in ("direction", "linear_before_reset", "input_forget")
    }
    y, *last = layer(op, *inputs, **{**known, **more})
    for threads in (1, 2):
        got = run_node(op, inputs, opset, [kind(dtype)] * count, constants=constants, threads=threads, **attributes)
        for one, want in zip(got, [y, *last], strict=False):
            close(one, want, dtype, scale)
    if opset >= 14:
        got = run_node(op, by_batch(inputs), opset, [kind(dtype)] * count, constants=constants, layout=1, **attributes)
        close(got[0], y.transpose(2, 0, 1, 3), dtype, scale)
        for one, want in zip(got[1:], last, strict=False):
            close(one, want.swapaxes(0, 1), dtype, scale)


@pytest.mark.parametrize("op", list(GATES))
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("extents", [(5, 3, 4, 6), (1, 1, 1, 1), (7, 2, 33, 17)], ids=str)
def test_layers(run_node: Any, rng: Any, op: str, dtype: Any, direction: str, constant: bool, extents: Any) -> None:
    inputs = make(rng, op, dtype, 2 if direction == "bidirectional" else 1, *extents)
    constants = [1, 2, 3] if constant else []
    check(run_node, op, inputs, dtype, constants=constants, attributes={"direction": direction})
    plain = inputs[:3]
    check(run_node, op, plain, dtype, constants=constants[:2], attributes={"direction": direction})


@pytest.mark.parametrize("opset", [7, 14])
@pytest.mark.parametrize("op", list(GATES))
def test_older_versions(run_node: Any, rng: Any, op: str, opset: int) -> None:
    check(run_node, op, make(rng, op, np.float32, 1, 4, 2, 3, 5), np.float32, opset=opset)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("linear", [0, 1])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("clip", [None, 0.3])
def test_gru_options(run_node: Any, rng: Any, dtype: Any, linear: int, direction: str, clip: float | None) -> None:
    inputs = make(rng, "GRU", dtype, 2 if direction == "bidirectional" else 1, 5, 3, 4, 6)
    attributes: dict[str, Any] = {"linear_before_reset": linear, "direction": direction}
    more: dict[str, Any] = {}
    if clip is not None:
        attributes["clip"], more["clip"] = clip, f32(clip)
    check(run_node, "GRU", inputs, dtype, attributes=attributes, **more)
    inputs[3] = None
    check(run_node, "GRU", inputs, dtype, attributes=attributes, **more)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("coupled", [0, 1])
@pytest.mark.parametrize("clip", [None, 0.2])
def test_lstm_options(run_node: Any, rng: Any, dtype: Any, coupled: int, clip: float | None) -> None:
    inputs = make(rng, "LSTM", dtype, 2, 5, 3, 4, 6)
    attributes: dict[str, Any] = {"input_forget": coupled, "direction": "bidirectional"}
    more: dict[str, Any] = {}
    if clip is not None:
        attributes["clip"], more["clip"] = clip, f32(clip)
    for omitted in ([], [3], [4], [5], [6], [7], [3, 4, 5, 6]):
        some = [None if i in omitted else a for i, a in enumerate(inputs)]
        check(run_node, "LSTM", some, dtype, attributes=attributes, **more)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_functions(run_node: Any, rng: Any, dtype: Any, name: str) -> None:
    inputs = make(rng, "RNN", dtype, 1, 4, 3, 4, 6)
    inputs[0] = inputs[0] * 4
    check(run_node, "RNN", inputs, dtype, 200, attributes={"activations": [name]}, functions=[FUNCTIONS[name]])


def test_parameters_of_functions(run_node: Any, rng: Any) -> None:
    inputs = make(rng, "LSTM", np.float64, 2, 4, 3, 4, 6)
    # Functions that have a parameter take the next one of the list, the others none.
    names = ["HardSigmoid", "Tanh", "LeakyRelu", "Sigmoid", "Affine", "ScaledTanh"]
    alphas, betas = [0.3, 0.125, 0.5, 0.75], [0.25, 0.5, 1.5]
    functions: list[Function] = [
        lambda x: np.clip(f32(0.3) * x + 0.25, 0, 1),
        np.tanh,
        lambda x: np.where(x >= 0, x, 0.125 * x),
        sigmoid,
        lambda x: 0.5 * x + 0.5,
        lambda x: 0.75 * np.tanh(1.5 * x),
    ]
    attributes = {"activations": names, "activation_alpha": alphas, "activation_beta": betas}
    check(
        run_node, "LSTM", inputs, np.float64, attributes={"direction": "bidirectional", **attributes},
        functions=functions,
    )  # fmt: skip


@pytest.mark.parametrize("op", list(GATES))
def test_without_steps_sequences_or_elements(run_node: Any, rng: Any, op: str) -> None:
    for extents in [(0, 2, 3, 4), (3, 0, 3, 4), (3, 2, 0, 4)]:
        inputs = make(rng, op, np.float32, 1, *extents)
        check(run_node, op, inputs, np.float32)


@pytest.mark.parametrize("op", list(GATES))
def test_only_the_last_state(run_node: Any, rng: Any, op: str) -> None:
    inputs = make(rng, op, np.float32, 1, 5, 2, 3, 4)
    (got,) = run_node(op, inputs, 22, [0, 1], hidden_size=4)
    close(got, layer(op, *inputs)[1], np.float32, 20)


@pytest.mark.parametrize(("attributes", "message"), [
    ({"direction": "up"}, "direction: must be forward, reverse or bidirectional, got up"),
    ({"activations": ["Sine", "Tanh"]}, "activations: must be among .*, got Sine"),
    ({"activations": ["Tanh"]}, "activations: must name 2 functions, got 1"),
    ({"clip": -1.0}, "clip: must not be negative"),
    ({"hidden_size": 5}, r"input 1 \(W\): must have extents \[1, 15, 3\], got float\[1, 12, 3\]"),
])  # fmt: skip
def test_attributes(run_node: Any, rng: Any, attributes: Any, message: str) -> None:
    inputs = make(rng, "GRU", np.float32, 1, 5, 2, 3, 4)
    with pytest.raises(Exception, match=message):
        run_node("GRU", inputs, 22, [1, 1], unranked=True, **{"hidden_size": 4, **attributes})


def test_inputs(run_node: Any, rng: Any) -> None:
    for i, wrong, message in [
        (0, np.zeros((5, 2), np.float32), r"input 0 \(X\): must have rank 3"),
        (2, np.zeros((1, 16, 3), np.float32), r"input 2 \(R\): must have extents \[1, 16, 4\]"),
        (3, np.zeros((1, 16), np.float32), r"input 3 \(B\): must have extents \[1, 32\]"),
        (4, np.array([1, 6], np.int32), r"input 4 \(sequence_lens\): must be in \[0, 5\], got 6"),
        (5, np.zeros((1, 3, 4), np.float32), r"input 5 \(initial_h\): must have extents \[1, 2, 4\]"),
        (6, np.zeros((2, 2, 4), np.float32), r"input 6 \(initial_c\): must have extents \[1, 2, 4\]"),
        (7, np.zeros((1, 8), np.float32), r"input 7 \(P\): must have extents \[1, 12\]"),
    ]:
        inputs = make(rng, "LSTM", np.float32, 1, 5, 2, 3, 4)
        inputs[i] = wrong
        with pytest.raises(Exception, match=message):
            run_node("LSTM", inputs, 22, [1, 1, 1], unranked=True, hidden_size=4)
