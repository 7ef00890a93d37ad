# SPDX-License-Identifier: Apache-2.0
"""Elementwise nodes that run as one step give the very bits that they give one by one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, parser
from onnx_light_ort_host import GraphOptimizationLevel, InferenceSession, OrtHostError, SessionOptions

UNARY = {
    "Abs": {},
    "Neg": {},
    "Relu": {},
    "Exp": {},
    "Tanh": {},
    "Sigmoid": {},
    "Erf": {},
    "Reciprocal": {},
    "Ceil": {},
    "Softsign": {},
    "HardSigmoid": {"alpha": 0.3},
    "HardSwish": {},
    "LeakyRelu": {"alpha": 0.2},
    "Elu": {"alpha": 0.7},
    "Swish": {"alpha": 1.5},
    "Gelu": {"approximate": "tanh"},
    "ThresholdedRelu": {"alpha": 0.1},
}
BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu")
VARIADIC = ("Sum", "Mean", "Max", "Min")


def session_of(model: bytes, fuse: bool = True, threads: int = 1, limit: int | None = None) -> InferenceSession:
    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.reference_fallback = False
    options.memory_limit_bytes = limit
    level = GraphOptimizationLevel.ORT_ENABLE_ALL if fuse else GraphOptimizationLevel.ORT_DISABLE_ALL
    options.graph_optimization_level = level
    return InferenceSession(model, options)


def parse(text: str) -> bytes:
    return parser.parse_model(f'<ir_version: 10, opset_import: ["" : 24]>\n{text}').SerializeToString()


def steps_of(session: InferenceSession) -> int:
    """Return how many steps run: nodes that are not fused into another one."""
    return sum("fused into" not in row.reason for row in session.node_assignments())


class RandomGraph:
    """A graph of elementwise nodes over values of `rank` axes, some of them broadcast."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rank = int(self.rng.integers(0, 5))
        self.nodes = []
        self.initializers = []
        self.inputs: dict[str, tuple[bool, ...]] = {}  # which axes are 1, from the front; fewer axes are left out
        self.values = []
        for name in "xyz"[: self.rng.integers(1, 4)]:
            self.input(name, (False,) * self.rank)
            self.values.append(name)
        for i in range(int(self.rng.integers(3, 25))):
            self.node(f"t{i}")
        leaves = {name for name in self.values if name not in self.inputs and self.rng.random() < 0.2}
        self.outputs = sorted(leaves | {self.values[-1]})

    def input(self, name: str, broadcast: tuple[bool, ...]) -> str:
        self.inputs[name] = broadcast
        return name

    def narrow(self) -> str:
        """Return an operand of other extents: one element, a row, a column, channels, or anything."""
        name = f"n{len(self.inputs) + len(self.initializers)}"
        kind = self.rng.integers(0, 5)
        if kind == 0:
            value = np.array(self.rng.uniform(0.5, 2), np.float32).reshape((1,) * int(self.rng.integers(0, 2)))
            self.initializers.append(numpy_helper.from_array(value, name))
            return name
        if kind == 1:
            return self.input(name, (False,) * int(self.rng.integers(0, self.rank + 1)))  # a row
        if kind == 2:
            cut = int(self.rng.integers(0, self.rank + 1))
            return self.input(name, tuple(d >= cut for d in range(self.rank)))  # a column
        if kind == 3:
            cuts = sorted(self.rng.integers(0, self.rank + 1, 2))
            return self.input(name, tuple(not cuts[0] <= d < cuts[1] for d in range(self.rank)))  # channels
        return self.input(name, tuple(self.rng.random(self.rank) < 0.5))

    def operand(self) -> str:
        return self.narrow() if self.rng.random() < 0.25 else str(self.rng.choice(self.values[-6:]))

    def node(self, result: str) -> None:
        value = str(self.rng.choice(self.values[-4:]))
        kind = self.rng.random()
        if kind < 0.45:
            op = str(self.rng.choice(list(UNARY)))
            self.nodes.append(helper.make_node(op, [value], [result], result, **UNARY[op]))
        elif kind < 0.85:
            op = str(self.rng.choice(BINARY))
            pair = [value, self.operand()]
            if self.rng.random() < 0.5:
                pair.reverse()
            self.nodes.append(helper.make_node(op, pair, [result], result))
        elif kind < 0.95:
            operands = [self.operand() for _ in range(int(self.rng.integers(1, 4)))]
            operands.insert(int(self.rng.integers(0, len(operands) + 1)), value)
            self.nodes.append(helper.make_node(str(self.rng.choice(VARIADIC)), operands, [result], result))
        else:
            bounds = [f"low_{result}", f"high_{result}"]
            for bound, number in zip(bounds, (-0.7, 0.9), strict=True):
                limit = np.array(number, np.float32).reshape((1,) * int(self.rng.integers(0, 2)))
                self.initializers.append(numpy_helper.from_array(limit, bound))
            bounds[0] = "" if self.rng.random() < 0.3 else bounds[0]
            self.nodes.append(helper.make_node("Clip", [value, *bounds], [result], result))
        self.values.append(result)

    def model(self, extents: Sequence[int] | None) -> bytes:
        """Return the model, with its extents known or not."""

        def info(name: str) -> object:
            broadcast = self.inputs[name]
            if extents is None:
                return helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * len(broadcast))
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape(name, extents))

        graph = helper.make_graph(
            self.nodes,
            "random",
            [info(name) for name in self.inputs],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs],
            self.initializers,
        )
        opsets = [helper.make_opsetid("", 24)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()

    def shape(self, name: str, extents: Sequence[int]) -> list[int]:
        broadcast = self.inputs[name]
        return [1 if one else n for one, n in zip(broadcast, extents[self.rank - len(broadcast) :], strict=True)]

    def feeds(self, extents: Sequence[int]) -> dict[str, np.ndarray]:
        feeds = {}
        for name in self.inputs:
            array = self.rng.normal(0, 2, self.shape(name, extents)).astype(np.float32)
            for special in (np.nan, np.inf, -np.inf, -0.0):
                if array.size > 8:
                    array.flat[self.rng.integers(0, array.size)] = special
            feeds[name] = array
        return feeds


def same_bits(got: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> None:
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape
        # Which of two NaNs an addition passes on is not part of the result.
        number = ~np.isnan(b)
        assert np.array_equal(np.isnan(a), ~number)
        assert np.array_equal(a[number].view(np.uint32), b[number].view(np.uint32))


EXTENTS = [(5, 3, 4, 7), (1, 2, 1, 5), (0, 3, 4, 2), (3, 1, 60, 70), (2, 2, 3, 1300), (5, 3, 4, 7)]


def check_with_unknown_extents(seed: int, threads: int) -> None:
    graph = RandomGraph(seed)
    model = graph.model(None)
    fused, plain = session_of(model, True, threads), session_of(model, False)
    assert steps_of(plain) == len(graph.nodes)
    for extents in EXTENTS:
        feeds = graph.feeds(extents[4 - graph.rank :])
        same_bits(fused.run(None, feeds), plain.run(None, feeds))


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("threads", [1, 3])
def test_random_graphs_with_unknown_extents(seed: int, threads: int) -> None:
    check_with_unknown_extents(seed, threads)


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_random_graphs_on_every_level(level: str) -> None:
    code = (
        "import onnx_light_ort_host, test_fused_elementwise as tests\n"
        "for seed in range(120, 140):\n"
        "    tests.check_with_unknown_extents(seed, 2)\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "ONNX_LIGHT_SIMD": level, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    unknown = "this machine does not have the instruction set" in done.stderr
    assert done.returncode == 0 or (unknown and level != "baseline"), done.stderr


@pytest.mark.parametrize("seed", range(60, 120))
def test_random_graphs_with_known_extents(seed: int) -> None:
    graph = RandomGraph(seed)
    for extents in EXTENTS:
        own = extents[4 - graph.rank :]
        model = graph.model(own)
        feeds = graph.feeds(own)
        fused = session_of(model, True)
        want = session_of(model, False).run(None, feeds)
        same_bits(fused.run(None, feeds), want)
        same_bits(fused.run(None, feeds), want)


CHAIN = """
g (float[N] x) => (float[N] y) {
  [first] a = Relu (x)
  [second] b = Exp (a)
  [third] y = Add (b, a)
}
"""


def test_assignments_say_what_runs_together() -> None:
    first, second, third = session_of(parse(CHAIN)).node_assignments()
    assert "fused into 'third' (Add)" in first.reason
    assert "fused into 'third' (Add)" in second.reason
    assert "runs as one step with Relu, Exp" in third.reason
    assert [row.kernel for row in (first, second, third)] == ["light::Relu", "light::Exp", "light::Add"]
    plain = session_of(parse(CHAIN), fuse=False)
    assert [row.reason for row in plain.node_assignments()] == ["native kernel"] * 3


def test_inner_values_take_no_memory() -> None:
    # One by one the result of Exp needs a buffer, and that of Relu another one.
    text = CHAIN.replace("y = Add (b, a)", "c = Add (b, a)\n  y = Identity (c)")
    x = np.linspace(-1, 1, 1 << 16, dtype=np.float32)
    size = x.nbytes
    assert session_of(parse(text), limit=2 * size).run(None, {"x": x})[0].shape == x.shape
    with pytest.raises(OrtHostError, match="over the memory limit"):
        session_of(parse(text), fuse=False, limit=2 * size).run(None, {"x": x})
    with pytest.raises(OrtHostError, match=r"'third' \(Add\).*over the memory limit"):
        session_of(parse(CHAIN), limit=size - 1).run(None, {"x": x})


@pytest.mark.parametrize("shape", [(), (1, 1), (300,), (1, 300), (50, 1), (4, 50, 1), (4, 1, 1), (50, 300), (1, 1, 1)])
@pytest.mark.parametrize("swapped", [False, True])
def test_operands_that_broadcast_are_walked_in_the_same_pass(shape: tuple[int, ...], swapped: bool) -> None:
    # Apart, the result of Exp would need memory.
    operands = "z, a" if swapped else "a, z"
    declared = ", ".join(map(str, shape))
    text = (
        f"g (float[4, 50, 300] x, float[{declared}] z) => (float[4, 50, 300] y) {{ a = Exp (x) y = Sub ({operands}) }}"
    )
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(4, 50, 300)).astype(np.float32), rng.normal(size=shape).astype(np.float32)
    got = session_of(parse(text), limit=x.nbytes).run(None, {"x": x, "z": z})
    same_bits(got, session_of(parse(text), fuse=False).run(None, {"x": x, "z": z}))


def test_an_error_names_the_node_that_failed() -> None:
    text = """
    g (float[N] x, float[M] z) => (float[K] y) {
      [first] a = Relu (x)
      [second] b = Exp (a)
      [third] c = Add (b, z)
      [fourth] y = Neg (c)
    }
    """
    session = session_of(parse(text))
    assert steps_of(session) == 1
    feeds = {"x": np.ones(3, np.float32), "z": np.ones(2, np.float32)}
    with pytest.raises(OrtHostError) as failure:
        session.run(None, feeds)
    with pytest.raises(OrtHostError) as wanted:
        session_of(parse(text), fuse=False).run(None, feeds)
    assert "'third' (Add)" in str(failure.value)
    assert str(failure.value) == str(wanted.value)
    assert session.run(None, {"x": np.ones(3, np.float32), "z": np.ones(1, np.float32)})[0].shape == (3,)


def test_nodes_of_a_body_are_fused() -> None:
    text = """
    g (int64 n, float[K] x) => (float[K] y) {
      y = Loop (n, , x) <body = b (int64 i, bool c, float[K] v) => (bool d, float[K] w) {
        d = Identity (c)
        h = Mul (v, v)
        w = Sub (h, v)
      }>
    }
    """
    session = session_of(parse(text))
    reasons = {row.op_type: row.reason for row in session.node_assignments()}
    assert "fused into" in reasons["Mul"]
    want = np.array([3, -1], np.float32)
    for _ in range(3):
        want = want * want - want
    got = session.run(None, {"n": np.array(3), "x": np.array([3, -1], np.float32)})[0]
    assert got.tolist() == want.tolist()


def test_a_value_that_another_node_reads_is_kept() -> None:
    text = """
    g (float[3, N] x) => (float[3, N] y, float[N, 3] t) {
      a = Exp (x)
      b = Neg (a)
      t = Transpose (b)
      c = Relu (a)
      y = Add (c, b)
    }
    """
    x = np.random.default_rng(3).normal(size=(3, 700)).astype(np.float32)
    fused, plain = (session_of(parse(text), fuse).run(None, {"x": x}) for fuse in (True, False))
    same_bits(fused, plain)


def test_a_group_does_not_reach_around_a_node_between() -> None:
    # Softmax comes between two nodes that share an operand with each other.
    text = """
    g (float[4, 8] x) => (float[4, 8] y) {
      a = Exp (x)
      b = Sub (a, x)
      s = Softmax (b)
      c = Mul (s, a)
      y = Add (c, b)
    }
    """
    session = session_of(parse(text))
    assert steps_of(session) == 3
    x = np.random.default_rng(4).normal(size=(4, 8)).astype(np.float32)
    same_bits(session.run(None, {"x": x}), session_of(parse(text), fuse=False).run(None, {"x": x}))


def chain_of_1000(pair: tuple[str, str], elements: int) -> InferenceSession:
    nodes = [helper.make_node(pair[i % 2], [f"t{i}"], [f"t{i + 1}"], f"n{i}") for i in range(1000)]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, elements]) for name in ("t0", "t1000")]
    graph = helper.make_graph(nodes, "chain", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = session_of(model.SerializeToString())
    assert steps_of(session) == 1
    return session


def test_a_long_chain_is_one_step() -> None:
    session = chain_of_1000(("Abs", "Neg"), 4)
    assert session.run(None, {"t0": np.array([[1, -2, 0, 3]], np.float32)})[0].tolist() == [[-1, -2, 0, -3]]


class TooLateError(Exception):
    pass


def test_a_long_step_can_be_ended() -> None:
    session = chain_of_1000(("Tanh", "Sigmoid"), 1 << 20)
    feeds = {"t0": np.ones((1, 1 << 20), np.float32)}
    start = time.perf_counter()
    session.run(None, feeds)
    whole = time.perf_counter() - start

    def end(*_: object) -> None:
        raise TooLateError

    before = signal.signal(signal.SIGALRM, end)
    try:
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, whole / 20)
        with pytest.raises(TooLateError):
            session.run(None, feeds)
        assert time.perf_counter() - start < 0.7 * whole
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
