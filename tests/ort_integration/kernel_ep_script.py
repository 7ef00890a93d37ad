# SPDX-License-Identifier: Apache-2.0
"""A user's script on a library of registered kernels: kernel_ep_script.py MODULE CASE; prints JSON.

But for the name in the import it is the same for the host and for ONNX Runtime.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from fixture_eps import EpFixture, model_of, providers_of, tensors

RNG = np.random.default_rng(11)


def numbers(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Return small whole numbers: no order of summation changes a result."""
    return RNG.integers(-4, 5, shape).astype(dtype)


def chain() -> tuple[ModelProto, list[dict[str, np.ndarray]]]:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], name="matmul"),
        helper.make_node("Add", ["m", "b"], ["a"], name="add"),
        helper.make_node("Sub", ["a", "b"], ["s"], name="sub"),
        helper.make_node("Axpy", ["s", "a"], ["p"], name="axpy", domain="kernel_ep", alpha=-2.0),
        helper.make_node("Relu", ["p"], ["r"], name="relu"),
        helper.make_node("Mul", ["r", "r"], ["q"], name="mul"),
        helper.make_node("Unsqueeze", ["q", "zero"], ["u"], name="unsqueeze"),
        helper.make_node("Squeeze", ["u", "zero"], ["y"], name="squeeze"),
    ]
    weights = {"w": numbers(4, 3), "b": numbers(3), "zero": np.array([0])}
    model = model_of(nodes, tensors("x", shape=["n", 4]), tensors(["y", "a"]), weights)
    return model, [{"x": numbers(rows, 4)} for rows in (2, 5, 0, 1)]


def types() -> tuple[ModelProto, list[dict[str, np.ndarray]]]:
    """Types that have a kernel, and types that have none."""
    kinds = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.float16]
    names = [f"{kind.__name__}" for kind in kinds]
    nodes = [helper.make_node("Add", [f"x_{n}", f"x_{n}"], [f"y_{n}"], name=f"add_{n}") for n in names]
    inputs = [tensors([f"x_{n}"], kind, [3])[0] for n, kind in zip(names, kinds, strict=True)]
    outputs = [tensors([f"y_{n}"], kind)[0] for n, kind in zip(names, kinds, strict=True)]
    feeds = {f"x_{n}": numbers(3, dtype=kind) for n, kind in zip(names, kinds, strict=True)}
    return model_of(nodes, inputs, outputs), [feeds]


def older_operators() -> tuple[ModelProto, list[dict[str, np.ndarray]]]:
    nodes = [
        helper.make_node("Squeeze", ["x"], ["s"], name="squeeze", axes=[0]),
        helper.make_node("Relu", ["s"], ["r"], name="relu"),
        helper.make_node("Mul", ["r", "r"], ["y"], name="mul"),
        helper.make_node("Add", ["i", "i"], ["j"], name="add_int32"),
    ]
    inputs = tensors("x", shape=[1, "n"]) + tensors("i", np.int32, [2])
    outputs = tensors("y") + tensors("j", np.int32)
    feeds = [{"x": numbers(1, count), "i": numbers(2, dtype=np.int32)} for count in (3, 1)]
    return model_of(nodes, inputs, outputs, opset=12), feeds


def branches() -> tuple[ModelProto, list[dict[str, np.ndarray]]]:
    def body(name: str, *nodes: Any) -> Any:
        return helper.make_graph(nodes, name, [], tensors([nodes[-1].output[0]]))

    then_branch = body(
        "then",
        helper.make_node("Add", ["x", "w"], ["t0"], name="add"),
        helper.make_node("Relu", ["t0"], ["t"], name="r"),
    )
    else_branch = body("else", helper.make_node("Neg", ["x"], ["e"], name="neg"))
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=then_branch, else_branch=else_branch)
    inputs = tensors("x", shape=[3]) + tensors("c", bool, [])
    model = model_of([node], inputs, tensors("y"), {"w": numbers(3)})
    return model, [{"x": numbers(3), "c": np.array(choice)} for choice in (True, False)]


CASES: dict[str, tuple[Any, list[tuple[str, dict[str, str]]]]] = {
    "chain": (chain, [("KernelEp", {})]),
    "chain_of_some": (chain, [("KernelEp", {"nodes": "matmul,add,axpy,sub", "every": "2"})]),
    "chain_of_two": (chain, [("Second", {"ops": "Relu,Axpy"}), ("KernelEp", {})]),
    "chain_unselected": (older_operators, []),
    "types": (types, [("KernelEp", {})]),
    "older_operators": (older_operators, [("KernelEp", {})]),
    "branches": (branches, [("KernelEp", {})]),
}


def main() -> None:
    ort = importlib.import_module(sys.argv[1])
    make, providers = CASES[sys.argv[2]]
    model, feeds = make()
    library = EpFixture(ort)
    with library.registered("KernelEp", "Second") as devices:
        session = library.session(model, *[(devices[name], options) for name, options in providers])
        results = [[[y.dtype.name, y.tolist()] for y in session.run(None, feed)] for feed in feeds]
        assigned = providers_of(session)
        del session
        gc.collect()
    print(json.dumps({"results": results, "providers": dict(sorted(assigned.items()))}))


if __name__ == "__main__":
    main()
