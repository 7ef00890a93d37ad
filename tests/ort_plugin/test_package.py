# SPDX-License-Identifier: Apache-2.0
"""The functions and the command of the plugin's package; nothing here needs ONNX Runtime."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_light_ort_plugin
import pytest
from google.protobuf.message import EncodeError
from onnx import TensorProto, helper, numpy_helper
from onnx_light_ort_plugin.cli import main
from onnx_light_ort_plugin.conditions import is_surely_taken
from onnx_light_ort_plugin.operators import supported_operators

FLOAT = TensorProto.FLOAT


def model_of(nodes: list[onnx.NodeProto], opset: int = 17, **kinds: int) -> onnx.ModelProto:
    """Return a model with inputs and outputs as in ``kinds``: outputs are those that start with "y"."""
    infos = {name: helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()}
    graph = helper.make_graph(
        nodes,
        "g",
        [info for name, info in infos.items() if name[0] != "y"],
        [info for name, info in infos.items() if name[0] == "y"],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def rewritten(model: onnx.ModelProto, op_types: list[str] | None = None) -> list[str]:
    """Return the names of the operators that are rewritten."""
    graph = onnx_light_ort_plugin.rewrite_model(model, op_types).graph
    return [node.op_type for node in graph.node if node.domain == "onnx_light"]


def length_of(name: str) -> list[onnx.NodeProto]:
    """Return nodes that are never custom operators."""
    return [helper.make_node("SequenceConstruct", [name], ["s"]), helper.make_node("SequenceLength", ["s"], ["y"])]


def test_the_library_is_where_it_says() -> None:
    path = Path(onnx_light_ort_plugin.get_library_path())
    assert path.is_absolute()
    assert path.is_file()


def test_there_is_one_provider() -> None:
    assert onnx_light_ort_plugin.get_ep_name() == "OnnxLightExecutionProvider"
    assert onnx_light_ort_plugin.get_ep_names() == [onnx_light_ort_plugin.get_ep_name()]


def test_custom_operators_are_those_with_kernels_for_tensors() -> None:
    names = onnx_light_ort_plugin.list_custom_ops()
    assert names == sorted(set(names))
    assert {"Add", "MatMul", "Conv", "Softmax", "StringConcat"} <= set(names)
    assert {"LabelEncoder", "Scaler", "TreeEnsemble"} <= set(names)  # of ai.onnx.ml
    # Operators with subgraphs, and those of sequences alone.
    assert not {"If", "Loop", "Scan", "SequenceInsert", "SequenceAt"} & set(names)


def test_versions_are_those_of_onnx() -> None:
    for name, versions in supported_operators().items():
        for since, version in versions.items():
            schema = onnx.defs.get_schema(name, since, version.domain)
            assert schema.since_version == since
            assert set(version.types) >= {constraint.type_param_str for constraint in schema.type_constraints}
    assert set(supported_operators()["Relu"]) == {1, 6, 13, 14}
    assert "float" in supported_operators()["Relu"][14].types["T"]


def test_each_operator_that_may_decline_a_node_has_a_rule() -> None:
    for name, versions in supported_operators().items():
        for since, version in versions.items():
            if not version.may_decline:
                continue
            # What has no rule is never taken; this node is harmless to all that have one.
            node = helper.make_node(name, ["a", "b"] if since > 1 else ["a"], ["y"])
            assert is_surely_taken(node, since, {"is_test": 1}, ["float", "float"]), (name, since)


def test_supported_nodes_are_rewritten_and_the_model_is_not_changed() -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["a"]), *length_of("a")], x=FLOAT, y=TensorProto.INT64)
    before = model.SerializeToString()
    new = onnx_light_ort_plugin.rewrite_model(model)
    assert model.SerializeToString() == before
    names = [(node.domain, node.op_type) for node in new.graph.node]
    assert names == [("onnx_light", "Relu"), ("", "SequenceConstruct"), ("", "SequenceLength")]
    assert {entry.domain: entry.version for entry in new.opset_import} == {"": 17, "onnx_light": 1}
    (attribute,) = new.graph.node[0].attribute
    assert (attribute.name, attribute.i) == ("opset", 17)


def test_only_the_operators_that_are_asked_for() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["y"])]
    assert rewritten(model_of(nodes, x=FLOAT, y=FLOAT)) == ["Relu", "Neg"]
    assert rewritten(model_of(nodes, x=FLOAT, y=FLOAT), ["Neg"]) == ["Neg"]
    assert rewritten(model_of(nodes, x=FLOAT, y=FLOAT), []) == []


def test_a_model_without_such_nodes_stays_as_it_is() -> None:
    model = model_of(length_of("x"), x=FLOAT, y=TensorProto.INT64)
    new = onnx_light_ort_plugin.rewrite_model(model)
    assert [entry.domain for entry in new.opset_import] == [""]


@pytest.mark.parametrize(
    ("node", "opset", "kinds"),
    [
        (helper.make_node("Relu", ["x"], ["y"]), 17, {"x": TensorProto.FLOAT8E5M2, "y": TensorProto.FLOAT8E5M2}),
        (helper.make_node("Dropout", ["x", "r", "t"], ["y"]), 17,
         {"x": FLOAT, "r": FLOAT, "t": TensorProto.BOOL, "y": FLOAT}),
        (helper.make_node("ScatterND", ["x", "i", "u"], ["y"], reduction="add"), 17,
         {"x": TensorProto.STRING, "i": TensorProto.INT64, "u": TensorProto.STRING, "y": TensorProto.STRING}),
        (helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "y2"]), 9,
         dict.fromkeys(("x", "s", "b", "m", "v", "y", "y2"), FLOAT)),
        (helper.make_node("Relu", ["x"], ["y"], domain="other"), 17, {"x": FLOAT, "y": FLOAT}),
        # ONNX Runtime has it before ONNX does.
        (helper.make_node("LayerNormalization", ["x", "s"], ["y"]), 13, {"x": FLOAT, "s": FLOAT, "y": FLOAT}),
    ],
)  # fmt: skip
def test_nodes_that_have_no_kernel_are_left(node: onnx.NodeProto, opset: int, kinds: dict[str, int]) -> None:
    assert rewritten(model_of([node], opset, **kinds)) == []


def test_nodes_of_subgraphs_are_rewritten_but_for_scan() -> None:
    info = helper.make_tensor_value_info
    branch = helper.make_graph([helper.make_node("Neg", ["x"], ["n"])], "b", [], [info("n", FLOAT, None)])
    step = helper.make_graph(
        [helper.make_node("Add", ["s", "e"], ["t"]), helper.make_node("Neg", ["t"], ["o"])],
        "s", [info("s", FLOAT, None), info("e", FLOAT, None)], [info("t", FLOAT, None), info("o", FLOAT, None)],
    )  # fmt: skip
    nodes = [
        helper.make_node("If", ["c"], ["i"], then_branch=branch, else_branch=branch),
        helper.make_node("Scan", ["i", "x"], ["y", "y2"], body=step, num_scan_inputs=1),
    ]
    new = onnx_light_ort_plugin.rewrite_model(model_of(nodes, c=TensorProto.BOOL, x=FLOAT, y=FLOAT, y2=FLOAT))
    domains = [[inner.domain for inner in attribute.g.node]
               for node in new.graph.node for attribute in node.attribute if attribute.HasField("g")]  # fmt: skip
    assert domains == [["onnx_light"], ["onnx_light"], ["", ""]]
    assert {entry.domain for entry in new.opset_import} == {"", "onnx_light"}


def test_a_rewritten_model_may_be_rewritten_again() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["y"])]
    once = onnx_light_ort_plugin.rewrite_model(model_of(nodes, x=FLOAT, y=FLOAT), ["Relu"])
    twice = onnx_light_ort_plugin.rewrite_model(once)
    assert twice.graph.node[0] == once.graph.node[0]
    # The first time has stated the type of what the custom operator gives.
    assert [node.domain for node in twice.graph.node] == ["onnx_light", "onnx_light"]
    assert [entry.domain for entry in twice.opset_import] == ["", "onnx_light"]


def test_the_long_name_of_the_domain_is_the_short_one() -> None:
    branch = helper.make_graph(
        [helper.make_node("Neg", ["a"], ["n"], domain="ai.onnx")], "b", [],
        [helper.make_tensor_value_info("n", FLOAT, None)],
    )  # fmt: skip
    nodes = [helper.make_node("Relu", ["x"], ["a"], domain="ai.onnx"),
             helper.make_node("If", ["c"], ["i"], then_branch=branch, else_branch=branch),
             helper.make_node("Abs", ["i"], ["y"])]  # fmt: skip
    model = model_of(nodes, c=TensorProto.BOOL, x=FLOAT, y=FLOAT)
    model.opset_import[0].domain = "ai.onnx"
    new = onnx_light_ort_plugin.rewrite_model(model)
    assert [node.domain for node in new.graph.node] == ["onnx_light", "", "onnx_light"]
    assert [attribute.g.node[0].domain for attribute in new.graph.node[1].attribute] == ["onnx_light"] * 2
    assert {entry.domain for entry in new.opset_import} == {"", "onnx_light"}


def test_nodes_of_machine_learning_are_rewritten_at_their_own_version() -> None:
    nodes = [helper.make_node("Scaler", ["x"], ["a"], domain="ai.onnx.ml", scale=[2.0]),
             helper.make_node("Scaler", ["a"], ["y"], domain="elsewhere", scale=[2.0])]  # fmt: skip
    model = model_of(nodes, x=FLOAT, y=FLOAT)
    model.opset_import.extend([helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("elsewhere", 1)])
    new = onnx_light_ort_plugin.rewrite_model(model)
    assert [node.domain for node in new.graph.node] == ["onnx_light", "elsewhere"]
    assert helper.get_node_attr_value(new.graph.node[0], "opset") == 3


def test_what_cannot_be_rewritten_is_refused() -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], x=FLOAT, y=FLOAT)
    with pytest.raises(ValueError, match=r"op_types must be among list_custom_ops\(\), got Rleu"):
        onnx_light_ort_plugin.rewrite_model(model, ["Relu", "Rleu"])
    with pytest.raises(TypeError, match=r"model must be an onnx.ModelProto, got str"):
        onnx_light_ort_plugin.rewrite_model("model.onnx")


def test_a_single_name_stands_for_itself() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["y"])]
    new = onnx_light_ort_plugin.rewrite_model(model_of(nodes, x=FLOAT, y=FLOAT), "Relu")
    assert [node.domain for node in new.graph.node] == ["onnx_light", ""]


def test_nodes_of_types_of_a_later_onnx_stay() -> None:
    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    new = onnx_light_ort_plugin.rewrite_model(model_of(nodes, x=99, y=99))
    assert new.graph.node[0].domain == ""


def test_a_model_of_more_than_protobuf_can_write_says_how_to_load_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise EncodeError("Failed to serialize proto")  # as for 2 GiB

    monkeypatch.setattr(onnx.shape_inference, "infer_shapes", fail)
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], x=FLOAT, y=FLOAT)
    with pytest.raises(ValueError, match=r"larger than 2 GiB.*load_external_data=False"):
        onnx_light_ort_plugin.rewrite_model(model)


def test_the_command_keeps_external_data_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], x=FLOAT, y=FLOAT)
    weights = np.arange(300, dtype=np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    old = tmp_path / "old.onnx"
    onnx.save(model, old, save_as_external_data=True, location="w.bin", size_threshold=0)
    assert main(["rewrite", str(old), str(tmp_path / "new.onnx")]) == 0
    beside = onnx.load(tmp_path / "new.onnx", load_external_data=False)
    assert beside.graph.initializer[0].data_location == TensorProto.EXTERNAL
    (tmp_path / "elsewhere").mkdir()
    assert main(["rewrite", str(old), str(tmp_path / "elsewhere" / "new.onnx")]) == 0
    (tmp_path / "w.bin").unlink()
    elsewhere = onnx.load(tmp_path / "elsewhere" / "new.onnx")
    np.testing.assert_array_equal(numpy_helper.to_array(elsewhere.graph.initializer[0]), weights)
    capsys.readouterr()
    assert main(["rewrite", str(old), str(tmp_path / "elsewhere" / "new.onnx")]) == 1
    assert re.match(r"onnx-light-ort-plugin: .*old\.onnx: .*w\.bin", capsys.readouterr().err)


class Options:
    """Stands for onnxruntime.SessionOptions."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def add_session_config_entry(self, key: str, value: str) -> None:
        self.calls.append((key, value))

    def register_custom_ops_library(self, path: str) -> None:
        self.calls.append((path,))


def test_registering_says_which_operators_first() -> None:
    options = Options()
    onnx_light_ort_plugin.register(options)
    onnx_light_ort_plugin.register(options, ["Relu", "Add", "Relu"])
    path = onnx_light_ort_plugin.get_library_path()
    assert options.calls == [(path,), ("onnx_light.operators", "Add,Relu"), (path,)]
    onnx_light_ort_plugin.register(options, [])
    assert len(options.calls) == 3
    onnx_light_ort_plugin.register(options, "MatMul")
    assert options.calls[3] == ("onnx_light.operators", "MatMul")


def test_the_command_lists_operators_and_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["path"]) == 0
    assert capsys.readouterr().out == onnx_light_ort_plugin.get_library_path() + "\n"
    assert main(["ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == onnx_light_ort_plugin.list_custom_ops()
    assert "Relu 1, 6, 13, 14" in lines


def test_the_command_rewrites_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Add", ["a", "w"], ["y"])]
    model = model_of(nodes, x=FLOAT, y=FLOAT)
    model.graph.initializer.append(numpy_helper.from_array(np.ones(3, np.float32), "w"))
    onnx.save(model, tmp_path / "in.onnx")
    assert main(["rewrite", str(tmp_path / "in.onnx"), str(tmp_path / "out.onnx"), "--op-types", "Add"]) == 0
    assert [node.domain for node in onnx.load(tmp_path / "out.onnx").graph.node] == ["", "onnx_light"]
    assert main(["rewrite", str(tmp_path / "in.onnx"), str(tmp_path / "out.onnx"), "--op-types", "Add, Relu"]) == 0
    assert [node.domain for node in onnx.load(tmp_path / "out.onnx").graph.node] == ["onnx_light", "onnx_light"]
    assert main(["rewrite", str(tmp_path / "none.onnx"), str(tmp_path / "out.onnx")]) == 1
    assert "none.onnx" in capsys.readouterr().err
    assert main(["rewrite", str(tmp_path / "in.onnx"), str(tmp_path / "none" / "out.onnx")]) == 1
    assert "out.onnx" in capsys.readouterr().err
    (tmp_path / "text").write_text("no model")
    assert main(["rewrite", str(tmp_path / "text"), str(tmp_path / "out.onnx")]) == 1
    assert "text is no model: " in capsys.readouterr().err
    (tmp_path / "empty").touch()
    assert main(["rewrite", str(tmp_path / "empty"), str(tmp_path / "none.onnx")]) == 1
    assert "empty is no model: it has no graph" in capsys.readouterr().err
    assert not (tmp_path / "none.onnx").exists()


def test_a_reader_that_leaves_ends_the_command_quietly() -> None:
    command = [sys.executable, "-m", "onnx_light_ort_plugin", "ops"]
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.stdout is not None
    done.stdout.close()
    _, errors = done.communicate()
    assert (done.returncode, errors) == (141, b"")


def test_the_package_is_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "onnx_light_ort_plugin", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == onnx_light_ort_plugin.__version__
