# SPDX-License-Identifier: Apache-2.0
"""Which kernel definition a node gets: operator, domain, version, every type, memory, provider, order."""

import ctypes as C

import numpy as np
import pytest
from contracts.harness import Arg, E, Kernel, model_of, provider_of, session_with, text
from onnx import TensorProto, helper

LOOK_UP = "OrtEpApi.EpGraphSupportInfo_LookUpKernel"
OPEN = 2**31 - 1
FLOAT, DOUBLE = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE
INT32, INT64 = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64
STRING = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING

pytestmark = pytest.mark.slot(LOOK_UP)


def found_by(probe, model, *kernels, ops=()):
    """Return, for each node of the graph asked about last, the versions of the definition it gets or None.

    Each kernel is one of `kernel`; ``ops`` are custom ops of the session.
    """
    found = []

    def capability(ep, graph, support):
        found[:] = [versions_of(ep.ep_api, support, node) for node in ep.nodes(graph)]

    def prepare(ep):
        ep.use_kernels(*(make(ep) for make in kernels))

    with provider_of(probe, capability, prepare=prepare) as (_, options):
        session_with(probe, model, probe.register(*ops, options=options) if ops else options)
    return found


def kernel(*arguments, **named):
    """Return a maker of the `Kernel` with these arguments for a provider."""
    return lambda ep: Kernel(ep, *arguments, **named)


def versions_of(ep_api, support, node):
    """Return the versions of the definition that a look-up gives, or None."""
    definition = ep_api.get.EpGraphSupportInfo_LookUpKernel(support, node)
    if not definition:
        return None
    start, end = C.c_int(), C.c_int()
    ep_api.ok.KernelDef_GetSinceVersion(definition, C.byref(start), C.byref(end))
    return start.value, end.value


def relu(opset=17):
    """Return a model of one Relu."""
    return model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": [2]}, ["y"], opset=opset)


def typed(nodes, inputs, outputs, opset=17, **imports):
    """Return a model whose inputs and outputs have types of their own."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, element, None) for name, element in inputs.items()],
        [helper.make_tensor_value_info(name, element, None) for name, element in outputs.items()],
    )
    opsets = [helper.make_opsetid(*item) for item in {"": opset, **imports}.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


# --- Operator, domain and provider


@pytest.mark.parametrize(("op", "matches"), [("Relu", True), ("relu", False), ("Abs", False), ("", False)])
def test_operator_is_the_nodes(probe, op, matches):
    assert found_by(probe, relu(), kernel(op, 14, 14)) == [(14, 14) if matches else None]


@pytest.mark.parametrize(("domain", "matches"), [("", True), ("ai.onnx", True), ("ai.onnx.ml", False), ("x", False)])
def test_domain_is_the_nodes(probe, domain, matches):
    assert found_by(probe, relu(), kernel("Relu", 14, 14, domain=domain)) == [(14, 14) if matches else None]


def test_domain_of_the_node_is_not_onnx(probe):
    node = helper.make_node("Normalizer", ["x"], ["y"], domain="ai.onnx.ml")
    model = typed([node], {"x": TensorProto.FLOAT}, {"y": TensorProto.FLOAT}, **{"ai.onnx.ml": 1})
    assert found_by(probe, model, kernel("Normalizer", 1, 1, domain="ai.onnx.ml")) == [(1, 1)]
    assert found_by(probe, model, kernel("Normalizer", 1, 1)) == [None]


@pytest.mark.parametrize("name", ["Other", "", "probeexecutionprovider"])
def test_definition_of_another_provider_never_matches(probe, name):
    def rename(ep_api, builder):
        ep_api.ok.KernelDefBuilder_SetExecutionProvider(builder, name.encode())

    assert found_by(probe, relu(), kernel("Relu", 14, 14, build=rename), kernel("Relu", 13, 14)) == [(13, 14)]


# --- Versions


@pytest.mark.parametrize(
    ("versions", "matches"),
    [
        ((14, 14), True),
        ((6, 14), True),
        ((14, 20), True),
        ((1, 99), True),
        ((14, OPEN), True),
        ((6, OPEN), False),
        ((13, OPEN), False),
        ((15, OPEN), False),
        ((6, 13), False),
        ((15, 20), False),
    ],
)
def test_versions_hold_the_version_of_the_nodes_schema(probe, versions, matches):
    """Relu of opset 17 is that of version 14; an open end stands for the start alone."""
    assert found_by(probe, relu(), kernel("Relu", *versions)) == [versions if matches else None]


@pytest.mark.parametrize(("opset", "since"), [(8, 6), (13, 13), (14, 14), (17, 14)])
def test_version_follows_the_opset_of_the_model(probe, opset, since):
    kernels = [kernel("Relu", version, OPEN) for version in (1, 6, 13, 14)]
    assert found_by(probe, relu(opset), *kernels) == [(since, OPEN)]


# --- Types


@pytest.mark.parametrize(
    ("types", "matches"),
    [
        ({}, True),
        ({"T": [FLOAT]}, True),
        ({"T": [DOUBLE, FLOAT]}, True),
        ({"T": [DOUBLE]}, False),
        ({"T": [FLOAT], "T2": [FLOAT]}, False),
        ({"X": [FLOAT]}, False),
        ({"tensor(float)": [FLOAT]}, False),
        ({"t": [FLOAT]}, False),
    ],
)
def test_type_parameter_is_named_as_in_the_schema(probe, types, matches):
    """A name that the schema does not have is no match; nor is an argument whose type is a type parameter."""
    assert found_by(probe, relu(), kernel("Relu", 14, 14, types)) == [(14, 14) if matches else None]


@pytest.mark.parametrize("element", [FLOAT, DOUBLE, INT32, INT64])
def test_each_type_gets_its_kernel(probe, element):
    order = [FLOAT, DOUBLE, INT32, INT64]
    kernels = [kernel("Abs", 13 - i, 13, {"T": [e]}) for i, e in enumerate(order)]
    model = model_of([helper.make_node("Abs", ["x"], ["y"])], {"x": [2]}, ["y"], element=element)
    assert found_by(probe, model, *kernels) == [(13 - order.index(element), 13)]


@pytest.mark.parametrize(
    ("types", "matches"),
    [
        ({"T": [FLOAT], "shape": [INT64]}, True),
        ({"shape": [INT64]}, True),
        ({"shape": [INT32]}, False),
        ({"T": [DOUBLE], "shape": [INT64]}, False),
        ({"data": [FLOAT]}, False),
        ({"reshaped": [FLOAT]}, False),
        ({"tensor(int64)": [INT64]}, False),
    ],
)
def test_argument_of_a_fixed_type_goes_by_its_own_name(probe, types, matches):
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    model = typed([node], {"x": TensorProto.FLOAT, "s": TensorProto.INT64}, {"y": TensorProto.FLOAT})
    assert found_by(probe, model, kernel("Reshape", 14, 14, types)) == [(14, 14) if matches else None]


@pytest.mark.parametrize(
    ("types", "matches"),
    [
        ({"T1": [FLOAT], "T2": [INT64]}, True),
        ({"T2": [INT64]}, True),
        ({"T2": [FLOAT]}, False),
        ({"T1": [INT64]}, False),
    ],
)
def test_type_parameter_of_an_output(probe, types, matches):
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT64)
    model = typed([node], {"x": TensorProto.FLOAT}, {"y": TensorProto.INT64})
    assert found_by(probe, model, kernel("Cast", 13, 13, types)) == [(13, 13) if matches else None]


@pytest.mark.parametrize(("types", "matches"), [({"T2": [DOUBLE]}, True), ({"T1": [DOUBLE]}, False)])
def test_type_parameter_whose_arguments_are_all_omitted_admits_everything(probe, types, matches):
    node = helper.make_node("Resize", ["x", "", "s"], ["y"])
    model = typed([node], {"x": TensorProto.FLOAT, "s": TensorProto.FLOAT}, {"y": TensorProto.FLOAT})
    assert found_by(probe, model, kernel("Resize", 13, 13, types)) == [(13, 13) if matches else None]


@pytest.mark.parametrize(("element", "matches"), [(FLOAT, True), (DOUBLE, False)])
def test_first_argument_of_a_type_parameter_may_be_omitted(probe, element, matches):
    node = helper.make_node("Clip", ["x", "", "most"], ["y"])
    model = typed([node], {"x": TensorProto.FLOAT, "most": TensorProto.FLOAT}, {"y": TensorProto.FLOAT})
    assert found_by(probe, model, kernel("Clip", 13, 13, {"T": [element]})) == [(13, 13) if matches else None]


@pytest.mark.parametrize(("element", "matches"), [(FLOAT, True), (DOUBLE, False)])
def test_arguments_of_a_variadic(probe, element, matches):
    node = helper.make_node("Concat", ["a", "b", "c"], ["y"], axis=0)
    model = typed([node], dict.fromkeys("abc", TensorProto.FLOAT), {"y": TensorProto.FLOAT})
    assert found_by(probe, model, kernel("Concat", 13, 13, {"T": [element]})) == [(13, 13) if matches else None]


@pytest.mark.parametrize(("element", "matches"), [(STRING, True), (FLOAT, False)])
def test_strings_are_a_type_like_others(probe, element, matches):
    node = helper.make_node("Identity", ["x"], ["y"])
    model = typed([node], {"x": TensorProto.STRING}, {"y": TensorProto.STRING})
    one = kernel("Identity", 16, 16, {"V": [element]})
    # The host does not even show the node to a provider without a kernel for its strings.
    assert found_by(probe, model, one) in ([[(16, 16)]] if matches else [[None], []])


@pytest.mark.parametrize(("types", "matches"), [({"T": [FLOAT]}, True), ({"S": [FLOAT]}, False)])
def test_sequence_is_no_tensor_of_its_elements(probe, types, matches):
    nodes = [helper.make_node("SequenceConstruct", ["x"], ["s"]), helper.make_node("SequenceLength", ["s"], ["y"])]
    model = typed(nodes, {"x": TensorProto.FLOAT}, {"y": TensorProto.INT64})
    assert found_by(probe, model, kernel("SequenceConstruct", 11, 11, types)) == [(11, 11) if matches else None, None]


@pytest.mark.host_stricter
@pytest.mark.parametrize(
    ("types", "matches"),
    [([FLOAT], False), ([INT64], False), ([FLOAT, INT64], True), ([INT64, FLOAT, DOUBLE], True)],
)
def test_every_argument_of_a_type_parameter_is_matched(probe, types, matches):
    """ORT looks at the first one alone."""
    anything = Arg(E.ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, E.INPUT_OUTPUT_VARIADIC)
    mixed = probe.op("Mixed", [anything], homogeneous=False, domain="test.mixed")
    node = helper.make_node("Mixed", ["a", "b"], ["y"], domain="test.mixed")
    inputs = {"a": TensorProto.FLOAT, "b": TensorProto.INT64}
    model = typed([node], inputs, {"y": TensorProto.FLOAT}, **{"test.mixed": 1})
    one = kernel("Mixed", 1, 1, {"Input0": types}, domain="test.mixed")
    assert found_by(probe, model, one, ops=[mixed]) == [(1, 1) if matches else None]


# --- Memory


@pytest.mark.parametrize("side", ["Input", "Output"])
@pytest.mark.parametrize("kind", [E.OrtMemTypeDefault, E.OrtMemTypeCPUInput, E.OrtMemTypeCPUOutput])
def test_every_memory_type_is_the_memory_of_the_cpu(probe, side, kind):
    def build(ep_api, builder):
        getattr(ep_api.ok, f"KernelDefBuilder_Set{side}MemType")(builder, 0, kind)

    assert found_by(probe, relu(), kernel("Relu", 14, 14, build=build)) == [(14, 14)]


@pytest.mark.host_stricter
@pytest.mark.parametrize("side", ["Input", "Output"])
@pytest.mark.parametrize("kind", [1, 7, -3])
def test_memory_type_that_does_not_exist_never_matches(probe, side, kind):
    def build(ep_api, builder):
        getattr(ep_api.ok, f"KernelDefBuilder_Set{side}MemType")(builder, 0, kind)

    assert found_by(probe, relu(), kernel("Relu", 14, 14, build=build)) == [None]


# --- Order and subgraphs


def cpu_input(ep_api, builder):
    """Set the memory type that makes another definition of the same one."""
    ep_api.ok.KernelDefBuilder_SetInputMemType(builder, 0, E.OrtMemTypeCPUInput)


def test_first_of_several_matches_wins(probe):
    one, other = kernel("Relu", 13, 14, build=cpu_input), kernel("Relu", 14, 14, build=cpu_input)
    assert found_by(probe, relu(), one, other) == [(13, 14)]
    assert found_by(probe, relu(), other, one) == [(14, 14)]


@pytest.mark.slot("OrtEp.GetKernelRegistry", "OrtEpApi.EpGraphSupportInfo_AddSingleNode")
def test_kernel_is_created_by_the_first_match_too(probe):
    kernels = []

    def prepare(ep):
        types = [{"T": [DOUBLE]}, {"T": [FLOAT]}, {"T": [FLOAT]}]
        kernels.extend(Kernel(ep, "Relu", 14, 14, t, build=cpu_input) for t in types)
        ep.use_kernels(*kernels)

    with provider_of(probe, lambda ep, g, s: ep.take_what_has_kernels(g, s), prepare=prepare) as (_, options):
        session = session_with(probe, relu(), options)
        probe.run(session, {"x": np.zeros(2, np.float32)})
        del session
    assert [len(kernel.made) for kernel in kernels] == [0, 1, 0]


@pytest.mark.slot("OrtEpApi.KernelDef_GetOperatorType", "OrtEpApi.KernelDef_GetExecutionProvider")
def test_definition_that_is_found_is_a_copy_of_the_one_added(probe):
    found = []

    def capability(ep, graph, support):
        definition = ep.ep_api.get.EpGraphSupportInfo_LookUpKernel(support, ep.nodes(graph)[0])
        slots = ("OperatorType", "Domain", "ExecutionProvider")
        found[:] = [text(getattr(ep.ep_api, f"KernelDef_Get{slot}")(definition)) for slot in slots]
        found.append(ep.ep_api.get.KernelDef_GetInputMemType(definition, 0))

    def prepare(ep):
        ep.use_kernels(Kernel(ep, "Relu", 14, 14, domain="ai.onnx", build=cpu_input))

    with provider_of(probe, capability, prepare=prepare) as (ep, options):
        session_with(probe, relu(), options)
    assert found == ["Relu", "ai.onnx", ep.factory.name, E.OrtMemTypeCPUInput]


def branches():
    """Return a model of an If with a Relu in each branch."""
    bodies = {
        branch: helper.make_graph(
            [helper.make_node("Relu", ["x"], [branch])],
            branch,
            [],
            [helper.make_tensor_value_info(branch, TensorProto.FLOAT, None)],
        )
        for branch in ("then_branch", "else_branch")
    }
    node = helper.make_node("If", ["c"], ["y"], **bodies)
    return typed([node], {"c": TensorProto.BOOL, "x": TensorProto.FLOAT}, {"y": TensorProto.FLOAT})


@pytest.mark.host_stricter
def test_node_with_subgraphs_never_matches(probe):
    """ORT finds the kernel and then fails to create it."""
    assert found_by(probe, branches(), kernel("If", 16, 16)) == [None]


def test_nodes_of_subgraphs_match(probe):
    found = []

    def capability(ep, graph, support):
        found.extend(versions_of(ep.ep_api, support, node) for node in ep.nodes(graph))

    with provider_of(probe, capability, prepare=lambda ep: ep.use_kernels(Kernel(ep, "Relu", 14, 14))) as (_, options):
        session_with(probe, branches(), options)
    assert found == [(14, 14), (14, 14), None]


@pytest.mark.parametrize("missing", ["support", "node", "out"])
def test_look_up_checks_its_pointers(probe, missing):
    codes = []

    def capability(ep, graph, support):
        arguments = {"support": support, "node": ep.nodes(graph)[0], "out": C.byref(C.c_void_p())}
        arguments[missing] = None
        codes.append(ep.ep_api.code.EpGraphSupportInfo_LookUpKernel(*arguments.values()))

    with provider_of(probe, capability) as (_, options):
        session_with(probe, relu(), options)
    assert codes == [E.ORT_INVALID_ARGUMENT]


def test_provider_without_a_registry_has_no_kernels(probe):
    assert found_by(probe, relu()) == [None]
