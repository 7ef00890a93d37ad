# SPDX-License-Identifier: Apache-2.0
"""DFT, STFT, windows and the mel matrix against numpy in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from float_checks import FLOATS, close, uniform
from kernel_arrays import int64, kind
from onnx import TensorProto

NUMBERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, *FLOATS]


def pair(x: np.ndarray) -> np.ndarray:
    """Return complex numbers as a last axis of two."""
    return np.stack([x.real, x.imag], -1)


def number(x: np.ndarray) -> np.ndarray:
    """Return what a last axis of one or two holds, in double precision."""
    wide = x.astype(np.float64)
    return wide[..., 0] + (1j * wide[..., 1] if x.shape[-1] == 2 else 0)


# Powers of two, products of small primes, primes below and above the largest factor of a stage, and their products.
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 12, 16, 30, 31, 37, 60, 64, 74, 97, 128, 210, 243, 251, 256, 961, 1009, 1024, 1500]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("inverse", [0, 1])
def test_dft_of_any_length(run_node: Any, rng: Any, length: int, parts: int, inverse: int) -> None:
    x = rng.uniform(-1, 1, (3, length, parts))
    function = np.fft.ifft if inverse else np.fft.fft
    want = pair(function(number(x), axis=1))
    scale = float(np.abs(want).max())
    (got,) = run_node("DFT", [x], 20, inverse=inverse)
    assert got.shape == (3, length, 2)
    # Bound: 2e-15 times the logarithm of the length, relative to the largest result.
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-15 * scale * (1 + np.log2(length)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("shape", "axis", "wanted"),
    [((2, 10, 3, 2), 1, None), ((2, 10, 3, 1), 2, 5), ((9, 2, 1), 0, 4), ((9, 2, 2), -2, 6), ((12, 11, 1), -2, None)],
    ids=str,
)
@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("opset", [17, 20])
def test_dft(
    run_node: Any, rng: Any, dtype: Any, shape: Any, axis: int, wanted: Any, onesided: int, opset: int
) -> None:
    x = uniform(rng, shape, dtype)
    place = axis % len(shape)
    want = np.fft.fft(number(x), wanted, place)
    if onesided:
        want = np.take(want, range(want.shape[place] // 2 + 1), place)
    length = None if wanted is None else np.array(wanted, np.int32)
    inputs, attributes = ([x, length], {"axis": axis}) if opset == 17 else ([x, length, np.array(axis, np.int64)], {})
    (got,) = run_node("DFT", inputs, opset, threads=2, onesided=onesided, **attributes)
    assert got.dtype == dtype
    close(got, pair(want), dtype, 12)


@pytest.mark.parametrize("given", [4, 5])
@pytest.mark.parametrize("wanted", [None, 5, 6, 7, 12])
def test_half_a_spectrum_gives_real_numbers(run_node: Any, rng: Any, given: int, wanted: Any) -> None:
    x = uniform(rng, (3, given, 2), np.float64)
    length = None if wanted is None else np.array(wanted, np.int64)
    (got,) = run_node("DFT", [x, length], 20, inverse=1, onesided=1)
    close(got, np.fft.irfft(number(x), wanted, 1)[..., np.newaxis], np.float64)


def test_dft_axes_by_default(run_node: Any, rng: Any) -> None:
    x = uniform(rng, (3, 4, 5, 1), np.float32)
    close(run_node("DFT", [x], 17)[0], pair(np.fft.fft(number(x), axis=1)), np.float32, 10)
    close(run_node("DFT", [x], 20)[0], pair(np.fft.fft(number(x), axis=2)), np.float32, 10)


def test_many_lines_give_what_one_line_gives(run_node: Any, rng: Any) -> None:
    x = rng.uniform(-1, 1, (21, 37, 2))
    (many,) = run_node("DFT", [x], 20, threads=2)
    for i in (0, 7, 8, 20):
        (one,) = run_node("DFT", [x[i : i + 1]], 20)
        np.testing.assert_allclose(many[i : i + 1], one, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("shape", "inputs", "opset", "attributes", "message"),
    [
        ((2, 3, 3), [], 20, {}, "1 .real. or 2 .complex."),
        ((2, 3, 1), [None, int64(2)], 20, {}, "must not be the last one"),
        ((2, 3, 1), [int64(0)], 20, {}, "dft_length.*positive length, got 0"),
        ((2, 0, 1), [], 20, {}, "input 0.*positive length, got 0"),
        ((2, 3, 1), [], 17, {"axis": 4}, "axis"),
    ],
)
def test_dft_refuses(run_node: Any, shape: Any, inputs: Any, opset: int, attributes: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node("DFT", [np.ones(shape, np.float32), *inputs], opset, **attributes)


def test_dft_without_lines(run_node: Any) -> None:
    assert run_node("DFT", [np.ones((0, 6, 1), np.float32)], 20, onesided=1)[0].shape == (0, 4, 2)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize(("window", "length"), [(8, None), (None, 7), (8, 8), (5, 9), (None, None)])
def test_stft(run_node: Any, rng: Any, dtype: Any, parts: int, onesided: int, window: Any, length: Any) -> None:
    signal, step = uniform(rng, (2, 29, parts), dtype), 3
    weights = None if window is None else rng.uniform(0, 1, window).astype(dtype)
    size = length or window or 29
    frames = (29 - size) // step + 1
    factors = np.zeros(size)
    factors[: window or size] = 1 if weights is None else weights.astype(np.float64)
    lines = np.stack([number(signal)[:, f * step : f * step + size] * factors for f in range(frames)], 1)
    want = np.fft.fft(lines, axis=2)[..., : size // 2 + 1 if onesided else size]
    inputs = [signal, int64(step), weights, None if length is None else int64(length)]
    (got,) = run_node("STFT", inputs, 17, threads=2, onesided=onesided)
    assert got.dtype == dtype
    close(got, pair(want), dtype, 20)


def test_stft_of_real_numbers_without_an_axis_of_their_own(run_node: Any, rng: Any) -> None:
    signal = uniform(rng, (2, 20), np.float32)
    inputs = [int64(4), None, int64(8)]
    (got,) = run_node("STFT", [signal, *inputs], 17)
    assert got.tobytes() == run_node("STFT", [signal[..., np.newaxis], *inputs], 17)[0].tobytes()


@pytest.mark.parametrize(
    ("shape", "step", "window", "length", "message"),
    [
        ((1, 9, 3), 2, None, 4, "1 .real. or 2"),
        ((1, 9, 1), 0, None, 4, "frame_step.*positive"),
        ((1, 9, 1), 2, None, 10, "at most that of the signal, 9"),
        ((1, 9, 1), 2, 5, 4, "window"),
        ((1, 9, 1), 2, 10, None, "at most that of the signal"),
    ],
)
def test_stft_refuses(run_node: Any, shape: Any, step: int, window: Any, length: Any, message: str) -> None:
    weights = None if window is None else np.ones(window, np.float32)
    size = None if length is None else int64(length)
    with pytest.raises(Exception, match=message):
        run_node("STFT", [np.ones(shape, np.float32), int64(step), weights, size], 17)


TERMS = {"HannWindow": (0.5, 0.5, 0), "HammingWindow": (25 / 46, 21 / 46, 0), "BlackmanWindow": (0.42, 0.5, 0.08)}


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("size", [0, 2, 3, 10, 1001])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_windows(run_node: Any, name: str, periodic: int, size: int, dtype: Any) -> None:
    turn = 2 * np.pi * np.arange(size) / (size if periodic else size - 1)
    a, b, c = TERMS[name]
    want = a + c * np.cos(2 * turn) - b * np.cos(turn)
    inputs = [np.array(size, np.int32 if periodic else np.int64)]
    (got,) = run_node(name, inputs, 17, [kind(dtype)], periodic=periodic, output_datatype=kind(dtype), threads=2)
    assert got.dtype == dtype
    if dtype in FLOATS:
        close(got, want, dtype)
    else:  # cut off: 0 but for the middle, which is exactly 1
        assert got.tolist() == np.trunc(want).astype(int).tolist()


@pytest.mark.parametrize("name", TERMS)
def test_the_middle_of_a_window_is_one(run_node: Any, name: str) -> None:
    size, attributes = int64(10), {"periodic": 1, "output_datatype": TensorProto.INT32}
    (got,) = run_node(name, [size], 17, [TensorProto.INT32], **attributes)
    assert got.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(("name", "want"), [("HannWindow", 1), ("HammingWindow", 1), ("BlackmanWindow", 1)])
def test_a_window_of_one_element(run_node: Any, name: str, want: int) -> None:
    (got,) = run_node(name, [int64(1)], 17, [TensorProto.FLOAT], periodic=0)
    np.testing.assert_allclose(got, [want], rtol=1e-7)


def test_windows_refuse(run_node: Any) -> None:
    with pytest.raises(Exception, match="must not be negative, got -1"):
        run_node("HannWindow", [int64(-1)], 17, [TensorProto.FLOAT])
    with pytest.raises(Exception, match="one element"):
        run_node("HannWindow", [int64([1, 2])], 17, [TensorProto.FLOAT])


def mel_matrix(bands: int, length: int, rate: int, low: float, high: float) -> np.ndarray:
    mels = 2595 * np.log10(1 + np.array([low, high], np.float64) / 700)
    points = mels[0] + np.arange(bands + 2) * (mels[1] - mels[0]) / (bands + 2)
    edges = np.floor((length + 1) * 700 * (10 ** (points / 2595) - 1) / rate).astype(int)
    out = np.zeros((length // 2 + 1, bands))
    for band in range(bands):
        left, middle, right = edges[band : band + 3]
        for line in range(left, right):
            rise, fall = middle - left, right - middle
            if line < middle:
                out[line, band] = (line - left) / rise
            elif line > middle:
                out[line, band] = (right - line) / fall
        out[middle, band] = 1
    return out


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("edge", FLOATS)
@pytest.mark.parametrize("sizes", [(8, 16, 8192), (20, 400, 16000), (1, 1, 100)], ids=str)
def test_mel_weight_matrix(run_node: Any, dtype: Any, edge: Any, sizes: Any) -> None:
    low, high = (0.0, 10.0) if sizes[1] == 1 else (1.0, sizes[2] / 2 - 96)
    edges = [np.array(low, edge), np.array(high, edge)]
    want = mel_matrix(*sizes, float(edges[0]), float(edges[1]))
    inputs = [*(int64(s) for s in sizes), *edges]
    (got,) = run_node("MelWeightMatrix", inputs, 17, [kind(dtype)], output_datatype=kind(dtype))
    assert got.dtype == dtype
    if dtype in FLOATS:
        close(got, want, dtype)
    else:
        assert got.tolist() == np.trunc(want).astype(int).tolist()


@pytest.mark.parametrize(
    ("sizes", "edges", "message"),
    [
        ((0, 16, 8192), (0, 100), "num_mel_bins.*positive"),
        ((8, 16, 8192), (0, 8000), "within the 9 lines"),
        ((8, 16, 8192), (-1, 100), "lower_edge_hertz.*negative"),
        ((8, 16, 8192), (200, 100), "upper_edge_hertz"),
        ((8, 16, 8192), (0, float("nan")), "upper_edge_hertz"),
    ],
)
def test_mel_weight_matrix_refuses(run_node: Any, sizes: Any, edges: Any, message: str) -> None:
    inputs = [*(int64(s) for s in sizes), *(np.array(e, np.float32) for e in edges)]
    with pytest.raises(Exception, match=message):
        run_node("MelWeightMatrix", inputs, 17, [TensorProto.FLOAT])


def test_the_types_of_windows_are_those_asked_for(run_node: Any) -> None:
    (got,) = run_node("HannWindow", [int64(4)], 17, [TensorProto.BFLOAT16], output_datatype=TensorProto.BFLOAT16)
    assert got.dtype == ml_dtypes.bfloat16
    assert run_node("HannWindow", [int64(4)], 17, [TensorProto.FLOAT])[0].dtype == np.float32
