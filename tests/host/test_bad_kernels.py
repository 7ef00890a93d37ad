# SPDX-License-Identifier: Apache-2.0
"""Checked mode finds what a kernel does to memory that is not its own."""

from __future__ import annotations

import pytest

SOURCE = """
import sys, numpy as np, onnx_light_ort_host as ort
from onnx import TensorProto, helper, numpy_helper
path, fed = sys.argv[1], sys.argv[2] == "feed"
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [3])
x = np.arange(3, dtype=np.float32)
graph = helper.make_graph([helper.make_node("Faulty", ["x"], ["y"], domain="fixtures", name="broken")], "g",
                          [value("x")] if fed else [], [value("y")], [] if fed else [numpy_helper.from_array(x, "x")])
imports = [helper.make_opsetid("", 17), helper.make_opsetid("fixtures", 1)]
options = ort.SessionOptions()
options.register_custom_ops_library(path)
model = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
session = ort.InferenceSession(model, options)
for _ in range(2):
    try: print(session.run(None, {"x": x} if fed else {})[0].tolist())
    except ort.Fail as error: print(error)
"""


@pytest.mark.parametrize("source", ["feed", "initializer"])
@pytest.mark.parametrize(
    ("library", "finding"),
    [
        ("writes_input", "input_written: input 0: the kernel changed it"),
        ("writes_before_output", "overrun: output 0: the kernel wrote before the first element"),
        ("writes_behind_output", "overrun: output 0: the kernel wrote behind the last element"),
    ],
)
def test_memory_that_is_not_the_kernels(run_python, fixtures, library, finding, source):
    path = fixtures / f"{library}.so"
    done = run_python(SOURCE, path, source, ONNX_LIGHT_ORT_CHECKED="1")
    assert done.stdout.splitlines() == [f"node 'broken' (fixtures.Faulty) of {path}: {finding}"] * 2
    rule, what = finding.split(": ", 1)
    where = f"OrtCustomOp.KernelComputeV2: node 'broken' (fixtures.Faulty) of {path}"
    assert done.stderr.count(f"finding: {rule}: {where}: {what}") == 2


@pytest.mark.parametrize("source", ["feed", "initializer"])
def test_a_good_kernel_passes(run_python, fixtures, source):
    good = SOURCE.replace('"Faulty", ["x"]', '"AddTwo", ["x", "x"]')
    done = run_python(good, fixtures / "add_two.so", source, ONNX_LIGHT_ORT_CHECKED="1")
    assert done.stdout.splitlines() == ["[0.0, 2.0, 4.0]"] * 2
    assert "finding" not in done.stderr
