# SPDX-License-Identifier: Apache-2.0
"""If, Loop, Scan and SequenceMap: subgraphs as programs, with captures, carried values and collected outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import parser
from onnx_light_ort_host import InferenceSession, InvalidGraph, NotImplemented, OrtHostError, SessionOptions


def session_of(text: str, threads: int = 1) -> InferenceSession:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.reference_fallback = False  # what is tested are the native kernels
    return InferenceSession(model.SerializeToString(), options)


IF = """
g (bool c, float[N] x) => (float[M] y) {
  two = Constant <value_float: float = 2.0> ()
  doubled = Mul (x, two)
  y = If (c) <
    then_branch = then () => (float[N] a) { a = Add (doubled, x) },
    else_branch = otherwise () => (float[K] b) { b = Concat <axis: int = 0> (doubled, x) }
  >
}
"""


def test_if_runs_one_branch_with_captures() -> None:
    session = session_of(IF)
    x = np.array([1, 2, 3], np.float32)
    for _ in range(2):
        assert session.run(None, {"c": np.array(True), "x": x})[0].tolist() == [3, 6, 9]
        assert session.run(None, {"c": np.array(False), "x": x})[0].tolist() == [2, 4, 6, 1, 2, 3]


@pytest.mark.parametrize("opset", [11, 13, 16, 19, 21, 25])
@pytest.mark.parametrize(("inputs", "rows"), [('trips, ""', 3), ('"", ""', 5), ('"", go', 5), ("trips, go", 3)])
def test_a_loop_may_omit_all_its_inputs(opset: int, inputs: str, rows: int) -> None:
    """Omitted inputs at the end count as written: without carried values nothing follows the condition."""
    model = parser.parse_model(f"""
    <ir_version: {13 if opset == 25 else 10}, opset_import: ["" : {opset}]>
    g (float[2] x, int64 trips, bool go) => (float[T, N] y) {{
      y = Loop ({inputs}) <
        body = step (int64 i, bool before) => (bool after, float[2] row)
          <int64 last = {{4}}> {{ after = Less (i, last) row = Neg (x) }}
      >
    }}""")
    options = SessionOptions()
    options.reference_fallback = False
    session = InferenceSession(model.SerializeToString(), options)
    feeds = {"x": np.array([1, 2], np.float32), "trips": np.array(3), "go": np.array(True)}
    assert session.run(None, feeds)[0].tolist() == [[-1, -2]] * rows


def test_if_wants_one_bool() -> None:
    session = session_of(IF.replace("bool c", "bool[K] c"))
    with pytest.raises(OrtHostError, match=r"If.*input 0 \(cond\): must be one bool, got bool\[2\]"):
        session.run(None, {"c": np.array([True, False]), "x": np.ones(1, np.float32)})


def test_a_branch_may_return_a_capture_or_a_constant() -> None:
    session = session_of("""
    g (bool c, float[N] x) => (float[M] y, float[M] z) {
      y, z = If (c) <
        then_branch = then () => (float[N] a, float[N] b) { a = Identity (x) b = Identity (x) },
        else_branch = otherwise () => (float[2] d, float[2] e)
          <float[2] e = {7.0, 8.0}> { d = Constant <value = float[2] {5.0, 6.0}> () }
      >
    }
    """)
    x = np.array([1, 2], np.float32)
    y, z = session.run(None, {"c": np.array(True), "x": x})
    assert y.tolist() == z.tolist() == [1, 2]
    assert not np.shares_memory(y, z)
    assert not np.shares_memory(y, x)
    y, z = session.run(None, {"c": np.array(False), "x": x})
    assert (y.tolist(), z.tolist()) == ([5, 6], [7, 8])


LOOP = """
g (int64 trips, bool go, float[K] start, float limit) => (float[L] last, float[T, R] all, int64[T] numbers) {
  last, all, numbers = Loop (trips, go, start) <
    body = step (int64 i, bool before, float[A] value) => (bool after, float[B] next, float[C] row, int64 number) {
      one = Constant <value_float: float = 1.0> ()
      next = Add (value, one)
      row = Mul (next, next)
      axes = Constant <value_ints: ints = [0]> ()
      largest = ReduceMax <keepdims: int = 0> (next, axes)
      after = Less (largest, limit)
      number = Identity (i)
    }
  >
}
"""


@pytest.mark.parametrize(("trips", "limit", "runs"), [(5, 1e9, 5), (100, 4.5, 4), (0, 1.0, 0), (1, 0.0, 1)])
def test_loop(trips: int, limit: float, runs: int) -> None:
    session = session_of(LOOP)
    start = np.array([0.5, 1.0], np.float32)
    feeds = {"trips": np.array(trips), "go": np.array(True), "start": start, "limit": np.array(limit, np.float32)}
    for _ in range(2):
        last, rows, numbers = session.run(None, feeds)
        assert last.tolist() == (start + runs).tolist()
        assert numbers.tolist() == list(range(runs))
        assert rows.tolist() == [((start + k + 1) ** 2).tolist() for k in range(runs)]
    feeds["go"] = np.array(False)
    last, rows, numbers = session.run(None, feeds)
    assert last.tolist() == start.tolist()
    assert len(rows) == len(numbers) == 0


def test_loop_without_a_limit_and_without_a_condition() -> None:
    body = """
      y = Loop ({}, {}, x) < body = step (int64 i, bool b, float[A] v) => (bool go, float[A] w) {{
        three = Constant <value_int: int = 3> ()
        go = Less (i, three)
        w = Add (v, v)
      }} >
    """
    x = np.array([1.0], np.float32)
    no_limit = session_of("g (float[N] x, bool c) => (float[M] y) {" + body.format("", "c") + "}")
    assert no_limit.run(None, {"x": x, "c": np.array(True)})[0].tolist() == [16]
    no_condition = session_of("g (float[N] x, int64 m) => (float[M] y) {" + body.format("m", "") + "}")
    assert no_condition.run(None, {"x": x, "m": np.array(2)})[0].tolist() == [4]


def test_a_loop_may_change_the_shape_it_carries() -> None:
    session = session_of("""
    g (int64 m, float[N] x) => (float[M] y) {
      y = Loop (m, , x) < body = step (int64 i, bool b, float[A] v) => (bool go, float[B] w) {
        go = Identity (b)
        w = Concat <axis: int = 0> (v, x)
      } >
    }
    """)
    x = np.array([1, 2], np.float32)
    for trips in (0, 1, 4, 2):
        assert session.run(None, {"m": np.array(trips), "x": x})[0].tolist() == [1, 2] * (trips + 1)


def test_a_collected_output_must_keep_its_shape() -> None:
    session = session_of("""
    g (int64 m, float[N] x) => (float[M] y, float[P, Q] z) {
      y, z = Loop (m, , x) < body = step (int64 i, bool b, float[A] v) => (bool go, float[B] w, float[B] s) {
        go = Identity (b)
        w = Concat <axis: int = 0> (v, x)
        s = Identity (w)
      } >
    }
    """)
    with pytest.raises(OrtHostError, match=r"output 2 of the body: every run .* got float\[2\] and then \[3\]"):
        session.run(None, {"m": np.array(2), "x": np.array([1], np.float32)})


def test_strings_and_sequences_are_carried() -> None:
    session = session_of("""
    g (int64 m, string[N] x) => (string[M] y, string[P, Q] rows, int64 count) {
      none = SequenceEmpty <dtype: int = 8> ()
      y, parts, rows = Loop (m, , x, none) <
        body = step (int64 i, bool b, string[A] v, seq(string[A]) s)
            => (bool go, string[A] w, seq(string[A]) t, string[A] row) {
          go = Identity (b)
          w = Identity (v)
          t = SequenceInsert (s, v)
          row = Identity (v)
        } >
      count = SequenceLength (parts)
    }
    """)
    x = np.array(["a long string that has storage of its own", "b"], object)
    y, rows, count = session.run(None, {"m": np.array(3), "x": x})
    assert y.tolist() == x.tolist()
    assert rows.tolist() == [x.tolist()] * 3
    assert count == 3


NESTED = """
g (int64 m, float[N] x, bool c) => (float[M] y) {
  y = Loop (m, , x) < body = step (int64 i, bool b, float[A] v) => (bool go, float[A] w) {
    go = Identity (b)
    w = If (c) <
      then_branch = then () => (float[A] p) { p = Add (v, x) },
      else_branch = otherwise () => (float[A] q) { q = Sub (v, x) }
    >
  } >
}
"""


def test_sequences_that_grow_from_one_do_not_see_each_other() -> None:
    session = session_of("""
      g (int64 m, seq(int64) s) => (seq(int64) long, seq(int64) last, seq(int64) front) {
        go = Constant <value = bool {1}> ()
        long, last, front = Loop (m, go, s, s, s) <
          body = b (int64 i, bool c, seq(int64) grown, seq(int64) other, seq(int64) turned)
              => (bool d, seq(int64) u, seq(int64) v, seq(int64) w) {
            d = Identity (c)
            u = SequenceInsert (grown, i)
            n = Neg (i)
            v = SequenceInsert (grown, n)
            zero = Constant <value = int64 {0}> ()
            w = SequenceInsert (turned, i, zero)
          }>
      }""")
    feed = [np.array(7), np.array(8)]
    for _ in range(2):
        long, last, front = session.run(None, {"m": np.array(20), "s": feed})
        assert long == [7, 8, *range(20)]
        assert last == [7, 8, *range(19), -19]
        assert front == [*reversed(range(20)), 7, 8]
    assert feed == [7, 8]


def test_nested_bodies_see_outer_values() -> None:
    session = session_of(NESTED)
    x = np.array([1, 10], np.float32)
    assert session.run(None, {"m": np.array(3), "x": x, "c": np.array(True)})[0].tolist() == [4, 40]
    assert session.run(None, {"m": np.array(3), "x": x, "c": np.array(False)})[0].tolist() == [-2, -20]


def test_rows_of_bodies_are_listed_after_their_node() -> None:
    session = session_of(NESTED)
    rows = [(row.graph, row.index, row.op_type) for row in session.node_assignments()]
    assert rows == [
        ("", 0, "Loop"),
        ("#0.body", 0, "Identity"),
        ("#0.body", 1, "If"),
        ("#0.body/#1.then_branch", 0, "Add"),
        ("#0.body/#1.else_branch", 0, "Sub"),
    ]


def test_constants_of_the_outer_graph_are_known_inside() -> None:
    session = session_of("""
    g (float[1, 2] x, bool c) => (float[1, 2] y)
      <float[2, 2] w = {1.0, 2.0, 3.0, 4.0}> {
      y = If (c) <
        then_branch = then () => (float[1, 2] p) { t = Transpose (w) p = MatMul (x, t) },
        else_branch = otherwise () => (float[1, 2] q) { q = MatMul (x, w) }
      >
    }
    """)
    x = np.array([[1, 1]], np.float32)
    assert session.run(None, {"x": x, "c": np.array(True)})[0].tolist() == [[3, 7]]
    assert session.run(None, {"x": x, "c": np.array(False)})[0].tolist() == [[4, 6]]
    transpose = next(row for row in session.node_assignments() if row.op_type == "Transpose")
    assert "computed at preparation" in transpose.reason


def test_an_error_in_a_body_names_both_nodes() -> None:
    session = session_of("""
    g (int64[K] s, float[N] x, bool c) => (float[M] y) {
      [outer] y = If (c) <
        then_branch = then () => (float[M] p) { [inner] p = Reshape (x, s) },
        else_branch = otherwise () => (float[M] q) { q = Identity (x) }
      >
    }
    """)
    feeds = {"s": np.array([7]), "x": np.ones(3, np.float32), "c": np.array(True)}
    with pytest.raises(OrtHostError, match=r"'outer' \(If\).*'inner' \(Reshape\)"):
        session.run(None, feeds)


def scan(directions: str, axes: str, states: str = "") -> str:
    return f"""
    g (float[N] s, float[T, K] x) => (float[N] last, float[P, Q] rows) {{
      last, rows = Scan <num_scan_inputs: int = 1, {directions}{axes}
        body: graph = step (float[N] state, float[K] row) => (float[N] next, float[N] out) {{
          next = Add (state, row)
          out = Identity (next)
        }}> (s, x)
    }}
    """


@pytest.mark.parametrize("input_axis", [0, 1, -1])
@pytest.mark.parametrize("output_axis", [0, 1, -1])
@pytest.mark.parametrize("backwards_in", [0, 1])
@pytest.mark.parametrize("backwards_out", [0, 1])
def test_scan(input_axis: int, output_axis: int, backwards_in: int, backwards_out: int) -> None:
    directions = f"scan_input_directions: ints = [{backwards_in}], scan_output_directions: ints = [{backwards_out}], "
    axes = f"scan_input_axes: ints = [{input_axis}], scan_output_axes: ints = [{output_axis}], "
    session = session_of(scan(directions, axes))
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    x = rows if input_axis == 0 else np.ascontiguousarray(rows.T)
    start = np.array([100, 200, 300], np.float32)
    order = rows[::-1] if backwards_in else rows
    sums = start + np.cumsum(order, axis=0)
    collected = sums[::-1] if backwards_out else sums
    for _ in range(2):
        last, got = session.run(None, {"s": start, "x": x})
        assert last.tolist() == sums[-1].tolist()
        assert got.tolist() == (collected if output_axis == 0 else collected.T).tolist()


def test_scan_over_nothing() -> None:
    last, rows = session_of(scan("", "")).run(
        None, {"s": np.array([1, 2], np.float32), "x": np.zeros((0, 2), np.float32)}
    )
    assert last.tolist() == [1, 2]
    assert rows.shape[0] == 0


def test_scan_inputs_must_be_equally_long() -> None:
    session = session_of("""
    g (float[A] x, float[B] y) => (float[C] z) {
      z = Scan <num_scan_inputs: int = 2,
        body: graph = step (float a, float b) => (float c) { c = Add (a, b) }> (x, y)
    }
    """)
    assert session.run(None, {"x": np.ones(2, np.float32), "y": np.ones(2, np.float32)})[0].tolist() == [2, 2]
    with pytest.raises(OrtHostError, match=r"input 1 .*: must be as long as the first one, 2, got 3"):
        session.run(None, {"x": np.ones(2, np.float32), "y": np.ones(3, np.float32)})


def test_sequence_map() -> None:
    session = session_of("""
    g (float[A] x, float[B] y) => (float[C] z, int64 n) {
      s = SequenceConstruct (x, y, x)
      m = SequenceMap (s, y) < body = each (float[D] a, float[B] b) => (float[E] c) {
        c = Concat <axis: int = 0> (a, b)
      } >
      z = ConcatFromSequence <axis: int = 0> (m)
      n = SequenceLength (m)
    }
    """)
    x, y = np.array([1, 2], np.float32), np.array([3], np.float32)
    z, n = session.run(None, {"x": x, "y": y})
    assert z.tolist() == [1, 2, 3, 3, 3, 1, 2, 3]
    assert n == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y = If (c) <then_branch = t () => (float[N] a) { a = Neg (x) }>", "else_branch"),
        (
            """y = Loop (, c, x) <body = b (int64 i, bool p, float[N] v) => (float[N] w) { w = Neg (v) }>""",
            "body",
        ),
    ],
)
def test_bad_bodies_are_refused_at_preparation(text: str, message: str) -> None:
    with pytest.raises((InvalidGraph, NotImplemented), match=message):
        session_of("g (bool c, float[N] x) => (float[M] y) {" + text + "}")


def test_a_run_after_one_that_failed_half_way() -> None:
    """Turn `i` takes the row at `at[i]`, which may be beyond the end, and adds it to what is carried."""
    session = session_of("""
    g (float[N] x, int64[T] at, int64 trips) => (float last, float[T] rows) {
      zero = Constant <value_float: float = 0.0> ()
      last, rows = Loop (trips, "", zero) <
        body = step (int64 i, bool go, float sum) => (bool on, float more, float row) {
          on = Identity (go)
          index = Gather <axis: int = 0> (at, i)
          row = Gather <axis: int = 0> (x, index)
          more = Add (sum, row)
        }
      >
    }""")
    x = np.array([1, 2, 4], np.float32)
    for at in ([0, 1, 2], [2, 2], [1], []):
        feeds = {"x": x, "at": np.array(at, np.int64), "trips": np.array(len(at))}
        last, rows = session.run(None, feeds)
        assert (last, rows.tolist()) == (sum(x[at]), x[at].tolist())
        with pytest.raises(OrtHostError, match="indices"):
            session.run(None, {"x": x, "at": np.array([*at, 3], np.int64), "trips": np.array(len(at) + 1)})


def test_many_threads_run_one_loop() -> None:
    from concurrent.futures import ThreadPoolExecutor

    session = session_of(LOOP, threads=2)

    def work(k: int) -> Any:
        start = np.full(64, k, np.float32)
        feeds = {"trips": np.array(k + 1), "go": np.array(True), "start": start, "limit": np.array(1e9, np.float32)}
        for _ in range(20):
            last, rows, _ = session.run(None, feeds)
            assert last.tolist() == (start + k + 1).tolist()
            assert rows.shape == (k + 1, 64)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
