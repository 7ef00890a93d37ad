# SPDX-License-Identifier: Apache-2.0
"""Initializers as a provider reads them in ``GetCapability``, in the model and in files beside it."""

import ctypes as C

import numpy as np
import pytest
from contracts.graph_models import branches, chain
from contracts.harness import E, GraphReader, Kernel, look_at, model_of, provider_of, read_tensor, session_with, text
from contracts.harness.graph import of_body, of_values
from contracts.harness.strings import read_strings
from onnx import TensorProto, helper, numpy_helper

HOST = pytest.mark.host_stricter
NODE = helper.make_node
INITIALIZER, TYPE = "OrtApi.ValueInfo_GetInitializerValue", "OrtApi.GetValueInfoTypeInfo"
EXTERNAL = "OrtApi.ValueInfo_GetExternalInitializerInfo"
EXTERNAL_PARTS = [f"OrtApi.ExternalInitializerInfo_Get{part}" for part in ("FilePath", "FileOffset", "ByteSize")]
RELEASE = "OrtApi.ReleaseExternalInitializerInfo"


@pytest.mark.slot(INITIALIZER)
def test_initializers_are_lent_the_same_each_time(probe):
    def look(reader, value):
        get = reader.api.get
        found = get.ValueInfo_GetInitializerValue(value)
        assert found == get.ValueInfo_GetInitializerValue(value)
        return None if found is None else read_tensor(reader.api, found).tolist()

    found = look_at(probe, chain(), of_values(look))
    assert found == {"x": None, "a": None, "b": None, "c": None, "y": None, "W": [1, 2], "V": [3, 4]}
    inside = look_at(probe, branches(), of_body("if", "then_branch", of_values(look)))
    assert inside == {"x": None, "s": None, "t": None, "W": [1, 2], "T": [3, 3]}
    other = look_at(probe, branches(), of_body("if", "else_branch", of_values(look)))
    assert other == {"m": None, "e": None, "B": [5, 6]}


ARRAYS = {
    "scalar": np.array(1.5),
    "no_elements": np.zeros((2, 0), np.float32),
    "int64": np.array([-7, 2**40]),
    "bool": np.array([True, False]),
    "int32": np.array([5, -2], np.int32),
    "uint8": np.arange(6, dtype=np.uint8).reshape(1, 2, 3),
}


@pytest.mark.slot(INITIALIZER)
@pytest.mark.parametrize("case", ARRAYS)
def test_initializer_has_the_elements_of_the_model(probe, case):
    array = ARRAYS[case]

    def look(reader, graph):
        found = read_tensor(reader.api, reader.api.get.ValueInfo_GetInitializerValue(reader.values(graph)["k"]))
        return found.tolist(), found.dtype, found.shape

    model = model_of([NODE("Shape", ["k"], ["y"])], {}, ["y"], initializers=[numpy_helper.from_array(array, "k")])
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    assert look_at(probe, model, look) == (array.tolist(), array.dtype, array.shape)


@pytest.mark.slot(INITIALIZER)
@pytest.mark.parametrize("is_node", [False, True])
def test_initializer_of_strings(probe, is_node):
    written = [b"", b"text", b"a longer text than any short one"]
    tensor = helper.make_tensor("k", TensorProto.STRING, [3], written)
    nodes = [NODE("Constant", [], ["k"], value_strings=written)] if is_node else []
    nodes.append(NODE("Shape", ["k"], ["y"]))
    model = model_of(nodes, {}, ["y"], initializers=[] if is_node else [tensor])
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64

    def look(reader, graph):
        return read_strings(reader.api, reader.api.get.ValueInfo_GetInitializerValue(reader.values(graph)["k"]))

    def prepare(ep):  # the host shows strings to a provider that has a kernel for them
        ep.use_kernels(Kernel(ep, "Shape", 15, 15, {"T": [E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING]}))

    assert look_at(probe, model, look, prepare) == written


CONSTANTS = {
    "value": (numpy_helper.from_array(np.array([[1, 2]], np.float32)), np.array([[1, 2]], np.float32)),
    "value_float": (1.5, np.array(1.5, np.float32)),
    "value_floats": ([1.5, 2.5], np.array([1.5, 2.5], np.float32)),
    "value_int": (7, np.array(7, np.int64)),
    "value_ints": ([7, 8], np.array([7, 8], np.int64)),
}


@pytest.mark.slot(INITIALIZER, TYPE)
@pytest.mark.parametrize("attribute", CONSTANTS)
def test_constant_node_is_an_initializer(probe, attribute):
    written, expected = CONSTANTS[attribute]
    nodes = [
        NODE("Constant", [], ["k"], name="constant", **{attribute: written}),
        NODE("Cast", ["k"], ["y"], name="cast", to=TensorProto.FLOAT),
    ]

    def look(reader, graph):
        value = reader.values(graph)["k"]
        found = read_tensor(reader.api, reader.api.get.ValueInfo_GetInitializerValue(value))
        return found.tolist(), found.dtype, reader.type_of(value)[1]

    found = look_at(probe, model_of(nodes, {}, ["y"]), look)
    assert found == (expected.tolist(), expected.dtype, list(expected.shape))


@pytest.mark.slot(INITIALIZER, "OrtApi.KernelInfoGetConstantInput_tensor", "OrtApi.Graph_GetNodes")
def test_constant_node_is_a_constant_of_a_providers_kernel_and_left_to_nobody(probe):
    nodes = [
        NODE("Constant", [], ["k"], name="constant", value_floats=[3.0, 4.0]),
        NODE("Add", ["x", "k"], ["y"], name="add"),
    ]
    seen = []

    def create(info):
        is_constant, value = C.c_int(), C.c_void_p()
        probe.api.ok.KernelInfoGetConstantInput_tensor(info, 1, C.byref(is_constant), C.byref(value))
        seen.append((is_constant.value, read_tensor(probe.api, value.value).tolist()))

    def prepare(ep):
        ep.use_kernels(Kernel(ep, "Add", 14, 14, create=create))

    with provider_of(probe, lambda ep, g, s: ep.take_what_has_kernels(g, s), prepare=prepare) as (_, options):
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        session = session_with(probe, model_of(nodes, {"x": [2]}, ["y"]), options)
        (y,) = probe.run(session, {"x": np.array([1, 2], np.float32)})
        del session
    assert seen == [(1, [3, 4])]
    assert y.tolist() == [1, 2]  # what the kernel copies


# External data


@pytest.fixture
def external(tmp_path, monkeypatch):
    """Save a model whose initializer W is at an offset of a file of its own; return its path."""
    monkeypatch.chdir(tmp_path)
    model = branches()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.bin").write_bytes(b"\0" * 4096 + np.array([1, 2], np.float32).tobytes())
    (weights,) = [t for t in model.graph.initializer if t.name == "W"]
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "data/w.bin", "offset": "4096", "length": "8"}.items():
        weights.external_data.add(key=key, value=value)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    return "m.onnx"


@pytest.mark.slot(EXTERNAL, RELEASE, *EXTERNAL_PARTS, INITIALIZER)
def test_external_initializer_says_where_it_is(probe, external):
    seen = {}

    def look(ep, graph, support):
        reader = GraphReader(ep.api)
        if ep.api.get.Graph_GetParentNode(graph) is None:
            for name, value in reader.values(graph).items():
                info = ep.api.get.ValueInfo_GetExternalInitializerInfo(value)
                seen[name] = info and (
                    text(ep.api.ExternalInitializerInfo_GetFilePath(info)),
                    ep.api.ExternalInitializerInfo_GetFileOffset(info),
                    ep.api.ExternalInitializerInfo_GetByteSize(info),
                )
                ep.api.ReleaseExternalInitializerInfo(info)
            value = ep.api.get.ValueInfo_GetInitializerValue(reader.values(graph)["W"])
            seen["content"] = read_tensor(ep.api, value).tolist()

    with provider_of(probe, look) as (_, options):
        session_with(probe, external, options)
    none = dict.fromkeys(["x", "m", "cond", "B", "y"])
    assert seen == none | {"W": ("data/w.bin", 4096, 8), "content": [1, 2]}


@pytest.mark.slot(EXTERNAL, INITIALIZER)
@HOST
def test_external_initializer_of_an_outer_graph_is_read_in_a_body(probe, external):
    seen = []

    def look(ep, graph, support):
        reader = GraphReader(ep.api)
        values = reader.values(graph)
        if ep.api.get.Graph_GetParentNode(graph) is not None and "W" in values:
            info = ep.api.get.ValueInfo_GetExternalInitializerInfo(values["W"])
            seen.append(text(ep.api.ExternalInitializerInfo_GetFilePath(info)))
            ep.api.ReleaseExternalInitializerInfo(info)
            seen.append(read_tensor(ep.api, ep.api.get.ValueInfo_GetInitializerValue(values["W"])).tolist())

    with provider_of(probe, look) as (_, options):
        session_with(probe, external, options)
    assert seen == ["data/w.bin", [1, 2]]


@pytest.mark.slot(RELEASE)
def test_releasing_no_external_initializer_does_nothing(api):
    api.ReleaseExternalInitializerInfo(None)


@pytest.mark.slot(*EXTERNAL_PARTS)
@HOST
def test_no_external_initializer_says_nothing(api):
    parts = [getattr(api, slot.split(".")[1])(None) for slot in EXTERNAL_PARTS]
    assert (text(parts[0]), *parts[1:]) == ("", 0, 0)
