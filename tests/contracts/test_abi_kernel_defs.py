# SPDX-License-Identifier: Apache-2.0
"""Kernel definitions, their builder, and the data types that constraints are made of."""

import ctypes as C

import pytest
from contracts.harness import E, Table, text
from contracts.harness.kernel_defs import definition_of, ints, types_of

SET_TEXT = [
    "OrtEpApi.KernelDefBuilder_SetOperatorType",
    "OrtEpApi.KernelDefBuilder_SetDomain",
    "OrtEpApi.KernelDefBuilder_SetExecutionProvider",
]
GET_TEXT = [
    "OrtEpApi.KernelDef_GetOperatorType",
    "OrtEpApi.KernelDef_GetDomain",
    "OrtEpApi.KernelDef_GetExecutionProvider",
]
CREATE, RELEASE = "OrtEpApi.CreateKernelDefBuilder", "OrtEpApi.ReleaseKernelDefBuilder"
BUILD, RELEASE_DEF = "OrtEpApi.KernelDefBuilder_Build", "OrtEpApi.ReleaseKernelDef"
SET_VERSION, GET_VERSION = "OrtEpApi.KernelDefBuilder_SetSinceVersion", "OrtEpApi.KernelDef_GetSinceVersion"
SET_MEMORY = ["OrtEpApi.KernelDefBuilder_SetInputMemType", "OrtEpApi.KernelDefBuilder_SetOutputMemType"]
GET_MEMORY = ["OrtEpApi.KernelDef_GetInputMemType", "OrtEpApi.KernelDef_GetOutputMemType"]
CONSTRAIN = "OrtEpApi.KernelDefBuilder_AddTypeConstraint"
ALIAS = "OrtEpApi.KernelDefBuilder_AddInputOutputAliases"
MUTABLE = "OrtEpApi.KernelDefBuilder_AddInputOutputMutableAliases"
DATA_TYPE = "OrtEpApi.GetTensorDataType"
OPEN = 2**31 - 1
SENTINEL = 0x1234
FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
MEMORY_DEFAULT, MEMORY_IN, MEMORY_OUT = E.OrtMemTypeDefault, E.OrtMemTypeCPUInput, E.OrtMemTypeCPUOutput


def slot_of(qualified):
    """Return the name of a slot without its table."""
    return qualified.split(".")[1]


@pytest.fixture
def ep_api(api):
    """Return the ``OrtEpApi`` table."""
    return Table(api.GetEpApi(), "OrtEpApi", api)


@pytest.fixture
def builder(ep_api):
    """Return a builder that is released after the test."""
    handle = ep_api.get.CreateKernelDefBuilder()
    yield handle
    ep_api.ReleaseKernelDefBuilder(handle)


@pytest.fixture
def build(ep_api, builder):
    """Return a function that builds the definition; it is released after the test."""
    built = []

    def build():
        built.append(ep_api.get.KernelDefBuilder_Build(builder))
        return built[-1]

    yield build
    for definition in built:
        ep_api.ReleaseKernelDef(definition)


def since_of(ep_api, definition):
    """Return first and last version of a definition."""
    start, end = C.c_int(), C.c_int()
    ep_api.ok.KernelDef_GetSinceVersion(definition, C.byref(start), C.byref(end))
    return start.value, end.value


# --- The builder


@pytest.mark.slot(CREATE, RELEASE, BUILD, RELEASE_DEF, *GET_TEXT, GET_VERSION, *GET_MEMORY)
def test_fresh_builder_gives_an_open_definition_without_names(ep_api, build):
    definition = build()
    assert [text(getattr(ep_api, slot_of(slot))(definition)) for slot in GET_TEXT] == ["", "", ""]
    assert since_of(ep_api, definition) == (1, OPEN)
    assert [getattr(ep_api.get, slot_of(slot))(definition, 0) for slot in GET_MEMORY] == [MEMORY_DEFAULT] * 2


@pytest.mark.slot(*SET_TEXT, *GET_TEXT)
@pytest.mark.parametrize(("setter", "getter"), list(zip(SET_TEXT, GET_TEXT, strict=True)))
def test_texts_are_copied_as_they_are_written(ep_api, builder, build, setter, getter):
    written = C.create_string_buffer(b"ai.onnx")
    getattr(ep_api.ok, slot_of(setter))(builder, b"first")
    getattr(ep_api.ok, slot_of(setter))(builder, written)
    written.value = b"?"
    definition = build()
    found = {slot: text(getattr(ep_api, slot_of(slot))(definition)) for slot in GET_TEXT}
    assert found == {slot: "ai.onnx" if slot == getter else "" for slot in GET_TEXT}


@pytest.mark.slot(*SET_TEXT)
@pytest.mark.parametrize("slot", SET_TEXT)
def test_null_text_is_refused(ep_api, builder, slot):
    assert getattr(ep_api.code, slot_of(slot))(builder, None) == E.ORT_RUNTIME_EXCEPTION


@pytest.mark.slot(SET_VERSION, GET_VERSION)
@pytest.mark.parametrize("versions", [(1, 1), (6, 13), (7, OPEN), (OPEN, OPEN)])
def test_versions_are_kept(ep_api, builder, build, versions):
    ep_api.ok.KernelDefBuilder_SetSinceVersion(builder, *versions)
    assert since_of(ep_api, build()) == versions


@pytest.mark.slot(SET_VERSION)
@pytest.mark.parametrize("versions", [(0, 3), (-1, 3), (5, 4), (0, 0)])
def test_versions_that_are_no_range_change_nothing(ep_api, builder, build, versions):
    ep_api.ok.KernelDefBuilder_SetSinceVersion(builder, 2, 4)
    assert ep_api.code.KernelDefBuilder_SetSinceVersion(builder, *versions) == E.ORT_INVALID_ARGUMENT
    assert since_of(ep_api, build()) == (2, 4)


@pytest.mark.slot(*SET_MEMORY, *GET_MEMORY)
@pytest.mark.parametrize(("setter", "getter"), list(zip(SET_MEMORY, GET_MEMORY, strict=True)))
def test_first_memory_type_of_an_index_stays(ep_api, builder, build, setter, getter):
    for index, kind in [(1, MEMORY_IN), (1, MEMORY_OUT), (300, MEMORY_OUT), (2, MEMORY_DEFAULT), (2, MEMORY_IN)]:
        getattr(ep_api.ok, slot_of(setter))(builder, index, kind)
    definition = build()
    for side in GET_MEMORY:
        found = {i: getattr(ep_api.get, slot_of(side))(definition, i) for i in (0, 1, 2, 300)}
        expected = {0: MEMORY_DEFAULT, 1: MEMORY_IN, 2: MEMORY_DEFAULT, 300: MEMORY_OUT}
        assert found == (expected if side == getter else dict.fromkeys(found, MEMORY_DEFAULT))


@pytest.mark.slot(*SET_MEMORY, *GET_MEMORY)
@pytest.mark.parametrize(("setter", "getter"), list(zip(SET_MEMORY, GET_MEMORY, strict=True)))
def test_number_that_is_no_memory_type_is_kept(ep_api, builder, build, setter, getter):
    getattr(ep_api.ok, slot_of(setter))(builder, 0, 7)
    assert getattr(ep_api.get, slot_of(getter))(build(), 0) == 7


@pytest.mark.slot(CONSTRAIN, DATA_TYPE)
@pytest.mark.parametrize("missing", ["name", "types", "count"])
def test_constraint_needs_a_name_and_types(ep_api, builder, missing):
    arguments = {"name": b"T", "types": types_of(ep_api, FLOAT), "count": 1}
    arguments[missing] = 0 if missing == "count" else None
    assert ep_api.code.KernelDefBuilder_AddTypeConstraint(builder, *arguments.values()) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(ALIAS, MUTABLE)
@pytest.mark.parametrize("slot", [ALIAS, MUTABLE])
@pytest.mark.parametrize("missing", ["inputs", "outputs", "count"])
def test_pairs_need_indices(ep_api, builder, slot, missing):
    arguments = {"inputs": ints(0), "outputs": ints(0), "count": 1}
    arguments[missing] = 0 if missing == "count" else None
    assert getattr(ep_api.code, slot_of(slot))(builder, *arguments.values()) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(BUILD, SET_VERSION, CONSTRAIN, ALIAS, MUTABLE, *SET_TEXT, *SET_MEMORY)
@pytest.mark.host_stricter
def test_builder_that_has_built_refuses_everything(ep_api, builder, build):
    definition = build()
    out = C.c_void_p(SENTINEL)
    assert ep_api.code.KernelDefBuilder_Build(builder, C.byref(out)) == E.ORT_INVALID_ARGUMENT
    assert out.value == SENTINEL
    for slot in SET_TEXT:
        assert getattr(ep_api.code, slot_of(slot))(builder, b"Relu") == E.ORT_INVALID_ARGUMENT
    for slot in (SET_VERSION, *SET_MEMORY):
        assert getattr(ep_api.code, slot_of(slot))(builder, 1, -1) == E.ORT_INVALID_ARGUMENT
    for slot in (ALIAS, MUTABLE):
        assert getattr(ep_api.code, slot_of(slot))(builder, ints(0), ints(0), 1) == E.ORT_INVALID_ARGUMENT
    types = types_of(ep_api, FLOAT)
    assert ep_api.code.KernelDefBuilder_AddTypeConstraint(builder, b"T", types, 1) == E.ORT_INVALID_ARGUMENT
    assert text(ep_api.KernelDef_GetOperatorType(definition)) == ""


@pytest.mark.slot(CREATE, BUILD, SET_VERSION, CONSTRAIN, ALIAS, MUTABLE, *SET_TEXT, *SET_MEMORY)
@pytest.mark.host_stricter
def test_no_builder_is_refused(ep_api):
    out = C.byref(C.c_void_p())
    assert ep_api.code.CreateKernelDefBuilder(None) == E.ORT_INVALID_ARGUMENT
    calls = {slot_of(slot): (b"Relu",) for slot in SET_TEXT}
    calls |= {slot_of(slot): (1, 1) for slot in (SET_VERSION, *SET_MEMORY)}
    calls |= {slot_of(slot): (ints(0), ints(0), 1) for slot in (ALIAS, MUTABLE)}
    calls |= {slot_of(CONSTRAIN): (b"T", types_of(ep_api, FLOAT), 1), slot_of(BUILD): (out,)}
    wrong = {slot: getattr(ep_api.code, slot)(None, *arguments) for slot, arguments in calls.items()}
    assert wrong == dict.fromkeys(calls, E.ORT_INVALID_ARGUMENT)


@pytest.mark.slot(BUILD)
@pytest.mark.host_stricter
def test_build_without_a_destination_keeps_the_definition(ep_api, builder, build):
    ep_api.ok.KernelDefBuilder_SetOperatorType(builder, b"Relu")
    assert ep_api.code.KernelDefBuilder_Build(builder, None) == E.ORT_INVALID_ARGUMENT
    assert text(ep_api.KernelDef_GetOperatorType(build())) == "Relu"


@pytest.mark.slot(BUILD, RELEASE)
def test_definition_outlives_its_builder(ep_api):
    definition = definition_of(ep_api, op=b"Squeeze", domain=b"test", provider=b"P", versions=(3, 9))
    assert [text(getattr(ep_api, slot_of(slot))(definition)) for slot in GET_TEXT] == ["Squeeze", "test", "P"]
    assert since_of(ep_api, definition) == (3, 9)
    ep_api.ReleaseKernelDef(definition)


# --- Definitions


@pytest.mark.slot(GET_VERSION, *GET_MEMORY)
def test_definition_getters_check_their_pointers(ep_api, build):
    definition, number = build(), C.byref(C.c_int())
    calls = [(GET_VERSION, a) for a in ((None, number, number), (definition, None, number), (definition, number, None))]
    calls += [(slot, a) for slot in GET_MEMORY for a in ((None, 0, number), (definition, 0, None))]
    codes = [getattr(ep_api.code, slot_of(slot))(*arguments) for slot, arguments in calls]
    assert codes == [E.ORT_INVALID_ARGUMENT] * len(calls)


@pytest.mark.slot(*GET_TEXT)
@pytest.mark.host_stricter
def test_no_definition_has_no_texts(ep_api):
    assert [text(getattr(ep_api, slot_of(slot))(None)) for slot in GET_TEXT] == ["", "", ""]


@pytest.mark.slot(RELEASE, RELEASE_DEF)
@pytest.mark.parametrize("slot", [RELEASE, RELEASE_DEF])
def test_releasing_nothing_does_nothing(ep_api, slot):
    getattr(ep_api, slot_of(slot))(None)


# --- Data types


NO_KERNELS = {"UNDEFINED", "COMPLEX64", "COMPLEX128"}
ELEMENTS = {
    name.removeprefix("ONNX_TENSOR_ELEMENT_DATA_TYPE_"): value
    for name, value in vars(E).items()
    if name.startswith("ONNX_TENSOR_ELEMENT_DATA_TYPE_")
}


@pytest.mark.slot(DATA_TYPE)
def test_each_element_type_has_one_data_type(ep_api):
    names = sorted(ELEMENTS.keys() - NO_KERNELS)
    types = [ep_api.get.GetTensorDataType(ELEMENTS[name]) for name in names]
    assert [ep_api.get.GetTensorDataType(ELEMENTS[name]) for name in names] == types
    assert len(set(types)) == len(names)


@pytest.mark.slot(DATA_TYPE)
@pytest.mark.parametrize("element", [*(ELEMENTS[name] for name in sorted(NO_KERNELS)), 27, 100, -1])
def test_element_type_without_kernels(ep_api, element):
    out = C.c_void_p(SENTINEL)
    assert ep_api.code.GetTensorDataType(element, C.byref(out)) == E.ORT_NOT_IMPLEMENTED
    assert out.value == SENTINEL


@pytest.mark.slot(DATA_TYPE)
@pytest.mark.host_stricter
def test_data_type_without_a_destination(ep_api):
    assert ep_api.code.GetTensorDataType(FLOAT, None) == E.ORT_INVALID_ARGUMENT
