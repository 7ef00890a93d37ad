# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements or change extents, against numpy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from kernel_arrays import MOVED_DTYPES, kind, numbered, same
from onnx import TensorProto


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize("opset", [1, 13, 21])
def test_transpose(run_node: Any, dtype: Any, opset: int) -> None:
    for shape in [(), (3,), (2, 3), (1, 4), (2, 3, 4), (2, 1, 5), (2, 3, 4, 5), (0, 3), (2, 0, 4)]:
        x = numbered(shape, dtype)
        same(run_node("Transpose", [x], opset, [kind(dtype)])[0], x.T)
        for perm in itertools.permutations(range(len(shape))):
            if shape:
                same(run_node("Transpose", [x], opset, [kind(dtype)], perm=list(perm))[0], x.transpose(perm))


@pytest.mark.parametrize("shape", [(33, 70), (512, 130), (5, 33, 47), (3, 17, 4, 19)], ids=str)
def test_transpose_of_more_than_a_tile(run_node: Any, shape: Any) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    for perm in itertools.permutations(range(len(shape))):
        same(run_node("Transpose", [x], 13, threads=2, perm=list(perm))[0], x.transpose(perm))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(17, 27, 29), (16, 33), (2, 35, 16)], ids=str)
def test_transpose_of_lines_that_begin_anywhere(run_node: Any, dtype: Any, shape: Any) -> None:
    memory = np.empty(int(np.prod(shape)) + 1, dtype)
    x = memory[1:].reshape(shape)  # not where a vector would begin
    x[...] = numbered(shape, dtype)
    for perm in itertools.permutations(range(len(shape))):
        same(run_node("Transpose", [x], 21, threads=2, perm=list(perm))[0], x.transpose(perm))


@pytest.mark.parametrize("perm", [[0], [0, 0], [0, 2], [-1, 0]])
def test_transpose_needs_a_permutation(run_node: Any, perm: list[int]) -> None:
    with pytest.raises(Exception, match="perm"):
        run_node("Transpose", [np.ones((2, 3), np.float32)], 13, unranked=True, perm=perm)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize(
    ("shapes", "axis"),
    [
        ([(3,), (2,)], 0),
        ([(2, 3)], 1),
        ([(2, 3), (2, 1), (2, 0)], 1),
        ([(1, 2, 3), (4, 2, 3)], -3),
        ([(2, 1, 3), (2, 2, 3), (2, 3, 3)], 1),
        ([(2, 0), (3, 0)], 0),
        ([(200, 33), (200, 50)], -1),
    ],
)
def test_concat(run_node: Any, dtype: Any, shapes: Any, axis: int) -> None:
    arrays = [numbered(shape, dtype) for shape in shapes]
    same(run_node("Concat", arrays, 13, axis=axis, threads=2)[0], np.concatenate(arrays, axis))


def test_concat_says_which_input_does_not_fit(run_node: Any) -> None:
    arrays = [np.ones(shape, np.float32) for shape in [(2, 3), (2, 4), (3, 4)]]
    with pytest.raises(Exception, match=r"input 2.*\[3, 4\]"):
        run_node("Concat", arrays, 13, axis=1, unranked=True)


FAR = 2**63 - 1
SLICES = [
    ((10,), [2], [5], None, None),
    ((10,), [-3], [FAR], [0], None),
    ((10,), [9], [-FAR - 1], [0], [-1]),
    ((10,), [8], [1], [0], [-3]),
    ((10,), [5], [5], [0], None),
    ((10,), [7], [3], [0], None),
    ((10,), [0], [100], [0], [4]),
    ((10,), [-100], [100], [0], [3]),
    ((10,), [100], [-100], [0], [-4]),
    ((10,), [0], [10], [0], [FAR]),
    ((10,), [9], [-100], [0], [-FAR - 1]),
    ((4, 5, 6), [1, 0], [3, 4], [0, 2], [1, 2]),
    ((4, 5, 6), [0, -1], [4, -6], [-3, -2], [1, -1]),
    ((4, 5, 6), [1], [3], [1], None),
    ((4, 5, 6), [3, 4, 5], [-9, -9, -9], [0, 1, 2], [-1, -2, -3]),
    ((4, 0, 6), [0], [2], [0], None),
    ((0,), [0], [5], [0], [-1]),
    ((0, 3), [-1], [-FAR - 1], [0], [-1]),
    ((2, 0), [5, -1], [0, -9], [0, 1], [-1, -3]),
    ((300, 50), [1, 5], [299, 45], [0, 1], [1, 1]),
    ((300, 50), [0, 0], [300, 50], [0, 1], [2, 3]),
]


def sliced(x: np.ndarray, starts: Any, ends: Any, axes: Any, steps: Any) -> np.ndarray:
    """Index as numpy does; the cases stay where ONNX's clamping and numpy's agree."""
    index: list[slice] = [slice(None)] * x.ndim
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        index[axes[i] if axes else i] = slice(start, end, steps[i] if steps else None)
    return x[tuple(index)]


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.complex128, object])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("shape", "starts", "ends", "axes", "steps"), SLICES)
def test_slice(
    run_node: Any, dtype: Any, index: Any, shape: Any, starts: Any, ends: Any, axes: Any, steps: Any
) -> None:
    x = numbered(shape, dtype)
    info = np.iinfo(index)
    inputs = [x] + [
        None if v is None else np.array([min(max(e, info.min), info.max) for e in v], index)
        for v in (starts, ends, axes, steps)
    ]
    while inputs[-1] is None:
        inputs.pop()
    want = sliced(x, starts, ends, axes, steps)
    same(run_node("Slice", inputs, 13, threads=2)[0], want)
    # Constants tell the extents before anything runs.
    same(run_node("Slice", inputs, 13, constants=range(1, len(inputs)))[0], want)


@pytest.mark.parametrize("end", [FAR, 2**31 - 1, 4])
def test_slice_backward_clamps_a_far_end_to_the_last_element(run_node: Any, end: int) -> None:
    # "for negative stepping it is clamped to [-1, dims[axes[i]]-1]": nothing lies between 4 and 4
    inputs = [np.array([v], np.int64) for v in (4, end, 0, -1)]
    assert run_node("Slice", [np.arange(5, dtype=np.float32), *inputs], 13)[0].tolist() == []


@pytest.mark.parametrize(("shape", "starts", "ends", "axes", "steps"), [case for case in SLICES if case[4] is None])
def test_slice_by_attributes(run_node: Any, shape: Any, starts: Any, ends: Any, axes: Any, steps: Any) -> None:
    x = numbered(shape, np.float32)
    attributes = {"starts": starts, "ends": ends} | ({"axes": axes} if axes else {})
    same(run_node("Slice", [x], 1, **attributes)[0], sliced(x, starts, ends, axes, steps))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (([0], [1], [0], [0]), "steps"),
        (([0, 0], [1, 1], [0, 0], [1, 1]), "distinct"),
        (([0], [1], [2], [1]), r"input 3 \(axes\): must be in \[-2, 1\] for rank 2, got 2"),
        (([0], [1, 2], [0], [1]), "equal lengths"),
    ],
)
def test_slice_refuses(run_node: Any, inputs: Any, message: str) -> None:
    arrays = [np.array(v, np.int64) for v in inputs]
    with pytest.raises(Exception, match=message):
        run_node("Slice", [np.ones((3, 4), np.float32), *arrays], 13, unranked=True)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("shape", "indices", "axis"),
    [
        ((5,), 3, 0),
        ((5,), [-1, 0, -5, 4], 0),
        ((4, 3, 2), [[0, 3], [1, -1]], 0),
        ((4, 3, 2), [[0, 2], [1, -1]], 1),
        ((4, 3, 2), 1, -1),
        ((4, 3, 2), [], 1),
        ((4, 0, 2), [1, 2], 0),
        ((50, 40), list(range(0, 50, 2)) * 40, 0),
    ],
)
def test_gather(run_node: Any, dtype: Any, index: Any, shape: Any, indices: Any, axis: int) -> None:
    x, i = numbered(shape, dtype), np.array(indices, index)
    same(run_node("Gather", [x, i], 13, axis=axis, threads=2)[0], np.asarray(np.take(x, i, axis), x.dtype))


@pytest.mark.parametrize("bad", [3, -4, 10**9])
def test_gather_names_a_bad_index(run_node: Any, bad: int) -> None:
    x, i = np.ones((2, 3), np.float32), np.array([0, bad], np.int32)
    with pytest.raises(Exception, match=rf"\[-3, 2\] for axis 1, got {bad}"):
        run_node("Gather", [x, i], 13, axis=1)


@pytest.mark.parametrize(
    ("shape", "asked", "allow", "want"),
    [
        ((2, 3, 4), [6, 4], 0, (6, 4)),
        ((2, 3, 4), [-1], 0, (24,)),
        ((2, 3, 4), [0, -1], 0, (2, 12)),
        ((2, 3, 4), [2, 0, 2, -1], 0, (2, 3, 2, 2)),
        ((), [1, 1], 0, (1, 1)),
        ((1,), [], 0, ()),
        ((2, 0), [0, 0], 0, (2, 0)),
        ((2, 0), [0, 5], 1, (0, 5)),
        ((2, 0), [3, 0], 1, (3, 0)),
        ((0, 2), [2, -1], 0, (2, 0)),
    ],
)
@pytest.mark.parametrize("constant", [False, True])
def test_reshape(run_node: Any, shape: Any, asked: Any, allow: int, want: Any, constant: bool) -> None:
    x = numbered(shape, np.float32)
    (got,) = run_node("Reshape", [x, np.array(asked, np.int64)], 14, constants=[1] if constant else [], allowzero=allow)
    same(got, x.reshape(want))
    if not allow and asked:
        same(run_node("Reshape", [x], 1, shape=asked)[0], x.reshape(want))


@pytest.mark.parametrize("asked", [[5], [-1, -1], [-1, 5], [-2, 12], [2, 3, 4, 0]])
def test_reshape_refuses(run_node: Any, asked: list[int]) -> None:
    with pytest.raises(Exception, match="shape"):
        run_node("Reshape", [np.ones((2, 3, 4), np.float32), np.array(asked, np.int64)], 14, unranked=True)


@pytest.mark.parametrize("dtype", [np.float32, object])
@pytest.mark.parametrize("axis", [-3, -1, 0, 1, 2, 3])
def test_flatten(run_node: Any, dtype: Any, axis: int) -> None:
    x = numbered((2, 3, 4), dtype)
    rows = int(np.prod(x.shape[:axis], dtype=int))
    same(run_node("Flatten", [x], 13, axis=axis)[0], x.reshape(rows, -1))


@pytest.mark.parametrize(
    ("axes", "want"),
    [(None, (2, 3)), ([0], (2, 1, 3, 1)), ([-1, 2], (1, 2, 3)), ([0, 2, 4], (2, 3)), ([], (2, 3))],
)
def test_squeeze(run_node: Any, axes: Any, want: Any) -> None:
    x = numbered((1, 2, 1, 3, 1), np.float32)
    inputs = [x] if axes is None else [x, np.array(axes, np.int64)]
    same(run_node("Squeeze", inputs, 13)[0], x.reshape(want))
    if axes != []:
        same(run_node("Squeeze", [x], 11, **({} if axes is None else {"axes": axes}))[0], x.reshape(want))


def test_squeeze_refuses_an_extent(run_node: Any) -> None:
    with pytest.raises(Exception, match="axis 1"):
        run_node("Squeeze", [np.ones((1, 2), np.float32), np.array([1], np.int64)], 13, unranked=True)


@pytest.mark.parametrize(
    ("axes", "want"), [([0], (1, 2, 3)), ([-1], (2, 3, 1)), ([0, 3, 1], (1, 1, 2, 1, 3)), ([-2, 0], (1, 2, 1, 3))]
)
def test_unsqueeze(run_node: Any, axes: Any, want: Any) -> None:
    x = numbered((2, 3), np.float32)
    same(run_node("Unsqueeze", [x, np.array(axes, np.int64)], 13)[0], x.reshape(want))
    same(run_node("Unsqueeze", [x], 11, axes=axes)[0], x.reshape(want))


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
def test_identity(run_node: Any, dtype: Any) -> None:
    for shape in [(), (3,), (2, 0), (2, 3, 4)]:
        same(run_node("Identity", [numbered(shape, dtype)], 13)[0], numbered(shape, dtype))


@pytest.mark.parametrize("shape", [(), (0, 5), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("start", [None, 0, 1, -2, -9, 9])
@pytest.mark.parametrize("end", [None, 0, 2, -1, 9, -9])
def test_shape(run_node: Any, shape: Any, start: Any, end: Any) -> None:
    attributes = {name: value for name, value in (("start", start), ("end", end)) if value is not None}
    (got,) = run_node("Shape", [np.zeros(shape, np.float32)], 15, [TensorProto.INT64], unranked=True, **attributes)
    assert got.tolist() == list(shape[start:end])


@pytest.mark.parametrize(
    ("attribute", "value", "element", "want"),
    [
        ("value_float", 1.5, TensorProto.FLOAT, 1.5),
        ("value_floats", [1.5, -2.0], TensorProto.FLOAT, [1.5, -2.0]),
        ("value_int", -(2**63), TensorProto.INT64, -(2**63)),
        ("value_ints", [3, -4], TensorProto.INT64, [3, -4]),
        ("value_string", "text", TensorProto.STRING, "text"),
        ("value_strings", ["a", "b"], TensorProto.STRING, ["a", "b"]),
    ],
)
def test_constant(run_node: Any, attribute: str, value: Any, element: int, want: Any) -> None:
    (got,) = run_node("Constant", [], 13, [element], **{attribute: value})
    assert got.tolist() == want
