# SPDX-License-Identifier: Apache-2.0
"""A library's operators inside the bodies of If, Loop and Scan, and in functions called there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_light_ort_host as ort
import pytest
from onnx import parser


def session_of(text: str, library: Path) -> ort.InferenceSession:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21, "fixtures" : 1]>\n{text}')
    options = ort.SessionOptions()
    options.reference_fallback = False
    options.register_custom_ops_library(str(library))
    return ort.InferenceSession(model.SerializeToString(), options)


LOOP = """
g (int64 m, float[N] x, bool c) => (float[N] y, float[T, N] rows) {
  y, rows = Loop (m, , x) < body = step (int64 i, bool b, float[N] v) => (bool go, float[N] w, float[N] row) {
    go = Identity (b)
    w = If (c) <
      then_branch = then () => (float[N] p) { p = fixtures.Scale <factor: float = 2.0> (v) },
      else_branch = otherwise () => (float[N] q) { q = fixtures.AddTwo (v, x) }
    >
    row = fixtures.Scale <factor: float = 10.0> (w)
  } >
}
"""


def test_nested_bodies(fixtures: Path) -> None:
    session = session_of(LOOP, fixtures / "add_two.so")
    x = np.array([1, 2], np.float32)
    for _ in range(3):
        y, rows = session.run(None, {"m": np.array(3), "x": x, "c": np.array(True)})
        assert y.tolist() == [8, 16]
        assert rows.tolist() == [[20, 40], [40, 80], [80, 160]]
        y, rows = session.run(None, {"m": np.array(2), "x": x, "c": np.array(False)})
        assert y.tolist() == [3, 6]
        assert rows.tolist() == [[20, 40], [30, 60]]
    brought = {(row.graph, row.op_type) for row in session.node_assignments() if row.library}
    assert brought == {
        ("#0.body", "Scale"),
        ("#0.body/#1.then_branch", "Scale"),
        ("#0.body/#1.else_branch", "AddTwo"),
    }


def test_scan(fixtures: Path) -> None:
    session = session_of(
        """
        g (float[N] s, float[T, N] x) => (float[N] last, float[T, N] sums) {
          last, sums = Scan <num_scan_inputs: int = 1,
            body: graph = step (float[N] state, float[N] row) => (float[N] next, float[N] out) {
              next = fixtures.AddTwo (state, row)
              out = Identity (next)
            }> (s, x)
        }
        """,
        fixtures / "add_two.so",
    )
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    last, sums = session.run(None, {"s": np.array([1, 1], np.float32), "x": x})
    assert last.tolist() == [7, 10]
    assert sums.tolist() == [[1, 2], [3, 5], [7, 10]]


def test_a_failure_in_a_body_names_every_node_on_the_way(fixtures: Path) -> None:
    session = session_of(
        """
        g (int64 m, float[N] x, float[M] z) => (float[N] y) {
          [outer] y = Loop (m, , x) < body = step (int64 i, bool b, float[N] v) => (bool go, float[N] w) {
            go = Identity (b)
            [inner] w = fixtures.AddTwo (v, z)
          } >
        }
        """,
        fixtures / "add_two.so",
    )
    feeds = {"m": np.array(2), "x": np.ones(2, np.float32), "z": np.ones(3, np.float32)}
    with pytest.raises(
        ort.OrtHostError, match=r"'outer' \(Loop\).*'inner' \(fixtures.AddTwo\) of .*add_two.so.*need the same shape"
    ):
        session.run(None, feeds)
    feeds["z"] = np.ones(2, np.float32)
    assert session.run(None, feeds)[0].tolist() == [3, 3]
