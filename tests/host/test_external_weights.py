# SPDX-License-Identifier: Apache-2.0
"""A model whose weights lie in a large external file: nothing of them is read before the first run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

ROWS, COLUMNS = 16384, 16384  # 1 GiB of float32

CHILD = """
import sys
import numpy as np
import onnx_light_ort_host as ort

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

before = resident()
session = ort.InferenceSession(sys.argv[1])
grown = resident() - before
assert grown < 32 << 20, f"{grown >> 20} MiB were read or copied"
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return the path of a model whose file of weights is sparse: it takes no room on the disk."""
    with (tmp_path / "weights.bin").open("wb") as file:
        file.truncate(4 * ROWS * COLUMNS)
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS])
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="weights.bin")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", ROWS])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", COLUMNS])
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", ROWS])
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Gemm", ["y", "w"], ["z"], transB=1)]
    graph = helper.make_graph(nodes, "large", [x], [y, z], [weights])
    path = tmp_path / "model.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    )
    return path


def test_no_weight_is_read_before_the_first_run(model: Path, run_python: Any) -> None:
    run_python(CHILD, model)


def test_products_with_external_weights_are_right(tmp_path: Path) -> None:
    """Both ways of packing later, first run and second, from several threads."""
    from concurrent.futures import ThreadPoolExecutor

    from onnx_light_ort_host import InferenceSession

    rng = np.random.default_rng(3)
    w = rng.random((40, 24), np.float32)
    w.tofile(tmp_path / "w.bin")
    x, y, z = (
        helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", s]) for n, s in (("x", 40), ("y", 24), ("z", 40))
    )
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=w.shape, data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value="w.bin")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Gemm", ["y", "w"], ["z"], transB=1)]
    graph = helper.make_graph(nodes, "g", [x], [y, z], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    session = InferenceSession(str(tmp_path / "m.onnx"))

    def run(rows: int) -> None:
        data = np.random.default_rng(rows).random((rows, 40), np.float32)
        for _ in range(3):
            got_y, got_z = session.run(None, {"x": data})
            np.testing.assert_allclose(got_y, data @ w, rtol=1e-5)
            np.testing.assert_allclose(got_z, data @ w @ w.T, rtol=1e-5)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(run, [1, 2, 5, 9, 17, 33]))


@pytest.mark.parametrize("op_type", ["MatMul", "Gemm"])
def test_weights_that_are_packed_later_are_charged(op_type: str, model: Path, run_python: Any, tmp_path: Path) -> None:
    """A sparse file costs its author nothing: what packing it takes meets the limit, in every run."""
    source = """
import sys
import numpy as np
import onnx_light_ort_host as ort

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))

options = ort.SessionOptions()
options.memory_limit_bytes = 64 << 20
session = ort.InferenceSession(sys.argv[1], options)
before = peak()
for _ in range(2):
    try:
        session.run(None, {"x": np.zeros((1, 16384), np.float32)})
    except ort.Fail as error:
        print(error)
assert peak() - before < 32 << 20, f"{peak() - before >> 20} MiB were taken"
"""
    import onnx

    large = onnx.load(model, load_external_data=False)
    if op_type == "Gemm":  # the first node takes no weights, the second one is left
        large.graph.node[0].CopyFrom(helper.make_node("Identity", ["x"], ["y"]))
    model.write_bytes(large.SerializeToString())
    said = run_python(source, model).stdout.splitlines()
    assert len(said) == 2
    for line in said:
        assert f"({op_type}): packed weights: needs {4 * ROWS * COLUMNS} bytes, over the memory limit of" in line


@pytest.mark.parametrize("op_type", ["MatMulInteger", "ConvInteger"])
def test_bytes_are_read_and_charged_at_the_first_run(op_type: str, tmp_path: Path, run_python: Any) -> None:
    is_conv = op_type == "ConvInteger"
    shape = [32768, 32768, *[1, 1] * is_conv]
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(32768 * 32768)
    weights = TensorProto(name="w", data_type=TensorProto.INT8, dims=shape, data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value="w.bin")
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 32768, *[1, 1] * is_conv])
    y = helper.make_tensor_value_info("y", TensorProto.INT32, None)
    graph = helper.make_graph([helper.make_node(op_type, ["x", "w"], ["y"])], "g", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    more = """
options = ort.SessionOptions()
options.memory_limit_bytes = 64 << 20
session = ort.InferenceSession(sys.argv[1], options)
for _ in range(2):
    try:
        session.run(None, {"x": np.zeros([int(n) for n in sys.argv[2].split(",")], np.uint8)})
    except ort.Fail as error:
        print(error)
"""
    said = run_python(CHILD + more, path, ",".join(map(str, [1, *shape[1:]]))).stdout.splitlines()
    assert len(said) == 2
    for line in said:
        assert f"({op_type}): packed weights: needs " in line
        assert "over the memory limit of" in line


def test_packed_weights_are_charged_once(tmp_path: Path) -> None:
    """At the limit and one byte beyond; three runs hold the weights that the first one packed."""
    from onnx_light_ort_host import Fail, InferenceSession, SessionOptions

    w = np.arange(64 * 96, dtype=np.float32).reshape(64, 96)  # whole panels, whatever the instruction set
    w.tofile(tmp_path / "w.bin")
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=w.shape, data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value="w.bin")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 64])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 96])
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    options = SessionOptions()

    def session_of(limit: int) -> InferenceSession:
        options.memory_limit_bytes = limit
        return InferenceSession(str(tmp_path / "m.onnx"), options)

    one = np.ones((1, 64), np.float32)
    session = session_of(w.nbytes + 96 * 4)
    for _ in range(3):
        np.testing.assert_allclose(session.run(None, {"x": one})[0], one @ w, rtol=1e-5)
    with pytest.raises(Fail, match=r"\(MatMul\): .*over the memory limit"):
        session.run(None, {"x": np.ones((2, 64), np.float32)})
    for _ in range(2):
        with pytest.raises(Fail, match=r"\(MatMul\): packed weights: .*over the memory limit"):
            session_of(w.nbytes + 96 * 4 - 1).run(None, {"x": one})


def test_more_than_two_gigabytes(tmp_path: Path) -> None:
    """Sizes and offsets beyond 31 and 32 bits; the file is sparse."""
    from onnx_light_ort_host import InferenceSession

    count = 5 << 28  # float32: 5 GiB
    with (tmp_path / "w.bin").open("wb") as file:
        file.seek(4 * (count - 1))
        file.write(np.float32(7).tobytes())
        file.write(np.arange(4, dtype=np.float32).tobytes())
    tensors = []
    for name, dims, offset in (("w", [count // 2, 2], 0), ("b", [4], 4 * count)):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="w.bin")
        tensor.external_data.add(key="offset", value=str(offset))
        tensors.append(tensor)
    i = helper.make_tensor_value_info("i", TensorProto.INT64, ["n"])
    row = helper.make_tensor_value_info("row", TensorProto.FLOAT, ["n", 2])
    bias = helper.make_tensor_value_info("bias", TensorProto.FLOAT, [4])
    nodes = [helper.make_node("Gather", ["w", "i"], ["row"]), helper.make_node("Identity", ["b"], ["bias"])]
    graph = helper.make_graph(nodes, "g", [i], [row, bias], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    session = InferenceSession(str(tmp_path / "m.onnx"))
    rows, biases = session.run(None, {"i": np.array([0, -1])})
    assert rows.tolist() == [[0, 0], [0, 7]]
    assert biases.tolist() == [0, 1, 2, 3]
