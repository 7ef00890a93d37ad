# SPDX-License-Identifier: Apache-2.0
"""The benchmark models against onnx.reference, at 1 and 2 threads, on each instruction-set level of this machine."""

from __future__ import annotations

import models
import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from simd_levels import levels

TOLERANCE = 1e-4  # relative to the largest value of an output

RUN = """
import sys
import numpy as np
import onnx_light_ort_host as ort
model, feeds, result, threads = sys.argv[1:]
options = ort.SessionOptions()
options.intra_op_num_threads = int(threads)
options.reference_fallback = False
session = ort.InferenceSession(model, options)
assert all(row.kernel.startswith("light::") for row in session.node_assignments())
inputs = dict(np.load(feeds))
for _ in range(3):
    outputs = session.run(None, inputs)
np.savez(result, *outputs)
"""


@pytest.fixture(scope="module", params=models.MODELS)
def reference(request, tmp_path_factory):
    """Return the model's file, its inputs' file, and what onnx.reference computes."""
    folder = tmp_path_factory.mktemp(request.param)
    model = models.MODELS[request.param]()
    feeds = models.feeds(model)
    onnx.save(model, folder / "model.onnx")
    np.savez(folder / "feeds.npz", **feeds)
    return folder, ReferenceEvaluator(model).run(None, feeds)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("level", levels())
def test_model_agrees_with_onnx_reference(reference, level, threads, run_python):
    folder, expected = reference
    result = folder / f"{level}{threads}.npz"
    run_python(RUN, folder / "model.onnx", folder / "feeds.npz", result, threads, ONNX_LIGHT_SIMD=level)
    with np.load(result) as outputs:
        assert len(outputs) == len(expected)
        for got, want in zip(outputs.values(), expected, strict=True):
            assert got.shape == want.shape
            assert got.dtype == want.dtype
            assert np.abs(got - want).max() <= TOLERANCE * np.abs(want).max()
