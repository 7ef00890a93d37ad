# SPDX-License-Identifier: Apache-2.0
"""DepthToSpace, SpaceToDepth and StringConcat, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def to_space(x: np.ndarray, block: int, mode: str) -> np.ndarray:
    """Follow the formulas of the operator's text."""
    b, c, h, w = x.shape
    depth = c // block**2
    if mode == "DCR":
        y = x.reshape(b, block, block, depth, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(b, depth, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return y.reshape(b, depth, h * block, w * block)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, np.float32, np.complex128, object])
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize(
    ("shape", "block"),
    [((1, 4, 2, 3), 2), ((2, 9, 2, 2), 3), ((1, 3, 2, 2), 1), ((0, 4, 2, 2), 2), ((3, 16, 20, 30), 4)],
)
def test_depth_and_space(run_node: Any, dtype: Any, mode: str, shape: Any, block: int) -> None:
    count = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    x = count.astype(str).astype(object) if dtype is object else (count % 120).astype(dtype)
    y = to_space(x, block, mode)
    (got,) = run_node("DepthToSpace", [x], 11, threads=2, blocksize=block, mode=mode)
    assert got.shape == y.shape
    assert got.tolist() == y.tolist()
    (back,) = run_node("SpaceToDepth", [y], 28, threads=2, blocksize=block, mode=mode)
    assert back.shape == x.shape
    assert back.tolist() == x.tolist()


def test_older_versions_go_depth_first(run_node: Any) -> None:
    x = np.arange(24, dtype=np.float32).reshape(1, 8, 1, 3)
    y = to_space(x, 2, "DCR")
    assert run_node("DepthToSpace", [x], 1, blocksize=2)[0].tolist() == y.tolist()
    assert run_node("SpaceToDepth", [y], 1, blocksize=2)[0].tolist() == x.tolist()


@pytest.mark.parametrize(
    ("op_type", "shape", "attributes", "message"),
    [
        ("DepthToSpace", (1, 6, 2, 2), {"blocksize": 2}, "multiple"),
        ("SpaceToDepth", (1, 1, 2, 3), {"blocksize": 2}, "multiple"),
        ("DepthToSpace", (4, 2, 2), {"blocksize": 2}, r"N, C, H, W"),
        ("DepthToSpace", (1, 4, 2, 2), {"blocksize": 0}, "blocksize"),
        ("SpaceToDepth", (1, 4, 2, 2), {"blocksize": 2**40}, "blocksize"),
        ("DepthToSpace", (1, 4, 2, 2), {"blocksize": 2, "mode": "RCD"}, "mode"),
    ],
)
def test_depth_and_space_refuse(run_node: Any, op_type: str, shape: Any, attributes: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node(op_type, [np.ones(shape, np.float32)], 13, unranked=True, **attributes)


@pytest.mark.parametrize(
    ("left", "right"), [((), ()), ((3,), ()), ((2, 1), (1, 3)), ((0,), (1,)), ((4, 1, 2), (3, 1)), ((300,), (200, 1))]
)
def test_string_concat(run_node: Any, left: Any, right: Any) -> None:
    x = np.array([f"left {i}" for i in range(np.prod(left, dtype=int))], object).reshape(left)
    y = np.array([f"~{i}·" for i in range(np.prod(right, dtype=int))], object).reshape(right)
    (got,) = run_node("StringConcat", [x, y], 20, threads=2)
    want = np.asarray(x + y, object)
    assert got.shape == want.shape
    assert got.tolist() == want.tolist()


def test_string_concat_refuses_extents(run_node: Any) -> None:
    with pytest.raises(Exception, match="input 1"):
        run_node("StringConcat", [np.array(["a", "b"], object), np.array(["a", "b", "c"], object)], 20, unranked=True)
