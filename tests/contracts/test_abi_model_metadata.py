# SPDX-License-Identifier: Apache-2.0
"""What a model says about itself, as a provider reads it from a graph."""

import ctypes as C

import pytest
from contracts.graph_models import branches, chain
from contracts.harness import E, GraphReader, PluginAllocator, during_capability, look_at, text

HOST = pytest.mark.host_stricter
TEXTS = {
    "ModelMetadataGetProducerName": "maker",
    "ModelMetadataGetGraphName": "graph",
    "ModelMetadataGetDomain": "org.example",
    "ModelMetadataGetDescription": "a model",
    "ModelMetadataGetGraphDescription": "a graph",
}
TEXT_SLOTS = [f"OrtApi.{slot}" for slot in TEXTS]
GET, RELEASE = "OrtApi.Graph_GetModelMetadata", "OrtApi.ReleaseModelMetadata"
VERSION = "OrtApi.ModelMetadataGetVersion"
LOOKUP, KEYS = "OrtApi.ModelMetadataLookupCustomMetadataMap", "OrtApi.ModelMetadataGetCustomMetadataMapKeys"
NO_VERSION = 2**63 - 1
SENTINEL = 0x1234


def told(model):
    """Return the model with everything said that a model can say about itself."""
    model.producer_name, model.domain, model.doc_string = "maker", "org.example", "a model"
    model.model_version, model.graph.doc_string = 7, "a graph"
    for key, value in {"author": "somebody", "empty": "", "licence": "Apache-2.0"}.items():
        model.metadata_props.add(key=key, value=value)
    return model


def taken(api, allocator, pointer):
    """Return the text of a block after freeing it through its allocator."""
    if not pointer:
        return None
    found = text(pointer)
    api.ok.AllocatorFree(allocator, pointer)
    return found


def keys_of(api, metadata, allocator):
    """Return pointer and sorted content of the keys."""
    keys, count = C.c_void_p(SENTINEL), C.c_int64(SENTINEL)
    api.ok.ModelMetadataGetCustomMetadataMapKeys(metadata, allocator, C.byref(keys), C.byref(count))
    if not count.value:
        return keys.value, []
    found = [taken(api, allocator, key) for key in (C.c_void_p * count.value).from_address(keys.value)]
    api.ok.AllocatorFree(allocator, keys)
    return keys.value, sorted(found)


def with_metadata(probe, model, look):
    """Return what ``look(api, metadata, allocator)`` gives, with the default allocator."""

    def borrow(reader, graph):
        metadata = reader.api.get.Graph_GetModelMetadata(graph)
        try:
            return look(reader.api, metadata, reader.api.get.GetAllocatorWithDefaultOptions())
        finally:
            reader.api.ReleaseModelMetadata(metadata)

    return look_at(probe, model, borrow)


def all_texts(api, metadata, allocator):
    """Return what each of the slots for a text gives."""
    return {slot: taken(api, allocator, getattr(api.get, slot)(metadata, allocator)) for slot in TEXTS}


@pytest.mark.slot(GET, RELEASE, VERSION, *TEXT_SLOTS)
def test_model_says_who_made_it_and_what_it_is(probe):
    def look(api, metadata, allocator):
        return all_texts(api, metadata, allocator), api.get.ModelMetadataGetVersion(metadata)

    assert with_metadata(probe, told(chain()), look) == (TEXTS, 7)


@pytest.mark.slot(GET, VERSION, *TEXT_SLOTS)
def test_what_is_not_said_is_empty(probe):
    def look(api, metadata, allocator):
        return all_texts(api, metadata, allocator), api.get.ModelMetadataGetVersion(metadata)

    silent = dict.fromkeys(TEXTS, "") | {"ModelMetadataGetGraphName": "graph"}
    assert with_metadata(probe, chain(), look) == (silent, NO_VERSION)


@pytest.mark.slot(VERSION)
@HOST
def test_version_0_is_as_none(probe):
    model = chain()
    model.model_version = 0
    assert with_metadata(probe, model, lambda api, m, allocator: api.get.ModelMetadataGetVersion(m)) == NO_VERSION


@pytest.mark.slot(LOOKUP)
@pytest.mark.parametrize(("key", "value"), [("author", "somebody"), ("empty", ""), ("Author", None), ("", None)])
def test_entry_is_found_by_its_key(probe, key, value):
    def look(api, metadata, allocator):
        found = api.get.ModelMetadataLookupCustomMetadataMap(metadata, allocator, key.encode())
        return taken(api, allocator, found)

    assert with_metadata(probe, told(chain()), look) == value


@pytest.mark.slot(KEYS)
def test_keys_are_those_of_the_model(probe):
    assert with_metadata(probe, told(chain()), keys_of)[1] == ["author", "empty", "licence"]


@pytest.mark.slot(KEYS)
def test_model_without_entries_has_no_keys(probe):
    assert with_metadata(probe, chain(), keys_of) == (None, [])


@pytest.mark.slot(GET, *TEXT_SLOTS)
def test_subgraphs_and_views_speak_of_the_whole_model(probe):
    def look(ep, graph):
        reader, api = GraphReader(ep.api), ep.api
        view = reader.view(graph, next(iter(reader.nodes(graph))))
        allocator = api.get.GetAllocatorWithDefaultOptions()
        found = []
        for source in (graph, view):
            metadata = api.get.Graph_GetModelMetadata(source)
            found.append(all_texts(api, metadata, allocator))
            api.ReleaseModelMetadata(metadata)
        api.ReleaseGraph(view)
        return found

    seen = during_capability(probe, told(branches()), look)
    assert seen == [[TEXTS, TEXTS]] * 3


@pytest.mark.slot(GET, RELEASE, *TEXT_SLOTS)
def test_metadata_outlives_the_graph_that_it_came_from(probe):
    def look(reader, graph):
        api, view = reader.api, reader.view(graph, "add")
        metadata = api.get.Graph_GetModelMetadata(view)
        api.ReleaseGraph(view)
        found = all_texts(api, metadata, api.get.GetAllocatorWithDefaultOptions())
        api.ReleaseModelMetadata(metadata)
        return found

    assert look_at(probe, told(chain()), look) == TEXTS


@pytest.mark.slot(LOOKUP, KEYS, *TEXT_SLOTS)
@HOST
@pytest.mark.parametrize("after", [0, 1, 2])
def test_allocator_without_memory_is_an_error_and_nothing_is_lost(probe, after):
    def look(api, metadata, default):
        scarce, out, count = PluginAllocator(probe, fail_after=after), C.c_void_p(SENTINEL), C.c_int64(SENTINEL)
        codes = [api.code.ModelMetadataGetCustomMetadataMapKeys(metadata, scarce.address, C.byref(out), C.byref(count))]
        empty = PluginAllocator(probe, fail_after=0)
        codes += [getattr(api.code, slot)(metadata, empty.address, C.byref(out)) for slot in TEXTS]
        codes += [api.code.ModelMetadataLookupCustomMetadataMap(metadata, empty.address, b"author", C.byref(out))]
        assert (out.value, count.value, scarce.live, empty.live) == (SENTINEL, SENTINEL, {}, {})
        for allocator in (scarce, empty):
            api.ReleaseMemoryInfo(allocator.info)
        return set(codes)

    assert with_metadata(probe, told(chain()), look) == {E.ORT_FAIL}


@pytest.mark.slot(LOOKUP, KEYS, *TEXT_SLOTS)
def test_memory_is_of_the_allocator_that_is_given(probe, allocator):
    def look(api, metadata, default):
        texts = all_texts(api, metadata, allocator.address)
        found = api.get.ModelMetadataLookupCustomMetadataMap(metadata, allocator.address, b"author")
        return texts, taken(api, allocator.address, found), keys_of(api, metadata, allocator.address)[1]

    assert with_metadata(probe, told(chain()), look) == (TEXTS, "somebody", ["author", "empty", "licence"])
    assert len(allocator.freed) == len(TEXTS) + 1 + 4


@pytest.mark.slot(RELEASE)
def test_releasing_no_metadata_does_nothing(api):
    api.ReleaseModelMetadata(None)
