# SPDX-License-Identifier: Apache-2.0
"""The operators of ai.onnx.ml that look at features one by one, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_arrays import int64, kind, same
from onnx import TensorProto, helper, numpy_helper

NUMBERS = [np.float32, np.float64, np.int64, np.int32]
FLOAT = [TensorProto.FLOAT]


@pytest.fixture
def run_ml(run_node: Any) -> Any:
    """Run one node of the domain ai.onnx.ml."""

    def run(op: str, inputs: Any, outputs: Any = None, opset: int = 1, **attributes: Any) -> Any:
        return run_node(op, inputs, opset, outputs, domain="ai.onnx.ml", **attributes)

    return run


def near(got: np.ndarray, want: Any) -> None:
    """Check shape and values, as near as float32 allows."""
    want = np.asarray(want, np.float64)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=3e-7, atol=1e-12)


def draw(rng: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return numbers between -9 and 9."""
    return np.asarray(rng.uniform(-9, 9, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(), (7,), (3, 4), (2, 3, 4), (0, 4)], ids=str)
def test_binarizer(run_ml: Any, rng: Any, dtype: Any, shape: Any) -> None:
    x = draw(rng, shape, dtype)
    for threshold in (0.0, 1.0, -2.5):
        (got,) = run_ml("Binarizer", [x], threshold=threshold)
        same(got, (x > threshold).astype(dtype))


def test_binarizer_of_large_integers_and_nan(run_ml: Any) -> None:
    x = int64([(1 << 24) + 1, 1 << 24])
    same(run_ml("Binarizer", [x], threshold=float(1 << 24))[0], int64([1, 0]))
    same(run_ml("Binarizer", [np.array([np.nan, np.inf], np.float32)])[0], np.array([0, 1], np.float32))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (0, 4)], ids=str)
def test_scaler(run_ml: Any, rng: Any, dtype: Any, shape: Any) -> None:
    x = draw(rng, shape, dtype)
    for scale, offset in [([2.0], [0.5]), ([2.0, 0.5, -1.0, 0.25], [1.0, 0.0, -3.0, 2.0])]:
        (got,) = run_ml("Scaler", [x], FLOAT, scale=scale, offset=offset)
        near(got, (x.astype(np.float64) - np.array(offset)) * np.array(scale))
    with pytest.raises(Exception, match="scale and offset: must have equally many elements, got 1 and 2"):
        run_ml("Scaler", [x], FLOAT, scale=[1.0], offset=[1.0, 2.0])
    with pytest.raises(Exception, match=r"input 0 \(X\): must have 3 columns"):
        run_ml("Scaler", [x], FLOAT, scale=[1.0] * 3, offset=[1.0] * 3)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (0, 3), (4, 1)], ids=str)
@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(run_ml: Any, rng: Any, dtype: Any, shape: Any, norm: str) -> None:
    x = draw(rng, shape, dtype)
    if x.size:
        x[0] = 0  # nothing to divide by
    wide = x.astype(np.float64)
    if x.size:
        divisor = {
            "MAX": wide.max(-1, keepdims=True),
            "L1": np.abs(wide).sum(-1, keepdims=True),
            "L2": np.sqrt((wide * wide).sum(-1, keepdims=True)),
        }[norm]
        wide = wide / np.where(divisor == 0, 1, divisor)
    near(run_ml("Normalizer", [x], FLOAT, norm=norm)[0], wide)
    with pytest.raises(Exception, match="norm: must be MAX, L1 or L2, got L3"):
        run_ml("Normalizer", [x], FLOAT, norm="L3")
    with pytest.raises(Exception, match=r"input 0 \(X\): must have rank 1 or 2"):
        run_ml("Normalizer", [x.reshape(1, 1, -1)], FLOAT, norm=norm)


def test_imputer(run_ml: Any) -> None:
    nan = np.float32(np.nan)
    x = np.array([[1, nan, 3], [nan, 1, 1]], np.float32)
    for dtype in (np.float32, np.float64):
        (got,) = run_ml("Imputer", [x.astype(dtype)], imputed_value_floats=[9.0], replaced_value_float=float("nan"))
        same(got, np.array([[1, 9, 3], [9, 1, 1]], dtype))
        values = [7.0, 8.0, 9.0]
        (got,) = run_ml(
            "Imputer", [x.astype(dtype)[:, ::-1][:1]], imputed_value_floats=values, replaced_value_float=1.0
        )
        assert got.tolist()[0][::2] == [3, 9]
        assert np.isnan(got[0, 1])
    for integer in (np.int32, np.int64):
        y = np.array([[[1, 2], [3, 1]]], integer)
        same(
            run_ml("Imputer", [y], imputed_value_int64s=[5, 6], replaced_value_int64=1)[0],
            np.array([[[5, 2], [3, 6]]], integer),
        )
        if integer is np.int32:  # a number that no element has
            same(run_ml("Imputer", [y], imputed_value_int64s=[5], replaced_value_int64=(1 << 32) + 1)[0], y)
    with pytest.raises(Exception, match="imputed_value_int64s: must be given for int32"):
        run_ml("Imputer", [np.zeros((1, 2), np.int32)], imputed_value_floats=[1.0])
    with pytest.raises(Exception, match=r"input 0 \(X\): must have 2 columns"):
        run_ml("Imputer", [x], imputed_value_floats=[1.0, 2.0])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_feature_vectorizer(run_ml: Any, rng: Any, dtype: Any) -> None:
    a, b = draw(rng, (3, 2), dtype), draw(rng, (3, 4), dtype)
    (got,) = run_ml("FeatureVectorizer", [a, b], FLOAT, inputdimensions=[2, 4])
    near(got, np.concatenate([a, b], 1))
    (got,) = run_ml("FeatureVectorizer", [a, b], FLOAT, inputdimensions=[3, 1])
    near(got, np.concatenate([a, np.zeros((3, 1)), b[:, :1]], 1))
    near(
        run_ml("FeatureVectorizer", [a[0], b[0]], FLOAT, inputdimensions=[2, 4])[0], np.concatenate([a[0], b[0]])[None]
    )
    with pytest.raises(Exception, match="inputdimensions: must have an element for each of the 2 inputs, got 1"):
        run_ml("FeatureVectorizer", [a, b], FLOAT, inputdimensions=[2])
    with pytest.raises(Exception, match=r"input 1 \(X\): must have 3 rows"):
        run_ml("FeatureVectorizer", [a, b[:2]], FLOAT, inputdimensions=[2, 4])


@pytest.mark.parametrize("dtype", [*NUMBERS, object])
@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5), (0, 5)], ids=str)
def test_array_feature_extractor(run_ml: Any, rng: Any, dtype: Any, shape: Any) -> None:
    x = draw(rng, shape, np.int64).astype(str).astype(object) if dtype is object else draw(rng, shape, dtype)
    for index in (int64([3]), int64([[4, 0, 0, 1]]), int64([[1, 2], [3, 4]])):
        (got,) = run_ml("ArrayFeatureExtractor", [x, index], [kind(dtype)])
        want = x[..., index.ravel()]
        same(got, want[None] if x.ndim == 1 else want)
    with pytest.raises(Exception, match=r"input 1 \(Y\): must be in \[0, 4\], got 5"):
        run_ml("ArrayFeatureExtractor", [x, int64([5])], [kind(dtype)])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_one_hot_encoder(run_ml: Any, dtype: Any) -> None:
    x = np.array([[1, 2], [-3, 1]]).astype(dtype)
    want = np.array([[[1, 0], [0, 0]], [[0, 1], [1, 0]]], np.float32)
    same(run_ml("OneHotEncoder", [x], FLOAT, cats_int64s=[1, -3])[0], want)
    same(run_ml("OneHotEncoder", [x[0]], FLOAT, cats_int64s=[1, -3])[0], want[0])
    with pytest.raises(Exception, match=r"input 0 \(X\): must be among the categories.*element 1 is not"):
        run_ml("OneHotEncoder", [x], FLOAT, cats_int64s=[1, -3], zeros=0)
    if dtype in (np.float32, np.float64):  # truncated
        same(run_ml("OneHotEncoder", [np.array([1.9, -3.5], dtype)], FLOAT, cats_int64s=[1, -3])[0], np.eye(2))


def test_one_hot_encoder_of_strings(run_ml: Any) -> None:
    x = np.array(["b", "a", "c"], object)
    same(
        run_ml("OneHotEncoder", [x], FLOAT, cats_strings=["a", "b"])[0], np.array([[0, 1], [1, 0], [0, 0]], np.float32)
    )
    with pytest.raises(Exception, match="cats_int64s: does not fit elements of type string"):
        run_ml("OneHotEncoder", [x], FLOAT, cats_int64s=[1])
    with pytest.raises(Exception, match="cats_int64s and cats_strings: one of them must have categories"):
        run_ml("OneHotEncoder", [x], FLOAT)


LABELS: dict[Any, Any] = {
    np.float32: [1.5, float("nan"), -2.0],
    np.float64: [1.5, float("nan"), -2.0],
    np.int16: [3, 1, -2],
    np.int32: [3, 1, -2],
    np.int64: [3, 1, -2],
    object: ["x", "yy", "a text that does not fit into the object itself"],
}
OLD_NAMES = {np.float32: "floats", np.int64: "int64s", object: "strings"}
DEFAULTS: dict[Any, Any] = {
    np.float32: 0.0, np.float64: 0.0, np.int16: -1, np.int32: -1, np.int64: -1, object: "_Unused",
}  # fmt: skip


def labels(dtype: Any, values: Any) -> np.ndarray:
    return np.array(values, dtype)


def tensor(dtype: Any, values: Any) -> Any:
    if dtype is object:
        return helper.make_tensor("t", TensorProto.STRING, [len(values)], [v.encode() for v in values])
    return numpy_helper.from_array(np.array(values, dtype))


@pytest.mark.parametrize("source", list(LABELS))
@pytest.mark.parametrize("target", list(LABELS))
def test_label_encoder(run_ml: Any, source: Any, target: Any) -> None:
    keys, values = LABELS[source], LABELS[target]
    unknown = {object: "unknown"}.get(source, 100)
    x = labels(source, [keys[1], unknown, keys[0], keys[2]]).reshape(2, 2)

    def check(opset: int, default: Any, **attributes: Any) -> None:
        (got,) = run_ml("LabelEncoder", [x], [kind(target)], opset, **attributes)
        want = labels(target, [values[1], default, values[0], values[2]]).reshape(2, 2)
        assert got.shape == want.shape
        assert repr(got.tolist()).replace("-0.0", "0.0") == repr(want.tolist())

    tensors = {"keys_tensor": tensor(source, keys), "values_tensor": tensor(target, values)}
    check(4, DEFAULTS[target], **tensors)
    check(4, values[0], default_tensor=tensor(target, values[:1]), **tensors)
    if source in OLD_NAMES and target in OLD_NAMES:
        lists = {f"keys_{OLD_NAMES[source]}": keys, f"values_{OLD_NAMES[target]}": values}
        check(2, DEFAULTS[target], **lists)
        check(4, values[2], **lists, **{f"default_{OLD_NAMES[target].removesuffix('s')}": values[2]})


def test_label_encoder_of_version_1(run_ml: Any) -> None:
    classes = ["a", "b", "c"]
    x = np.array(["c", "z", "a"], object)
    (got,) = run_ml("LabelEncoder", [x], [TensorProto.INT64], 1, classes_strings=classes, default_int64=7)
    same(got, int64([2, 7, 0]))
    (got,) = run_ml("LabelEncoder", [int64([2, 5, -1])], [TensorProto.STRING], 1, classes_strings=classes)
    same(got, np.array(["c", "_Unused", "_Unused"], object))


def test_attributes_of_label_encoder(run_ml: Any) -> None:
    x = int64([1])
    (got,) = run_ml("LabelEncoder", [x], [TensorProto.INT64], 4, keys_int64s=[1, 1], values_int64s=[4, 5])
    same(got, int64([5]))  # the last of equal keys
    zeros = np.array([-0.0, 0.0], np.float32)
    same(
        run_ml("LabelEncoder", [zeros], [TensorProto.INT64], 4, keys_floats=[0.0], values_int64s=[4])[0], int64([4, 4])
    )
    with pytest.raises(Exception, match=r"keys_\* and values_\*: must have equally many elements, got 1 and 2"):
        run_ml("LabelEncoder", [x], [TensorProto.INT64], 4, keys_int64s=[1], values_int64s=[4, 5])
    with pytest.raises(Exception, match="keys_int64s: must be given"):
        run_ml("LabelEncoder", [x], [TensorProto.INT64], 4, keys_floats=[1.0], values_int64s=[4])
