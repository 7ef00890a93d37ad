# SPDX-License-Identifier: Apache-2.0
"""Operator schemas as plugins read them, held against the schemas of the onnx package."""

import ctypes as C

import numpy as np
import pytest
from contracts.harness import Arg, E, Kernel, Table, copy_first_input, model_of, provider_of, session_with, text
from onnx import defs, helper

GET, RELEASE = "OrtEpApi.GetOpSchema", "OrtEpApi.ReleaseOpSchema"
COUNTS = ["OrtEpApi.OpSchema_GetNumInputs", "OrtEpApi.OpSchema_GetNumOutputs"]
NAMES = ["OrtEpApi.OpSchema_GetInputName", "OrtEpApi.OpSchema_GetOutputName"]
CONSTRAINTS = ["OrtEpApi.OpSchema_GetInputTypeConstraint", "OrtEpApi.OpSchema_GetOutputTypeConstraint"]
TYPES = "OrtEpApi.OpSchemaTypeConstraint_GetAllowedTypes"
INDICES = ["OrtEpApi.OpSchemaTypeConstraint_GetInputIndices", "OrtEpApi.OpSchemaTypeConstraint_GetOutputIndices"]
SENTINEL = 0x1234


@pytest.fixture
def ep_api(api):
    """Return the ``OrtEpApi`` table."""
    return Table(api.GetEpApi(), "OrtEpApi", api)


@pytest.fixture
def schema_of(ep_api):
    """Return a reader of schemas that are released after the test."""
    made = []

    def get(name, version, domain=""):
        made.append(ep_api.get.GetOpSchema(name.encode(), version, domain.encode()))
        return made[-1]

    yield get
    for schema in made:
        ep_api.ReleaseOpSchema(schema)


def array_of(ep_api, slot, constraint, ctype):
    """Return an array that a constraint lends."""
    entries, count = C.c_void_p(), C.c_size_t()
    getattr(ep_api.ok, slot)(constraint, C.byref(entries), C.byref(count))
    return list((ctype * count.value).from_address(entries.value)) if count.value else []


def constraint_of(ep_api, constraint):
    """Return everything that a constraint says; None for null."""
    if constraint is None:
        return None
    types = array_of(ep_api, "OpSchemaTypeConstraint_GetAllowedTypes", constraint, C.c_void_p)
    return (
        text(ep_api.get.OpSchemaTypeConstraint_GetTypeParamName(constraint)),
        {text(t) for t in types},
        array_of(ep_api, "OpSchemaTypeConstraint_GetInputIndices", constraint, C.c_size_t),
        array_of(ep_api, "OpSchemaTypeConstraint_GetOutputIndices", constraint, C.c_size_t),
    )


def described(ep_api, schema):
    """Return everything that a schema says."""
    sides = []
    for side in ("Input", "Output"):
        count = getattr(ep_api.get, f"OpSchema_GetNum{side}s")(schema)
        names = [text(getattr(ep_api.get, f"OpSchema_Get{side}Name")(schema, i)) for i in range(count)]
        types = [getattr(ep_api.get, f"OpSchema_Get{side}TypeConstraint")(schema, i) for i in range(count)]
        sides.append(list(zip(names, (constraint_of(ep_api, t) for t in types), strict=True)))
    count = ep_api.get.OpSchema_GetTypeConstraintCount(schema)
    constraints = [constraint_of(ep_api, ep_api.get.OpSchema_GetTypeConstraint(schema, i)) for i in range(count)]
    return ep_api.get.OpSchema_GetSinceVersion(schema), *sides, {c[0]: c for c in constraints}


def expected(schema):
    """Return what the onnx package says, in the form of `described`."""

    def indices(formals, name):
        return [i for i, formal in enumerate(formals) if formal.type_str == name]

    constraints = {
        c.type_param_str: (
            c.type_param_str,
            {t for t in c.allowed_type_strs if "map(" not in t},
            indices(schema.inputs, c.type_param_str),
            indices(schema.outputs, c.type_param_str),
        )
        for c in schema.type_constraints
    }
    sides = [[(f.name, constraints.get(f.type_str)) for f in side] for side in (schema.inputs, schema.outputs)]
    return schema.since_version, *sides, constraints


SOME = [("Add", 14), ("Reshape", 14), ("Resize", 18), ("Loop", 16), ("Concat", 13), ("Optional", 15), ("Split", 18)]


@pytest.mark.slot(GET, RELEASE, *COUNTS, *NAMES, *CONSTRAINTS, TYPES, *INDICES)
@pytest.mark.slot("OrtEpApi.OpSchema_GetSinceVersion", "OrtEpApi.OpSchema_GetTypeConstraintCount")
@pytest.mark.slot("OrtEpApi.OpSchema_GetTypeConstraint", "OrtEpApi.OpSchemaTypeConstraint_GetTypeParamName")
@pytest.mark.parametrize(("name", "version"), SOME)
def test_schema_says_what_onnx_says(ep_api, schema_of, name, version):
    assert described(ep_api, schema_of(name, version)) == expected(defs.get_schema(name, version))


@pytest.mark.slot(GET, TYPES)
@pytest.mark.limit(TYPES)
@pytest.mark.host_stricter
def test_every_operator_at_every_version(ep_api, schema_of):
    wrong = [
        (schema.domain, schema.name, schema.since_version)
        for schema in defs.get_all_schemas_with_history()
        if described(ep_api, schema_of(schema.name, schema.since_version, schema.domain)) != expected(schema)
    ]
    assert wrong == []


@pytest.mark.slot(GET)
@pytest.mark.parametrize(("name", "most", "since"), [("Add", 5, 1), ("Add", 13, 13), ("Relu", 99, 14)])
@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_newest_schema_up_to_the_version_is_found(ep_api, schema_of, name, most, since, domain):
    assert ep_api.get.OpSchema_GetSinceVersion(schema_of(name, most, domain)) == since


@pytest.mark.slot(GET)
@pytest.mark.parametrize(("name", "most", "domain"), [("Nothing", 20, ""), ("Gelu", 19, ""), ("Add", 20, "nowhere")])
def test_operator_that_is_not_known_is_null(schema_of, name, most, domain):
    assert schema_of(name, most, domain) is None


@pytest.mark.slot(GET)
@pytest.mark.parametrize("missing", [0, 2, 3])
def test_schema_checks_its_pointers(ep_api, missing):
    args = [b"Add", 14, b"", C.byref(C.c_void_p())]
    args[missing] = None
    assert ep_api.code.GetOpSchema(*args) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(*NAMES, *CONSTRAINTS, "OrtEpApi.OpSchema_GetTypeConstraint")
@pytest.mark.parametrize("slot", [*NAMES, *CONSTRAINTS, "OrtEpApi.OpSchema_GetTypeConstraint"])
def test_index_past_the_count_is_refused(ep_api, schema_of, slot):
    out = C.c_void_p(SENTINEL)
    code = getattr(ep_api.code, slot.split(".")[1])(schema_of("Add", 14), 2, C.byref(out))
    assert code == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(RELEASE)
def test_releasing_no_schema_does_nothing(ep_api):
    ep_api.ReleaseOpSchema(None)


def custom_op(probe):
    """Return a custom op of a float, an optional int64 and any number of values of any type."""
    inputs = [
        Arg(E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT),
        Arg(E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, E.INPUT_OUTPUT_OPTIONAL),
        Arg(E.ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, E.INPUT_OUTPUT_VARIADIC),
    ]
    return probe.op("Mixed", inputs, homogeneous=False, min_arity=0, start=3, domain="test.mixed")


@pytest.mark.slot(GET, RELEASE, *COUNTS, *NAMES, *CONSTRAINTS, TYPES, *INDICES)
@pytest.mark.host_stricter
def test_custom_op_has_a_schema_while_a_provider_is_asked(probe, ep_api, schema_of):
    """ORT does not find it."""
    found = []

    def capability(ep, graph, support):
        schemas = [ep_api.get.GetOpSchema(b"Mixed", version, b"test.mixed") for version in (2, 3, 9)]
        schemas.append(ep_api.get.GetOpSchema(b"Relu", 20, b""))
        found[:] = [schema and described(ep_api, schema) for schema in schemas]
        for schema in schemas:
            ep_api.ReleaseOpSchema(schema)

    node = helper.make_node("Mixed", ["x", "", "x"], ["y"], domain="test.mixed")
    model = model_of([node], {"x": [2]}, ["y"], **{"test.mixed": 3})
    with provider_of(probe, capability) as (_, options):
        session_with(probe, model, probe.register(custom_op(probe), options=options))
    assert schema_of("Mixed", 3, "test.mixed") is None
    too_old, exact, newer, relu = found
    assert too_old is None
    assert exact == newer
    assert relu == expected(defs.get_schema("Relu", 20))
    since, inputs, outputs, constraints = exact
    assert since == 3
    assert [name for name, _ in inputs] == ["Input0", "Input1", "Input2"]
    assert inputs[0][1] == ("Input0", {"tensor(float)"}, [0], [])
    assert inputs[1][1] == ("Input1", {"tensor(int64)"}, [1], [])
    assert {"tensor(float)", "tensor(string)", "tensor(bool)", "tensor(int4)"} < inputs[2][1][1]
    assert outputs == [("Output0", ("Output0", {"tensor(float)"}, [], [0]))]
    assert constraints.keys() == {"Input0", "Input1", "Input2", "Output0"}


@pytest.mark.slot(GET)
@pytest.mark.host_stricter
def test_custom_op_has_a_schema_in_each_step_of_a_sessions_creation_and_not_in_its_runs(probe, ep_api):
    def version():
        schema = ep_api.get.GetOpSchema(b"Mixed", 9, b"test.mixed")
        since = schema and ep_api.get.OpSchema_GetSinceVersion(schema)
        ep_api.ReleaseOpSchema(schema)
        return since

    seen = {}

    def note(step):
        seen[step] = version()

    def capability(ep, graph, support):
        note("GetCapability")
        ep.take_what_has_kernels(graph, support)

    def compute(api, context):
        note("Compute")
        copy_first_input(api, context)

    def prepare(ep):
        kernel = Kernel(
            ep, "Mixed", 3, 3, domain="test.mixed", create=lambda info: note("OrtKernelCreateFunc"), compute=compute
        )
        ep.use_kernels(kernel)
        ep.count("OnSessionInitializationEnd", lambda this: note("OnSessionInitializationEnd"))

    node = helper.make_node("Mixed", ["x", "", "x"], ["y"], domain="test.mixed")
    model = model_of([node], {"x": [2]}, ["y"], **{"test.mixed": 3})
    with provider_of(probe, capability, prepare=prepare) as (_, options):
        session = session_with(probe, model, probe.register(custom_op(probe), options=options))
        probe.run(session, {"x": np.zeros(2, np.float32)})
        del session
    made = dict.fromkeys(("GetCapability", "OrtKernelCreateFunc", "OnSessionInitializationEnd"), 3)
    assert seen == {**made, "Compute": None}
