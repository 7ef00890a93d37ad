# SPDX-License-Identifier: Apache-2.0
"""No kernel of a library that keeps to the interface changes what it is given, or what it gave before, in any mode.

Each library runs in a process of its own, with checked mode off and on: checked mode hands out copies of outputs. Each
fixture of a custom-operator library is among them; one that does not come to a run is refused.
"""

from __future__ import annotations

import json

import pytest
import run_cases
from real_libraries import library_path

MODES = pytest.mark.parametrize("checked", ["0", "1"], ids=["normal", "checked"])
TENSOR = {"floats": [1.0, 2.0]}
# Library: operator, number of inputs, attributes, what goes wrong.
FIXTURES: dict[str, tuple[str, int, dict[str, object], str]] = {
    "add_two": ("AddTwo", 2, {}, ""),
    "legacy_compute": ("Negate", 1, {}, ""),
    "optional_input": ("OptionalBias", 1, {}, ""),
    "variadic_inputs": ("Total", 3, {}, ""),
    "dynamic_output_shape": ("Positive", 1, {}, ""),
    "polymorphic": ("CopyOf", 1, {}, ""),
    "shape_inference": ("Repeat", 1, {"times": 3}, ""),
    "keeps_kernel_info": ("Named", 1, {}, ""),
    "parallel_for": ("Square", 1, {}, ""),
    "parallel_for_nested": ("Square", 1, {}, ""),
    "parallel_for_throws": ("Square", 1, {}, "negative"),
    "concurrent_reads": ("Read", 1, {"dims": [2, 3]}, ""),
    "counts_calls": ("Counted", 1, {}, ""),
    "faulty_callbacks": ("FaultyVariadic", 1, {}, ""),
    "keeps_scratch": ("Kept", 1, {}, ""),
    "busy_teardown": ("Busy", 1, {}, ""),
    "releases_its_domain": ("Registered", 1, {}, ""),
    "struct_of_version_1": ("Doubled", 1, {}, ""),
    "struct_of_version_99": ("Doubled", 1, {}, ""),
    "overlong_alloc": ("Allocates", 1, {"road": "AllocatorAlloc", "bytes": 64}, ""),
    "compute_throws": ("Faulty", 1, {}, "negative input"),
    "compute_returns_status": ("Faulty", 1, {}, "negative input"),
    "forgets_output": ("Faulty", 1, {}, "never produced"),
    "wrong_output_twice": ("Faulty", 1, {}, "other extents"),
    "calls_unsupported": ("Calls", 1, {"slot": "InvokeOp"}, "InvokeOp"),
    "attributes": (
        "Attributes", 1, {"f": 1.5, "i": 2, "s": "text", "fs": [1.0], "is": [2], "ss": ["a"], "t": TENSOR}, "",
    ),
    "throwing_allocator": (
        "Allocates", 1, {"road": "tensor", "callback": "Alloc", "fault": 1, "nth": 1, "t": TENSOR}, "",
    ),
    "forgets_scratch": ("Kept", 1, {}, ""),
    "detached_thread": ("Busy", 1, {}, ""),
    "opens_fake_ort": ("Loads", 1, {}, ""),
    "unique_ort_state": ("Loads", 1, {}, ""),
    "unique_table": ("Loads", 1, {}, ""),
    "latest_table": ("Loads", 1, {}, ""),
    "imports_api_base": ("ImportsApiBase", 1, {}, ""),
    **{f"struct_of_version_{n}": ("Doubled", 1, {}, "") for n in (5, 8, 13, 14, 15, 16, 17, 18, 30, 33)},
}  # fmt: skip
# Those that write outside of their output: checked mode fails the run, and what they changed is nobody's.
BROKEN = {
    "writes_before_output": ("Faulty", 1, {}, "wrote before the first element"),
    "writes_behind_output": ("Faulty", 1, {}, "wrote behind the last element"),
}
# Those that do not come to a run: what the library, or else the session, is refused with.
REFUSED = {
    "no_entry_point": "exports no RegisterCustomOps",
    "mangled_entry": "exports no RegisterCustomOps",
    "other_case_entry": "exports no RegisterCustomOps",
    "misspelt_entry": "exports no RegisterCustomOps",
    "hidden_entry": "exports no RegisterCustomOps",
    "no_ep_release": "exports no RegisterCustomOps",
    "entry_returns_error": "no licence",
    "entry_throws": "no licence",
    "registers_then_fails": "second thoughts",
    "registers_then_throws": "second thoughts",
    "registers_another": "RegisterCustomOpsLibrary_V2",
    "registers_a_local_op": "local variable of RegisterCustomOps",
    "needs_missing_symbol": "FixtureSymbolThatNobodyDefines",
    "depends_on_fake_ort": "libonnxruntime.so.1",
    "broken_descriptors": "version",
    "struct_of_version_0": "version",
    "registers_twice": "domain already set by",
    "create_throws": "no weights",
    "create_returns_status": "no weights",
}
# Those that end the process, and the one that writes its input, which checked mode finds: on purpose.
OTHERS = {"entry_exits", "requests_newer_api", "reads_behind_table", "writes_input"}
SOURCE = """
import json, sys
import numpy as np, onnx_light_ort_host as ort
from onnx import TensorProto, helper, numpy_helper

path, op, count, attributes, error = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4]), sys.argv[5]
for name, value in attributes.items():
    if isinstance(value, dict):
        attributes[name] = numpy_helper.from_array(np.float32(value["floats"]))
if "imports_api_base" in path:
    ort.set_load_policy(ort.LoadPolicy(provide_api_base=True))
w = np.float32([[-3, 1, 4], [1, -5, 9]])
if op == "Faulty":
    w = w.ravel()
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
node = lambda inputs, output: helper.make_node(op, inputs * count, [output], domain="fixtures", **attributes)
same = helper.make_node("Identity", ["x"], ["t"])
nodes = [node(["x"], "fed"), node(["w"], "constant"), same, node(["t"], "between")]
names = ["fed", "constant", "between", "t", "w"]
graph = helper.make_graph(nodes, "g", [value("x")], [value(n) for n in names], [numpy_helper.from_array(w, "w")])
imports = [helper.make_opsetid("", 17), helper.make_opsetid("fixtures", 1)]
model = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
try:
    options = ort.SessionOptions()
    options.register_custom_ops_library(path)
    session = ort.InferenceSession(model, options)
except ort.OrtHostError as failure:
    print(f"refused: {failure}")
    sys.exit()
earlier = []
for k in range(3):
    x = w + k
    given = x.copy()
    try:
        outputs = session.run(None, {"x": x})
        assert not error, outputs
        assert np.array_equal(outputs[3], given) and np.array_equal(outputs[4], w), outputs
        earlier.append((outputs, [y.copy() for y in outputs]))
    except (ort.Fail, ort.InvalidArgument, ort.NotImplemented, ort.RuntimeException) as failure:
        assert error and error in str(failure), failure
    assert x.tobytes() == given.tobytes(), x
    for outputs, copies in earlier:
        assert all(y.tobytes() == copy.tobytes() for y, copy in zip(outputs, copies)), outputs
print("ran")
"""
REAL = """
import sys
import numpy as np, onnx, onnx_light_ort_host as ort
import run_cases

for case in run_cases.load_index(sys.argv[1]):
    if case["expect"] != "ok":
        continue
    model = onnx.load(str(run_cases.ROOT / case["model"]))
    weights = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    declared = {output.name for output in model.graph.output}
    for i in model.graph.initializer:
        if i.name not in declared:
            model.graph.output.append(onnx.helper.make_tensor_value_info(i.name, i.data_type, i.dims))
    options = ort.SessionOptions()
    for name, value in (case.get("session_config") or {}).items():
        options.add_session_config_entry(name, str(value))
    options.register_custom_ops_library(sys.argv[2])
    session = ort.InferenceSession(model.SerializeToString(), options)
    names = [output.name for output in session.get_outputs()]
    earlier = []
    for (feeds, _), (same, _) in zip(run_cases.load_sets(case), run_cases.load_sets(case)):
        for _ in range(2):
            outputs = session.run(None, feeds)
            earlier.append((outputs, [np.copy(y) for y in outputs]))
            found = dict(zip(names, outputs))
            wrong = [n for n, x in same.items() if not np.array_equal(feeds[n], x)]
            wrong += [n for n, x in weights.items() if found[n].tolist() != x.tolist()]
            for now, then in earlier:
                wrong += [n for n, y, copy in zip(names, now, then) if not np.array_equal(y, copy)]
            if wrong:
                print(run_cases.key(case), sorted(set(wrong)))
print("ran")
"""


@MODES
@pytest.mark.parametrize("library", FIXTURES)
def test_feeds_initializers_and_earlier_results_of_a_fixture(run_python, fixtures, library, checked):
    op, count, attributes, error = FIXTURES[library]
    arguments = fixtures / f"{library}.so", op, count, json.dumps(attributes), error
    assert run_python(SOURCE, *arguments, ONNX_LIGHT_ORT_CHECKED=checked).stdout == "ran\n"


@pytest.mark.parametrize("library", BROKEN)
def test_feeds_initializers_and_earlier_results_of_a_fixture_that_writes_outside(run_python, fixtures, library):
    op, count, attributes, error = BROKEN[library]
    arguments = fixtures / f"{library}.so", op, count, json.dumps(attributes), error
    assert run_python(SOURCE, *arguments, ONNX_LIGHT_ORT_CHECKED="1").stdout == "ran\n"


@pytest.mark.parametrize("library", REFUSED)
def test_fixture_that_does_not_come_to_a_run(run_python, fixtures, library):
    op = "Registered" if library == "registers_twice" else "Faulty"
    told = run_python(SOURCE, fixtures / f"{library}.so", op, 1, "{}", "").stdout
    assert told.startswith("refused: ")
    assert REFUSED[library] in told


def test_every_fixture_of_a_custom_operator_library_is_here(fixtures):
    built = {path.stem for path in fixtures.glob("*.so")} - {"probe", "libc_calls", "libonnxruntime"}
    groups = [set(FIXTURES), set(BROKEN), set(REFUSED), OTHERS]
    listed = set().union(*groups)
    built = {name for name in built if name in listed or "ep" not in name.split("_")}  # the rest brings providers
    assert sorted(listed) == sorted(built)
    assert sum(map(len, groups)) == len(built)


@MODES
@pytest.mark.parametrize("library", ["onnx_extended_tutorial", "onnxruntime_extensions"])
def test_feeds_initializers_and_earlier_results_of_a_published_library(run_python, library, checked):
    folder = str(run_cases.ROOT)
    source = f"import sys; sys.path.insert(0, {folder!r})\n{REAL}"
    done = run_python(source, library, library_path(library), ONNX_LIGHT_ORT_CHECKED=checked)
    assert done.stdout.splitlines() == ["ran"]
