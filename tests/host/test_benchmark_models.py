# SPDX-License-Identifier: Apache-2.0
"""The benchmark models against onnx.reference, at 1 and 2 threads, on each instruction-set level of this machine."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from memory_models import MEMORY
from models import MODELS, feeds
from onnx.reference import ReferenceEvaluator
from operator_models import OPERATORS
from quantities import MODELS as MODELS_SECTION
from quantities import OPERATORS as OPERATORS_SECTION
from quantities import QUANTITIES, chosen
from simd_levels import levels

MADE = {**MODELS, **OPERATORS}
TOLERANCE = 1e-4  # relative to the largest value of an output

RUN = """
import sys
import numpy as np
import onnx_light_ort_host as ort
folder, results, threads, *names = sys.argv[1:]
options = ort.SessionOptions()
options.intra_op_num_threads = int(threads)
options.reference_fallback = False
for name in names:
    session = ort.InferenceSession(f"{folder}/{name}.onnx", options)
    assert all(row.kernel.startswith("light::") for row in session.node_assignments())
    inputs = dict(np.load(f"{folder}/{name}.npz"))
    for _ in range(3):
        outputs = session.run(None, inputs)
    np.savez(f"{results}/{name}.npz", *outputs)
"""


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Return the folder with the models and their inputs, and what onnx.reference computes, by name."""
    folder = tmp_path_factory.mktemp("models")
    expected = {}
    for name, make in MADE.items():
        model = make()
        inputs = feeds(model)
        onnx.save(model, folder / f"{name}.onnx")
        np.savez(folder / f"{name}.npz", **inputs)
        expected[name] = ReferenceEvaluator(model).run(None, inputs)
    return folder, expected


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("level", levels())
def test_models_agree_with_onnx_reference(reference, level, threads, run_python, tmp_path):
    folder, expected = reference
    run_python(RUN, folder, tmp_path, threads, *MADE, ONNX_LIGHT_SIMD=level)
    for name, wanted in expected.items():
        with np.load(tmp_path / f"{name}.npz") as outputs:
            assert len(outputs) == len(wanted)
            for got, want in zip(outputs.values(), wanted, strict=True):
                assert (name, got.shape, got.dtype) == (name, want.shape, want.dtype)
                assert np.abs(got - want).max() <= TOLERANCE * np.abs(want).max(), name


@pytest.mark.parametrize("name", MEMORY)
def test_the_stated_number_of_tensors_lives_at_most(name):
    make, stated = MEMORY[name]
    graph = make().graph
    last = {value: position for position, node in enumerate(graph.node) for value in node.input}
    last |= {output.name: len(graph.node) for output in graph.output}
    live, most = set(), 0
    for position, node in enumerate(graph.node):
        live |= set(node.output)
        most = max(most, len(live))
        live = {value for value in live if last[value] > position}
    assert most == stated


def test_every_model_is_measured_once_per_number_of_threads():
    measured = [q.benchmark for q in QUANTITIES.values() if q.section in (MODELS_SECTION, OPERATORS_SECTION)]
    assert sorted(measured) == sorted([*MADE, *MADE])


def test_names_and_their_beginnings_are_chosen():
    assert [q.name for q in chosen(["import", "add_row"])] == ["import", "add_row_t1", "add_row_t2"]
    assert {q.name.split("_")[0] for q in chosen(["ep-dispatch"])} == {"ep"}
    assert chosen([]) == chosen(["all"]) == list(QUANTITIES.values())
    with pytest.raises(KeyError):
        chosen(["nothing_of_this_name"])
