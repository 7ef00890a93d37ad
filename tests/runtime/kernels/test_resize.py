# SPDX-License-Identifier: Apache-2.0
"""Resize and Upsample, against the formulas of the operator's text in double precision."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

COORDINATES = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
ROUNDING = {
    "round_prefer_floor": lambda x: math.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: math.floor(x + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}


def original(mode: str, x: int, extent: int, out: int, scale: float, roi: tuple[float, float] = (0, 1)) -> float:
    """Return the coordinate in the input of output coordinate `x`."""
    length = extent * scale
    if mode == "half_pixel_symmetric":
        return extent / 2 * (1 - out / length) + (x + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel" and out == 1:
        return 0
    if mode == "align_corners":
        return 0 if length == 1 else x * (extent - 1) / (length - 1)
    if mode == "asymmetric":
        return x / scale
    if mode == "tf_crop_and_resize":
        start, end = roi
        if out == 1:
            return 0.5 * (start + end) * (extent - 1)
        return start * (extent - 1) + x * (end - start) * (extent - 1) / (out - 1)
    return (x + 0.5) / scale - 0.5


def kernel(mode: str, distance: float, a: float) -> float:
    x = abs(distance)
    if mode == "linear":
        return max(0.0, 1 - x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def weights(
    mode: str,
    coordinates: str,
    extent: int,
    out: int,
    scale: float,
    a: float = -0.75,
    antialias: bool = False,
    exclude: bool = False,
) -> np.ndarray:
    """Return the matrix [out, extent] of one axis."""
    matrix = np.zeros((out, extent))
    stretch = min(1.0, scale) if antialias else 1.0
    reach = math.ceil(2 / stretch) + 1
    for i in range(out):
        x = original(coordinates, i, extent, out, scale)
        places = range(math.floor(x) - reach, math.floor(x) + reach + 1)
        row = {place: kernel(mode, (place - x) * stretch, a) for place in places}
        if exclude:
            row = {place: weight for place, weight in row.items() if 0 <= place < extent}
        total = sum(row.values())
        for place, weight in row.items():
            matrix[i, min(max(place, 0), extent - 1)] += weight / total
    return matrix


def apply(x: np.ndarray, matrices: dict[int, np.ndarray]) -> np.ndarray:
    for axis, matrix in matrices.items():
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


def f32(values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def i64(values: Any) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.float16, np.float32, np.float64, np.complex128, object])
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("rounding", sorted(ROUNDING))
@pytest.mark.parametrize(("rows", "columns"), [(2.0, 3.0), (0.6, 0.6), (1.0, 2.7), (0.5, 1.0), (1.5, 0.4)])
def test_nearest(run_node: Any, dtype: Any, coordinates: str, rounding: str, rows: float, columns: float) -> None:
    count = np.arange(2 * 4 * 5).reshape(2, 4, 5)
    x = count.astype(str).astype(object) if dtype is object else count.astype(dtype)
    scales = f32([1, rows, columns])
    places = []
    for extent, scale in ((4, float(scales[1])), (5, float(scales[2]))):
        out = math.floor(extent * scale)
        where = [ROUNDING[rounding](original(coordinates, i, extent, out, scale)) for i in range(out)]
        places.append(np.clip(where, 0, extent - 1).astype(int))
    attributes = {"coordinate_transformation_mode": coordinates, "nearest_mode": rounding}
    (got,) = run_node("Resize", [x, None, scales], 19, threads=2, **attributes)
    want = x[:, places[0]][:, :, places[1]]
    assert got.shape == want.shape
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("rounding", sorted(ROUNDING))
@pytest.mark.parametrize("scale", [0.25, 0.5, 0.75, 0.7, 1.5, 2.5, None])
def test_nearest_to_the_exact_place(run_node: Any, coordinates: str, rounding: str, scale: float | None) -> None:
    half = Fraction(1, 2)
    rounded = {
        "round_prefer_floor": lambda place: math.ceil(place - half),
        "round_prefer_ceil": lambda place: math.floor(place + half),
        "floor": math.floor,
        "ceil": math.ceil,
    }[rounding]
    attributes = {"coordinate_transformation_mode": coordinates, "nearest_mode": rounding}
    for extent in range(4, 40):
        size = 11 * extent % 59 + 1  # where there is no scale
        exact = Fraction(size, extent) if scale is None else Fraction(float(np.float32(scale)))
        length = extent * exact
        out = math.floor(length)
        middle = Fraction(extent, 2) * (1 - out / length)
        want = []
        for x in range(out):
            place = (x + half) / exact - half
            if coordinates == "half_pixel_symmetric":
                place += middle
            elif coordinates == "pytorch_half_pixel" and out == 1:
                place = Fraction(0)
            elif coordinates == "align_corners":
                place = Fraction(0) if length == 1 else x * (extent - 1) / (length - 1)
            elif coordinates == "asymmetric":
                place = x / exact
            want.append(min(max(rounded(place), 0), extent - 1))
        given = [None, i64([size])] if scale is None else [f32([scale])]
        (got,) = run_node("Resize", [np.arange(extent), None, *given], 19, **attributes)
        assert got.tolist() == want, extent


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize(("rows", "columns"), [(2.0, 3.0), (0.6, 0.6), (1.0, 2.7), (0.5, 1.0), (0.26, 0.3)])
@pytest.mark.parametrize("antialias", [0, 1])
@pytest.mark.parametrize("exclude", [0, 1])
def test_interpolation(
    run_node: Any, mode: str, coordinates: str, rows: float, columns: float, antialias: int, exclude: int, rng: Any
) -> None:
    x = rng.standard_normal((2, 9, 7)).astype(np.float32)
    scales = f32([1, rows, columns])
    options: dict[str, Any] = {"antialias": bool(antialias), "exclude": bool(exclude), "a": -0.5}
    matrices = {
        axis: weights(mode, coordinates, x.shape[axis], math.floor(x.shape[axis] * s), s, **options)
        for axis, s in ((1, float(scales[1])), (2, float(scales[2])))
        if s != 1
    }
    attributes: dict[str, Any] = {"coordinate_transformation_mode": coordinates, "cubic_coeff_a": -0.5, "mode": mode}
    attributes |= {"antialias": antialias, "exclude_outside": exclude}
    (got,) = run_node("Resize", [x, None, scales], 19, threads=2, **attributes)
    np.testing.assert_allclose(got, apply(x.astype(np.float64), matrices), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ml_dtypes.bfloat16])
def test_interpolation_of_other_floats(run_node: Any, dtype: Any, rng: Any) -> None:
    x = rng.standard_normal((3, 4, 5)).astype(dtype)
    matrices = {
        axis: weights("linear", "half_pixel", x.shape[axis], n, n / x.shape[axis]) for axis, n in ((0, 5), (2, 3))
    }
    (got,) = run_node("Resize", [x, None, None, i64([5, 4, 3])], 13, mode="linear")
    want = apply(x.astype(np.float64), matrices)
    assert got.dtype == dtype
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=2 * ml_dtypes.finfo(dtype).eps, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_interpolation_of_integers_rounds_and_saturates(run_node: Any, dtype: Any) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, info.max, info.min, 3, 6], dtype)
    (got,) = run_node("Resize", [x, None, f32([2])], 19, mode="cubic")
    want = np.round(apply(x.astype(np.float64), {0: weights("cubic", "half_pixel", 6, 12, 2)}))
    wants = [min(max(int(v), info.min), info.max) for v in want]
    close = 1 if info.bits < 64 else 2**12
    assert all(abs(int(g) - w) <= close for g, w in zip(got.tolist(), wants, strict=True))
    assert max(got.tolist()) == info.max
    (got,) = run_node("Resize", [np.array([2, 5], dtype), None, f32([2])], 19, mode="linear")
    assert got.tolist() == [2, 3, 4, 5]  # 2, 2.75, 4.25, 5


def test_no_weight_no_infinity(run_node: Any) -> None:
    attributes = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    (got,) = run_node("Resize", [f32([1, np.inf, 3]), None, None, i64([5])], 19, **attributes)
    assert got.tolist() == [1, np.inf, np.inf, np.inf, 3]


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_crop(run_node: Any, dtype: Any, mode: str) -> None:
    if dtype is np.bool_ and mode == "linear":
        return
    x = (np.arange(20).reshape(4, 5) * 3).astype(dtype)
    roi = [0.2, -0.3, 0.9, 1.4]
    want = np.zeros((3, 6))
    for i, j in np.ndindex(3, 6):
        at = [
            original("tf_crop_and_resize", k, extent, out, out / extent, (roi[d], roi[d + 2]))
            for d, (k, extent, out) in enumerate([(i, 4, 3), (j, 5, 6)])
        ]
        if not (0 <= at[0] <= 3 and 0 <= at[1] <= 4):
            want[i, j] = 7.0
        elif mode == "nearest":
            want[i, j] = x[math.ceil(at[0] - 0.5), math.ceil(at[1] - 0.5)]
        else:
            taps = [np.maximum(0, 1 - np.abs(np.arange(n) - a)) for n, a in zip((4, 5), at, strict=True)]
            want[i, j] = taps[0] @ x @ taps[1]
    attributes: dict[str, Any] = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}
    for roi_type in (np.float32, np.float64):
        inputs = [x, np.array(roi, roi_type), None, i64([3, 6])]
        (got,) = run_node("Resize", inputs, 13, mode=mode, **attributes)
        if dtype is np.int32:
            assert np.abs(got - np.round(want)).max() <= (0 if mode == "nearest" else 1)
        else:
            np.testing.assert_allclose(got.astype(float), want.astype(dtype).astype(float), rtol=1e-5, atol=1e-4)


def test_the_scale_of_a_crop_is_that_of_the_whole_axis(run_node: Any) -> None:
    attributes = {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"}
    (got,) = run_node("Resize", [f32(range(9)), f32([0.25, 0.75]), f32([2.0])], 13, **attributes)
    np.testing.assert_allclose(got, np.linspace(2, 6, 18), rtol=1e-6)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("opset", [11, 13, 18, 19])
@pytest.mark.parametrize("constants", [(), (1, 2)])
def test_a_scaled_crop_is_that_of_the_reference(run_node: Any, rng: Any, mode: str, opset: int, constants: Any) -> None:
    x = rng.standard_normal((1, 1, 5, 6)).astype(np.float32)
    inputs = [x, f32([0, 0, 0.2, 0.1, 1, 1, 0.9, 0.8]), f32([1, 1, 2, 2])]
    attributes = {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": mode}
    node = helper.make_node("Resize", ["x", "roi", "scales"], ["y"], **attributes)
    info = [helper.make_tensor_value_info(name, 1, None) for name in ("x", "roi", "scales", "y")]
    model = helper.make_model(
        helper.make_graph([node], "g", info[:3], info[3:]), opset_imports=[helper.make_opsetid("", opset)]
    )
    want = ReferenceEvaluator(model).run(None, dict(zip(("x", "roi", "scales"), inputs, strict=True)))[0]
    (got,) = run_node("Resize", inputs, opset, constants=constants, **attributes)
    assert got.shape == want.shape == (1, 1, 10, 12)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("policy", "sizes", "want"),
    [
        ("stretch", [3, 8], (3, 8)),
        ("not_larger", [3, 8], (3, 6)),
        ("not_smaller", [3, 8], (4, 8)),
        ("not_larger", [2, 5], (2, 4)),  # 2.5 is rounded up: 5 * 0.5 = 2.5
        ("not_smaller", [1, 2], (1, 2)),
    ],
)
def test_aspect_ratio(run_node: Any, policy: str, sizes: Any, want: Any) -> None:
    x = np.arange(3 * 8, dtype=np.float32).reshape(2, 4, 3)
    (got,) = run_node("Resize", [x, None, None, i64(sizes)], 18, keep_aspect_ratio_policy=policy, axes=[0, 1])
    assert got.shape == (*want, 3)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_axes(run_node: Any, mode: str, rng: Any) -> None:
    x = rng.standard_normal((4, 3, 5)).astype(np.float32)
    (full,) = run_node("Resize", [x, None, f32([0.5, 1, 2])], 18, mode=mode)
    (by_scales,) = run_node("Resize", [x, None, f32([2, 0.5])], 18, mode=mode, axes=[-1, 0])
    (by_sizes,) = run_node("Resize", [x, None, None, i64([10, 2])], 18, mode=mode, axes=[2, 0])
    np.testing.assert_array_equal(by_scales, full)
    np.testing.assert_array_equal(by_sizes, full)


def test_unused_inputs_of_version_11_are_empty(run_node: Any) -> None:
    x = f32([1, 2, 3, 4])
    (got,) = run_node("Resize", [x, f32([]), f32([]), i64([2])], 11)
    assert got.tolist() == [1, 3]  # 0.5 and 2.5 go down
    (got,) = run_node("Resize", [x, f32([]), f32([0.5])], 11, coordinate_transformation_mode="tf_half_pixel_for_nn")
    assert got.tolist() == [2, 4]


@pytest.mark.parametrize(("op_type", "opset"), [("Resize", 10), ("Upsample", 9), ("Upsample", 7)])
def test_older_versions(run_node: Any, op_type: str, opset: int) -> None:
    x, scales = np.arange(6, dtype=np.float32).reshape(1, 2, 3), [1.0, 2.0, 1.5]
    inputs, attributes = ([x], {"scales": scales}) if opset == 7 else ([x, f32(scales)], {})
    (got,) = run_node(op_type, inputs, opset, **attributes)
    assert got.tolist() == x[:, [0, 0, 1, 1]][:, :, [0, 0, 1, 2]].tolist()
    (got,) = run_node(op_type, inputs, opset, mode="linear", **attributes)
    matrices = {1: weights("linear", "asymmetric", 2, 4, 2), 2: weights("linear", "asymmetric", 3, 4, 1.5)}
    np.testing.assert_allclose(got, apply(x, matrices), rtol=1e-6)


def test_resize_10_goes_up_when_it_shrinks(run_node: Any) -> None:
    x = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 4)
    assert run_node("Resize", [x, f32([1, 1, 0.6, 0.6])], 10)[0].tolist() == [[[[1, 3]]]]


def test_first_upsample(run_node: Any) -> None:
    x = np.array([[[[1, 2], [3, 4]]]], np.float32)
    (got,) = run_node("Upsample", [x], 1, height_scale=2.0, width_scale=2.0)
    assert got.tolist() == [[[[1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]]]]
    assert run_node("Upsample", [x], 1, height_scale=1.0, width_scale=2.0, mode="bilinear")[0].shape == (1, 1, 2, 4)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_no_elements(run_node: Any, mode: str) -> None:
    x = np.ones((0, 3), np.float32)
    assert run_node("Resize", [x, None, f32([2, 2])], 13, mode=mode)[0].shape == (0, 6)
    assert run_node("Resize", [x.T.copy(), None, None, i64([0, 0])], 13, mode=mode)[0].shape == (0, 0)
    with pytest.raises(Exception, match="must have elements"):
        run_node("Resize", [x, None, None, i64([1, 3])], 13, mode=mode)


@pytest.mark.parametrize(
    ("roi", "scales", "sizes", "attributes", "message"),
    [
        (None, [1], None, {}, "scales.*2 elements"),
        (None, [1, 0], None, {}, "positive"),
        (None, [1, -2], None, {}, "positive"),
        (None, [1, np.nan], None, {}, "positive"),
        (None, [1, np.inf], None, {}, "positive"),
        (None, [1, 1e30], None, {}, "fit in memory"),
        (None, None, [1, 2, 3], {}, "sizes.*2 elements"),
        (None, None, [1, -2], {}, "sizes|negative"),
        (None, None, [2**40, 2**40], {}, "output 0|fit|memory"),
        (None, [1, 1], [2, 2], {}, "omitted"),
        (None, None, None, {}, "scales"),
        (None, [2, 2], None, {"axes": [0, 0]}, "distinct"),
        (None, [2], None, {"axes": [2]}, r"attribute axes: must be in \[-2, 1\] for rank 2, got 2"),
        ([0, 1], [2, 2], None, {"coordinate_transformation_mode": "tf_crop_and_resize"}, "roi.*4 elements"),
        (None, [2, 2], None, {"coordinate_transformation_mode": "tf_crop_and_resize"}, "roi"),
        (None, [2, 2], None, {"mode": "lanczos"}, "mode.*lanczos"),
        (None, [2, 2], None, {"nearest_mode": "up"}, "nearest_mode.*up"),
        (None, None, [2, 2], {"keep_aspect_ratio_policy": "crop"}, "keep_aspect_ratio_policy.*crop"),
    ],
)
def test_resize_refuses(run_node: Any, roi: Any, scales: Any, sizes: Any, attributes: Any, message: str) -> None:
    inputs = [np.ones((2, 3), np.float32)]
    inputs += [None if v is None else f32(v) for v in (roi, scales)] + [None if sizes is None else i64(sizes)]
    while inputs[-1] is None:
        inputs.pop()
    with pytest.raises(Exception, match=message):
        run_node("Resize", inputs, 18, unranked=True, **attributes)


CROP = {"coordinate_transformation_mode": "tf_crop_and_resize"}


@pytest.mark.parametrize(
    ("dtype", "attributes", "message"),
    [
        (object, {"mode": "linear"}, "attribute mode: is not implemented for elements of type string, got linear"),
        (object, CROP, "attribute coordinate_transformation_mode: is not implemented for elements of type string"),
        (np.complex64, {"mode": "cubic", **CROP}, "coordinate_transformation_mode: .* of type complex64, got tf_crop"),
    ],
)
def test_resize_does_not_implement(run_node: Any, dtype: Any, attributes: Any, message: str) -> None:
    x = np.array(["a", "b"], object) if dtype is object else np.ones(2, dtype)
    with pytest.raises(Exception, match=message):
        run_node("Resize", [x, f32([0, 1]), f32([2])], 13, **attributes)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize(("dtype", "part"), [(np.complex64, np.float32), (np.complex128, np.float64)])
@pytest.mark.parametrize("scales", [[1, 2.5], [3, 1], [0.5, 2], [1, 1]])
def test_parts_of_complex_numbers_are_resized_alike(
    run_node: Any, rng: Any, mode: str, dtype: Any, part: Any, scales: Any
) -> None:
    x = (rng.standard_normal((4, 6)) + 1j * rng.standard_normal((4, 6))).astype(dtype)
    (got,) = run_node("Resize", [x, None, f32(scales)], 18, mode=mode)
    assert got.dtype == dtype
    for take in (np.real, np.imag):
        (one,) = run_node("Resize", [take(x).astype(part), None, f32(scales)], 18, mode=mode)
        np.testing.assert_allclose(take(got), one, rtol=0, atol=8 * np.finfo(part).eps)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
def test_bools_are_true_where_their_numbers_are_not_zero(run_node: Any, mode: str, coordinates: str) -> None:
    x = np.zeros((3, 9), bool)
    x[1, 2] = x[2, 5] = x[2, 6] = True
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    (got,) = run_node("Resize", [x, None, f32([2, 3])], 18, **attributes)
    (number,) = run_node("Resize", [x.astype(np.float32), None, f32([2, 3])], 18, **attributes)
    assert got.dtype == bool
    assert 0 < got.sum() < got.size
    np.testing.assert_array_equal(got, number != 0)
