# SPDX-License-Identifier: Apache-2.0
"""The names, types and errors that a Python program sees."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper


def identity(elem_type: int = TensorProto.FLOAT, shape: list[int | str | None] | None = None, **model_fields: object):
    """Return the bytes of a model y = x."""
    info = [helper.make_tensor_value_info(name, elem_type, shape) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"], "copy")], "copies", info[:1], info[1:])
    opsets = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10, **model_fields)
    return model.SerializeToString()


def test_every_public_name_exists():
    assert set(ort.__all__) <= set(dir(ort))
    assert {"_host", "_conversions"}.isdisjoint(ort.__all__)


def test_the_version_is_ours_and_says_so():
    assert ort.get_version_string() == ort.__version__
    assert "not ONNX Runtime" in ort.get_build_info()
    assert ort.__version__ in ort.get_build_info()


def test_providers():
    assert ort.get_available_providers() == ort.get_all_providers() == ["CPUExecutionProvider"]
    assert ort.get_device() == "CPU"
    session = ort.InferenceSession(identity(), providers=["CPUExecutionProvider"])
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert session.get_provider_options() == {"CPUExecutionProvider": {}}
    ort.InferenceSession(identity(), providers=[("CPUExecutionProvider", {})])
    ort.InferenceSession(identity(), None, ["CPUExecutionProvider"], [{}])


def test_a_provider_that_is_not_available_is_refused():
    with pytest.raises(
        ort.InvalidArgument, match=r"providers: expected names of \['CPUExecutionProvider'\], got 'Cuda'"
    ):
        ort.InferenceSession(identity(), providers=["Cuda", "CPUExecutionProvider"])
    with pytest.raises(ort.InvalidArgument, match=r"provider_options: expected one entry per provider \(1\), got 2"):
        ort.InferenceSession(identity(), None, ["CPUExecutionProvider"], [{}, {}])


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ([2, "n", None], [2, "n", None]),
        ([], []),
        ([0], [0]),
        (None, None),
    ],
)
def test_inputs_and_outputs(shape, expected):
    session = ort.InferenceSession(identity(TensorProto.INT64, shape))
    (x,), (y,) = session.get_inputs(), session.get_outputs()
    assert (x.name, x.type, x.shape) == ("x", "tensor(int64)", expected)
    assert (y.name, y.type) == ("y", "tensor(int64)")
    assert repr(x) == f"NodeArg(name='x', type='tensor(int64)', shape={expected})"


def test_an_input_with_a_default_need_not_be_fed():
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "d", "y")]
    default = helper.make_tensor("d", TensorProto.FLOAT, [2], [10.0, 20.0])
    graph = helper.make_graph([helper.make_node("Add", ["x", "d"], ["y"])], "g", info[:2], info[2:], [default])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString())
    assert [arg.name for arg in session.get_inputs()] == ["x"]
    assert [arg.name for arg in session.get_overridable_initializers()] == ["d"]
    x = np.array([1, 2], np.float32)
    for _ in range(2):  # what was fed does not stay
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], [11, 22])
        np.testing.assert_array_equal(session.run(None, {"x": x, "d": -x})[0], [0, 0])
    with pytest.raises(ort.InvalidArgument, match=r"expected all required inputs, got none for \['x'\]"):
        session.run(None, {"d": x})


def test_model_metadata():
    model = onnx.ModelProto.FromString(identity(producer_name="maker", domain="org.example", doc_string="about"))
    model.model_version = 7
    helper.set_model_props(model, {"key": "value", "é": ""})
    meta = ort.InferenceSession(model.SerializeToString()).get_modelmeta()
    assert (meta.producer_name, meta.domain, meta.description, meta.version) == ("maker", "org.example", "about", 7)
    assert meta.graph_name == "copies"
    assert meta.custom_metadata_map == {"key": "value", "é": ""}


def test_records_are_read_only_and_comparable():
    (x,) = ort.InferenceSession(identity()).get_inputs()
    (same,) = ort.InferenceSession(identity()).get_inputs()
    (other,) = ort.InferenceSession(identity(TensorProto.INT8)).get_inputs()
    assert x == same
    assert x != other
    with pytest.raises(AttributeError, match=r"NodeArg\.name cannot be changed"):
        x.name = "z"


def test_node_assignments():
    (row,) = ort.InferenceSession(identity()).node_assignments()
    assert (row.index, row.name, row.domain, row.op_type) == (0, "copy", "", "Identity")
    assert (row.provider, row.partition, row.library) == ("CPUExecutionProvider", -1, "")
    assert row.kernel


def test_models_come_from_paths_and_bytes(tmp_path):
    path = tmp_path / "é model.onnx"
    path.write_bytes(identity())
    x = np.ones(3, np.float32)
    for source in (path, str(path), path.read_bytes(), bytearray(path.read_bytes()), memoryview(path.read_bytes())):
        np.testing.assert_array_equal(ort.InferenceSession(source).run(None, {"x": x})[0], x)


@pytest.mark.parametrize("source", [None, 5, 1.5, ["model.onnx"]])
def test_what_is_neither_path_nor_bytes(source):
    with pytest.raises(TypeError, match="expected a path or bytes, got"):
        ort.InferenceSession(source)
    with pytest.raises(TypeError, match="expected SessionOptions, got dict"):
        ort.InferenceSession(identity(), {})


def test_models_that_are_not_models(tmp_path):
    with pytest.raises(ort.NoSuchFile, match="nowhere"):
        ort.InferenceSession(tmp_path / "nowhere.onnx")
    with pytest.raises(ort.InvalidProtobuf):
        ort.InferenceSession(b"this is no model")
    with pytest.raises(ort.OrtHostError):
        ort.InferenceSession(b"")
    with pytest.raises(ort.OrtHostError):
        ort.InferenceSession(tmp_path)


def test_errors_are_named_as_the_abi_names_them():
    codes = {error.__name__: error.code for error in ort.OrtHostError.__subclasses__()}
    assert codes == {
        "Fail": 1,
        "InvalidArgument": 2,
        "NoSuchFile": 3,
        "NoModel": 4,
        "EngineError": 5,
        "RuntimeException": 6,
        "InvalidProtobuf": 7,
        "ModelLoaded": 8,
        "NotImplemented": 9,
        "InvalidGraph": 10,
        "EPFail": 11,
        "ModelLoadCanceled": 12,
        "ModelRequiresCompilation": 13,
        "NotFound": 14,
        "DeviceReset": 15,
    }
    assert all(getattr(ort, name).__name__ == name for name in codes)
    assert issubclass(ort.InvalidArgument, ValueError)


def test_session_options():
    options = ort.SessionOptions()
    assert options.memory_limit_bytes is None
    options.memory_limit_bytes = 1 << 20
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    options.logid = "me"
    options.allow_onnx_domain_override = True
    assert (options.memory_limit_bytes, options.intra_op_num_threads) == (1 << 20, 2)
    assert (options.log_severity_level, options.logid, options.allow_onnx_domain_override) == (3, "me", True)
    options.memory_limit_bytes = None
    assert options.memory_limit_bytes is None
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.inter_op_num_threads = 1
    options.reference_fallback = False
    options.enable_profiling = False
    with pytest.raises(AttributeError):
        options.intra_op_num_treads = 1


def test_session_config_entries():
    options = ort.SessionOptions()
    options.add_session_config_entry("my.key", "é")
    assert options.get_session_config_entry("my.key") == "é"
    with pytest.raises(ort.InvalidArgument, match="expected a key that was added, got 'other'"):
        options.get_session_config_entry("other")


def test_what_is_not_in_this_version_says_so():
    session = ort.InferenceSession(identity())
    with pytest.raises(
        ort.NotImplemented, match="are not in this version, got \\['key'\\] for \\['CPUExecutionProvider'"
    ):
        session.set_ep_dynamic_options({"key": "value"})


def test_load_policy_round_trip(run_python):
    source = """
import pathlib, onnx_light_ort_host as ort
assert ort.get_load_policy() == ort.LoadPolicy()
ort.set_load_policy(ort.LoadPolicy(allowed_roots=[pathlib.Path("/usr/lib")], follow_links=False, audited_only=True))
print(ort.get_load_policy())
"""
    assert run_python(source).stdout.strip() == (
        "LoadPolicy(allowed_roots=('/usr/lib',), follow_links=False, require_owner=False, "
        "audited_only=True, unload=False, provide_api_base=False)"
    )


def test_the_policy_refuses_a_library_outside_its_roots(run_python, fixtures, tmp_path):
    source = """
import sys, onnx_light_ort_host as ort
ort.set_load_policy(ort.LoadPolicy(allowed_roots=[sys.argv[2]]))
try:
    ort.SessionOptions().register_custom_ops_library(sys.argv[1])
except ort.OrtHostError as error:
    print(error)
"""
    library = next(iter(sorted(Path(fixtures).glob("*.so"))))
    assert library.name in run_python(source, library, tmp_path).stdout


def test_inspecting_a_library(fixtures):
    report = ort.inspect_library(fixtures / "probe.so")
    assert report.path == os.path.realpath(fixtures / "probe.so")
    assert set(report.exports) == {"RegisterCustomOps", "CreateEpFactories", "ReleaseEpFactory"}
    assert report.refused_because == ""
    assert report.verdict == "loadable, slots unknown until run"
    with pytest.raises(ort.NoSuchFile):
        ort.inspect_library(fixtures / "nowhere.so")


def test_the_support_matrix_has_a_row_per_slot():
    rows = {(row.table, row.name): row for row in ort.support_matrix()}
    row = rows["OrtApi", "CreateStatus"]
    assert (row.index, row.since, row.status) == (0, 1, "supported")
    assert rows["OrtApi", "CreateSession"].status == "not_implemented"


def test_log_severity_is_checked():
    with pytest.raises(ort.InvalidArgument, match="expected an integer from 0 to 4, got 5"):
        ort.set_default_logger_severity(5)
    ort.set_default_logger_severity(2)


def test_checked_mode_comes_before_the_first_library(run_python, fixtures):
    source = """
import sys, onnx_light_ort_host as ort
steps = [ort.enable_checked_mode, lambda: ort.SessionOptions().register_custom_ops_library(sys.argv[1])]
for step in sys.argv[2]:
    steps[int(step)]()
"""
    library = fixtures / "add_two.so"
    run_python(source, library, "0010", ONNX_LIGHT_ORT_CHECKED="0")
    done = run_python(source, library, "10", fails=True, ONNX_LIGHT_ORT_CHECKED="0")
    assert "checked mode: must be turned on before the first library is loaded" in done.stderr


def test_a_path_with_a_null_character_opens_nothing(fixtures):
    path = f"{fixtures / 'add_two.so'}\0.so"
    for call in (ort.SessionOptions().register_custom_ops_library, ort.inspect_library, ort.InferenceSession):
        with pytest.raises(ort.InvalidArgument, match="path: expected one without a null character"):
            call(path)
