# SPDX-License-Identifier: Apache-2.0
"""Kernel registries: which definitions there is room for, one after the other."""

import contextlib
import ctypes as C

import numpy as np
import pytest
from contracts.harness import E, Kernel, Table, model_of, provider_of, session_with
from contracts.harness.kernel_defs import CREATE_FUNCTION, definition_of, ints, types_of
from onnx import helper

ADD = "OrtEpApi.KernelRegistry_AddKernel"
REGISTRY = ["OrtEpApi.CreateKernelRegistry", "OrtEpApi.ReleaseKernelRegistry"]
OPEN = 2**31 - 1
FLOAT, DOUBLE = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE
MEMORY_DEFAULT, MEMORY_IN, MEMORY_OUT = E.OrtMemTypeDefault, E.OrtMemTypeCPUInput, E.OrtMemTypeCPUOutput


@pytest.fixture
def ep_api(api):
    """Return the ``OrtEpApi`` table."""
    return Table(api.GetEpApi(), "OrtEpApi", api)


@contextlib.contextmanager
def registry_of(ep_api):
    """Yield a new registry."""
    registry = ep_api.get.CreateKernelRegistry()
    yield registry
    ep_api.ReleaseKernelRegistry(registry)


def add(ep_api, registry, definition):
    """Add a definition, release it, and return the code."""
    code = ep_api.code.KernelRegistry_AddKernel(registry, definition, CREATE_FUNCTION, None)
    ep_api.ReleaseKernelDef(definition)
    return code


def codes_of_adding(ep_api, *definitions):
    """Add definitions, each given by the arguments of `definition_of`, to one registry; return the codes."""
    with registry_of(ep_api) as registry:
        return [add(ep_api, registry, definition_of(ep_api, **arguments)) for arguments in definitions]


ROOM = {
    "another operator": ({}, {"op": b"Abs"}),
    "another domain": ({}, {"domain": b"test"}),
    "another provider": ({}, {"provider": b"Other"}),
    "later versions": ({}, {"versions": (6, 9)}),
    "an open end is its start, earlier": ({"versions": (1, OPEN)}, {"versions": (6, 9)}),
    "an open end is its start, later": ({"versions": (6, 9)}, {"versions": (1, OPEN)}),
    "two open ends": ({"versions": (6, OPEN)}, {"versions": (7, OPEN)}),
    "another type": ({"types": [(b"T", [FLOAT])]}, {"types": [(b"T", [DOUBLE])]}),
    "one of two types differs": (
        {"types": [(b"T", [FLOAT, DOUBLE]), (b"U", [FLOAT])]},
        {"types": [(b"T", [DOUBLE]), (b"U", [DOUBLE])]},
    ),
    "in place before": ({"mutable": [[(0, 0)]]}, {}),
    "in place after": ({}, {"mutable": [[(0, 0)]]}),
    "fewer pairs in place": ({"mutable": [[(0, 0), (1, 0)]]}, {"mutable": [[(0, 0)]]}),
    "alias before": ({"aliases": [[(0, 0)]]}, {}),
    "alias after": ({}, {"aliases": [[(0, 0)]]}),
    "input memory after": ({}, {"inputs": {0: MEMORY_IN}}),
    "the same input memory": ({"inputs": {0: MEMORY_IN}}, {"inputs": {0: MEMORY_IN}}),
    "the same default input memory": ({"inputs": {0: MEMORY_DEFAULT}}, {"inputs": {0: MEMORY_DEFAULT}}),
    "one input memory of two is the same": (
        {"inputs": {0: MEMORY_IN, 1: MEMORY_IN}},
        {"inputs": {0: MEMORY_OUT, 1: MEMORY_IN}},
    ),
    "output memory after": ({}, {"outputs": {0: MEMORY_OUT}}),
}

NO_ROOM = {
    "the same": ({}, {}),
    "two spellings of ONNX": ({"domain": b"ai.onnx"}, {}),
    "versions that share one": ({}, {"versions": (5, 9)}),
    "an open end that starts inside": ({"versions": (6, OPEN)}, {"versions": (1, 9)}),
    "types of other names": ({"types": [(b"T", [FLOAT])]}, {"types": [(b"U", [DOUBLE])]}),
    "types before": ({"types": [(b"T", [FLOAT])]}, {}),
    "types that share one": ({"types": [(b"T", [FLOAT, DOUBLE])]}, {"types": [(b"T", [DOUBLE])]}),
    "the same in place": ({"mutable": [[(0, 0)]]}, {"mutable": [[(0, 0)]]}),
    "more pairs in place": ({"mutable": [[(0, 0)]]}, {"mutable": [[(0, 0), (1, 0)]]}),
    "the same alias": ({"aliases": [[(0, 0)]]}, {"aliases": [[(0, 0)]]}),
    "more aliases": ({"aliases": [[(0, 0)]]}, {"aliases": [[(0, 0), (1, 0)]]}),
    "input memory before": ({"inputs": {0: MEMORY_IN}}, {}),
    "other input memory": ({"inputs": {0: MEMORY_IN}}, {"inputs": {0: MEMORY_OUT}}),
    "memory of other inputs": ({"inputs": {0: MEMORY_IN}}, {"inputs": {1: MEMORY_IN}}),
    "output memory before": ({"outputs": {0: MEMORY_OUT}}, {}),
    "the same output memory": ({"outputs": {0: MEMORY_OUT}}, {"outputs": {0: MEMORY_OUT}}),
    "other output memory": ({"outputs": {0: MEMORY_OUT}}, {"outputs": {0: MEMORY_DEFAULT}}),
}


@pytest.mark.slot(ADD, *REGISTRY)
@pytest.mark.parametrize("case", ROOM)
def test_definition_that_differs_is_added(ep_api, case):
    assert codes_of_adding(ep_api, *ROOM[case]) == [E.ORT_OK, E.ORT_OK]


@pytest.mark.slot(ADD, *REGISTRY)
@pytest.mark.parametrize("case", NO_ROOM)
def test_definition_that_conflicts_is_refused(ep_api, case):
    assert codes_of_adding(ep_api, *NO_ROOM[case]) == [E.ORT_OK, E.ORT_FAIL]


@pytest.mark.slot(ADD)
def test_definition_conflicts_with_any_earlier_one(ep_api):
    first, second, third = {"versions": (1, 3)}, {"versions": (4, 6)}, {"versions": (6, 8)}
    assert codes_of_adding(ep_api, first, second, third, third) == [E.ORT_OK, E.ORT_OK, E.ORT_FAIL, E.ORT_FAIL]


@pytest.mark.slot(ADD)
def test_definition_without_names_is_added(ep_api):
    assert codes_of_adding(ep_api, {"op": b"", "provider": b""}) == [E.ORT_OK]


CONSTRAIN = "OrtEpApi.KernelDefBuilder_AddTypeConstraint"


@pytest.mark.slot(CONSTRAIN, ADD)
def test_constraint_of_a_name_that_is_there_replaces_it(ep_api):
    """Seen by what a registry that has it still takes: a double conflicts, a float does not."""
    replaced = {"types": [(b"T", [FLOAT]), (b"T", [DOUBLE])]}
    assert codes_of_adding(ep_api, replaced, {"types": [(b"T", [FLOAT])]}) == [E.ORT_OK, E.ORT_OK]
    assert codes_of_adding(ep_api, replaced, {"types": [(b"T", [DOUBLE])]}) == [E.ORT_OK, E.ORT_FAIL]


@pytest.mark.slot(CONSTRAIN)
@pytest.mark.host_stricter
def test_constraint_with_a_null_type_is_refused_and_changes_nothing(ep_api):
    builder = ep_api.get.CreateKernelDefBuilder()
    ep_api.ok.KernelDefBuilder_SetOperatorType(builder, b"Relu")
    ep_api.ok.KernelDefBuilder_SetExecutionProvider(builder, b"Probe")
    ep_api.ok.KernelDefBuilder_AddTypeConstraint(builder, b"T", types_of(ep_api, FLOAT), 1)
    broken = (C.c_void_p * 2)(ep_api.get.GetTensorDataType(DOUBLE), None)
    assert ep_api.code.KernelDefBuilder_AddTypeConstraint(builder, b"T", broken, 2) == E.ORT_INVALID_ARGUMENT
    constrained = ep_api.get.KernelDefBuilder_Build(builder)
    ep_api.ReleaseKernelDefBuilder(builder)
    with registry_of(ep_api) as registry:
        assert add(ep_api, registry, constrained) == E.ORT_OK
        assert add(ep_api, registry, definition_of(ep_api, types=[(b"T", [DOUBLE])])) == E.ORT_OK
        assert add(ep_api, registry, definition_of(ep_api, types=[(b"T", [FLOAT])])) == E.ORT_FAIL


@pytest.mark.slot("OrtEpApi.KernelDefBuilder_AddInputOutputAliases", ADD)
@pytest.mark.slot("OrtEpApi.KernelDefBuilder_AddInputOutputMutableAliases")
@pytest.mark.parametrize("kind", ["aliases", "mutable"])
@pytest.mark.parametrize(
    ("calls", "kept"),
    [
        ([[(0, 0)], [(1, 1)]], [(0, 0), (1, 1)]),
        ([[(0, 0)], [(1, 1), (2, 2)]], [(1, 1), (2, 2)]),
        ([[(1, 1), (2, 2)], [(0, 0)]], [(1, 1), (2, 2), (0, 0)]),
    ],
)
def test_one_pair_is_added_and_several_replace(ep_api, kind, calls, kept):
    """Seen by a conflict: there is one if every pair of the earlier definition is in the later one."""
    for pairs, code in ((kept, E.ORT_FAIL), (kept[:-1], E.ORT_OK), (kept[1:], E.ORT_OK)):
        assert codes_of_adding(ep_api, {kind: calls}, {kind: [pairs]}) == [E.ORT_OK, code]


@pytest.mark.slot(ADD, REGISTRY[0])
@pytest.mark.parametrize("missing", ["registry", "definition", "function"])
def test_adding_checks_its_pointers(ep_api, missing):
    registry, definition = ep_api.get.CreateKernelRegistry(), definition_of(ep_api)
    arguments = {"registry": registry, "definition": definition, "function": CREATE_FUNCTION, "state": None}
    arguments[missing] = None
    assert ep_api.code.KernelRegistry_AddKernel(*arguments.values()) == E.ORT_INVALID_ARGUMENT
    ep_api.ReleaseKernelDef(definition)
    ep_api.ReleaseKernelRegistry(registry)


@pytest.mark.slot(REGISTRY[0])
@pytest.mark.host_stricter
def test_registry_without_a_destination(ep_api):
    assert ep_api.code.CreateKernelRegistry(None) == E.ORT_INVALID_ARGUMENT


PAIRS = ["OrtEpApi.KernelDefBuilder_AddInputOutputAliases", "OrtEpApi.KernelDefBuilder_AddInputOutputMutableAliases"]


@pytest.mark.slot(*PAIRS)
@pytest.mark.parametrize("slot", PAIRS)
@pytest.mark.parametrize("pair", [(-3, 0), (0, -3), (7, 0), (0, 7), (-(2**31), 2**31 - 1)])
def test_pair_of_arguments_that_a_node_does_not_have_is_ignored(probe, slot, pair):
    def build(ep_api, builder):
        getattr(ep_api.ok, slot.split(".")[1])(builder, ints(pair[0]), ints(pair[1]), 1)

    def take(ep, graph, support):
        ep.take_what_has_kernels(graph, support)

    nodes = [helper.make_node("Relu", [x], [y]) for x, y in ("xa", "ab", "by")]
    model = model_of(nodes, {"x": [2]}, ["y"])
    with provider_of(probe, take, prepare=lambda ep: ep.use_kernels(Kernel(ep, "Relu", 14, 14, build=build))) as (
        _,
        options,
    ):
        session = session_with(probe, model, options)
        np.testing.assert_array_equal(probe.run(session, {"x": np.array([1, 2], np.float32)})[0], [1, 2])
        del session


@pytest.mark.slot(CONSTRAIN, *PAIRS)
@pytest.mark.host_stricter
@pytest.mark.parametrize("count", [4097, 2**63, 2**64 - 1])
def test_count_without_sense_is_refused_before_anything_is_read(ep_api, count):
    builder = ep_api.get.CreateKernelDefBuilder()
    types = types_of(ep_api, FLOAT)
    assert ep_api.code.KernelDefBuilder_AddTypeConstraint(builder, b"T", types, count) == E.ORT_INVALID_ARGUMENT
    for slot in PAIRS:
        code = getattr(ep_api.code, slot.split(".")[1])(builder, ints(0), ints(0), count)
        assert code == E.ORT_INVALID_ARGUMENT
    ep_api.ReleaseKernelDefBuilder(builder)
