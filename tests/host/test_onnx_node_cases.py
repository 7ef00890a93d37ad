# SPDX-License-Identifier: Apache-2.0
"""The node tests of the onnx package pass, by native kernels and with ``onnx.reference``, but for a list each."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_node_cases import Case, failures, load_cases

NO_SUBGRAPHS = "the reference fallback takes no nodes with subgraphs, and there is no kernel"
ROUNDING_ERRORS = "where the result is 0, what onnx lists are rounding errors of float32 beyond the tolerance"
# Cases that fail, each with its reason.
FAILING = {
    "test_attention_4d_causal_fp16_expanded": "2 of 192 values are off by one unit in the last place of float16",
    "test_dft_inverse": ROUNDING_ERRORS,
    "test_dft_inverse_opset19": ROUNDING_ERRORS,
    "test_flexattention_causal_mask": NO_SUBGRAPHS,
    "test_flexattention_prob_mod": NO_SUBGRAPHS,
    "test_flexattention_relative_positional": NO_SUBGRAPHS,
    "test_flexattention_score_mod": NO_SUBGRAPHS,
    "test_flexattention_soft_cap": NO_SUBGRAPHS,
    "test_scan_sum": NO_SUBGRAPHS,
}
# Operators without a native kernel, with their cases.
NOT_NATIVE = {
    "Adagrad": ["test_adagrad", "test_adagrad_multiple"],
    "Adam": ["test_adam", "test_adam_multiple"],
    "FlexAttention": [
        "test_flexattention",
        "test_flexattention_diff_head_sizes",
        "test_flexattention_double",
        "test_flexattention_fp16",
        "test_flexattention_gqa",
        "test_flexattention_scaled",
    ],
    "ImageDecoder": [
        "test_image_decoder_decode_bmp_rgb",
        "test_image_decoder_decode_jpeg2k_rgb",
        "test_image_decoder_decode_jpeg_bgr",
        "test_image_decoder_decode_jpeg_grayscale",
        "test_image_decoder_decode_jpeg_rgb",
        "test_image_decoder_decode_png_rgb",
        "test_image_decoder_decode_pnm_rgb",
        "test_image_decoder_decode_tiff_rgb",
        "test_image_decoder_decode_webp_rgb",
    ],
    "Momentum": ["test_momentum", "test_momentum_multiple", "test_nesterov_momentum"],
    "RegexFullMatch": [
        "test_regex_full_match_basic",
        "test_regex_full_match_email_domain",
        "test_regex_full_match_empty",
    ],
}
# Data sets of tensors that ONNX Runtime 1.32 passes.
OF_ONNX_RUNTIME = 1566


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Return all node tests of the onnx package."""
    return load_cases()


@pytest.fixture(scope="module")
def without_fallback(cases: list[Case]) -> dict[str, str]:
    """Return the cases that fail with native kernels alone, each with its reason."""
    return failures(cases, reference_fallback=False)


def has_tensors_alone(data_set: tuple[list[object], list[object]]) -> bool:
    return all(isinstance(value, np.ndarray) for values in data_set for value in values)


def test_native_kernels_alone_pass_all_but_those_listed(cases: list[Case], without_fallback: dict[str, str]) -> None:
    listed = [*FAILING, *(name for names in NOT_NATIVE.values() for name in names)]
    assert {name: reason for name, reason in without_fallback.items() if name not in listed} == {}
    assert [name for name in listed if name not in without_fallback] == [], "they pass now: take them off the list"
    passed = [case for case in cases if case.name not in without_fallback]
    assert sum(has_tensors_alone(data_set) for case in passed for data_set in case.data_sets) > OF_ONNX_RUNTIME


def test_all_cases_pass_but_those_listed(cases: list[Case], without_fallback: dict[str, str]) -> None:
    # What native kernels run, they run with the fallback, too.
    failing = failures((case for case in cases if case.name in without_fallback), reference_fallback=True)
    unexpected = {name: reason for name, reason in failing.items() if name not in FAILING}
    assert unexpected == {}
    assert [name for name in FAILING if name not in failing] == [], "they pass now: take them off the list"


def test_the_list_is_short(cases: list[Case]) -> None:
    assert len(FAILING) <= 0.01 * len(cases)
