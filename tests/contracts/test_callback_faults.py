# SPDX-License-Identifier: Apache-2.0
"""Callbacks of a native library that throw or return an error: each of them, in each way C++ knows."""

import ctypes as C
import gc
import os
from types import SimpleNamespace

import numpy as np
import pytest
from contracts.harness import Arg, fixture_path
from onnx import TensorProto as T

pytestmark = pytest.mark.host_stricter
LIBRARY = "faulty_callbacks"
THROWS = {"exception": 1, "exception_without_text": 2, "int": 3, "foreign_class": 4, "class_with_a_code": 5}
STATUS = 6
WORDS = {
    "exception": "faulty_callbacks: no weights",
    "exception_without_text": "an exception without a message",
    "int": "an exception that is no std::exception",
    "foreign_class": "an exception that is no std::exception",
    "class_with_a_code": "faulty_callbacks: coded",
}
DESCRIPTION = [
    *["GetName", "GetExecutionProviderType", "GetInputTypeCount", "GetInputType", "GetInputCharacteristic"],
    *["GetOutputTypeCount", "GetOutputType", "GetOutputCharacteristic", "GetInputMemoryType"],
    *["GetVariadicInputMinArity", "GetVariadicInputHomogeneity", "GetVariadicOutputMinArity"],
    *["GetVariadicOutputHomogeneity", "GetStartVersion", "GetEndVersion", "GetMayInplace", "GetAliasMap"],
]
X = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
FAULTS = pytest.mark.parametrize("fault", THROWS)


class Library:
    """The fixture's own exports: its counters and the callback that shall go wrong."""

    def __init__(self):
        exports = C.CDLL(fixture_path(LIBRARY), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        self.fail = exports.FixtureFail
        self.fail.argtypes = [C.c_char_p, C.c_int, C.c_long]
        self._count = exports.FixtureCallCount
        self._count.restype, self._count.argtypes = C.c_long, [C.c_char_p]
        self._before = {}

    def total(self, name):
        """Return the number of calls since the library was loaded."""
        return self._count(name.encode())

    def calls(self, name):
        """Return the number of calls since the last call with this name."""
        now = self.total(name)
        before, self._before[name] = self._before.get(name, 0), now
        return now - before


class Faults:
    """Makes sessions on the fixture."""

    def __init__(self, probe):
        self.probe = probe
        self.options = probe.ort.SessionOptions()
        self.options.log_severity_level = 2
        self.options.register_custom_ops_library(fixture_path(LIBRARY))
        self.library = Library()

    def session(self, op="Faulty", nodes=1):
        """Return a session on a chain of nodes named node0, node1, ..."""
        stub = SimpleNamespace(name=op, domain="fixtures", outputs=[Arg()])
        model = self.probe.one_node_model(stub, input_types={"x0": (T.FLOAT, X.shape)})
        for i in range(1, nodes):
            node = model.graph.node.add()
            node.CopyFrom(model.graph.node[0])
            node.name, node.input[0], node.output[0] = f"node{i}", model.graph.node[i - 1].output[0], f"y{i}"
        model.graph.output[0].name = model.graph.node[-1].output[0]
        return self.probe.session(model, options=self.options)

    def fail(self, callback, fault, nth=1):
        self.library.fail(callback.encode(), THROWS.get(fault, STATUS), nth)

    def works(self, op="Faulty"):
        """Tell whether nothing goes wrong any more."""
        self.library.fail(b"", 0, 0)
        return np.array_equal(self.probe.run(self.session(op), {"x0": X})[0], X)


@pytest.fixture
def faults(probe):
    yield (made := Faults(probe))
    made.library.fail(b"", 0, 0)


def words_missing(error, *words):
    """Return what the message does not say."""
    return [word for word in words if word not in str(error.value)]


def pairs_balanced(library):
    return all(library.total(f"Get{n}") == library.total(f"Release{n}") for n in ("MayInplace", "AliasMap"))


@pytest.mark.slot(*(f"OrtCustomOp.{name}" for name in DESCRIPTION))
@FAULTS
@pytest.mark.parametrize("callback", DESCRIPTION)
def test_description_that_throws_fails_the_session(probe, faults, callback, fault):
    library = faults.library
    library.calls(callback)
    faults.session()
    count = library.calls(callback)
    assert count > 0
    assert pairs_balanced(library)
    library.calls("CreateKernelV2")
    for nth in {1, count}:
        faults.fail(callback, fault, nth)
        with pytest.raises(probe.exception("RuntimeException")) as error:
            faults.session()
        assert words_missing(error, "fixtures.", fixture_path(LIBRARY), f"OrtCustomOp.{callback}", WORDS[fault]) == []
        assert library.calls("CreateKernelV2") == 0
    assert faults.works()
    assert pairs_balanced(library)


@pytest.mark.slot("OrtCustomOp.CreateKernel", "OrtCustomOp.CreateKernelV2", "OrtCustomOp.KernelDestroy")
@pytest.mark.parametrize("nodes", [1, 2, 3])
@pytest.mark.parametrize(
    ("op", "callback", "fault"),
    [(op, name, how) for op, name in (("Faulty", "CreateKernelV2"), ("FaultyLegacy", "CreateKernel")) for how in THROWS]
    + [("Faulty", "CreateKernelV2", "status")],
)
def test_kernel_that_cannot_be_made_fails_the_session_and_the_others_are_destroyed_once(
    probe, faults, op, callback, fault, nodes
):
    library = faults.library
    for nth in range(1, nodes + 1):
        gc.collect()
        library.calls(callback), library.calls("KernelDestroy")
        faults.fail(callback, fault, nth)
        with pytest.raises(probe.exception("RuntimeException")) as error:
            faults.session(op, nodes)
        words = [WORDS[fault], f"OrtCustomOp.{callback}"] if fault in WORDS else ["faulty_callbacks: no weights"]
        assert words_missing(error, f"fixtures.{op}", "node", fixture_path(LIBRARY), *words) == []
        assert library.calls(callback) - library.calls("KernelDestroy") == 1
    assert faults.works(op)
    gc.collect()
    assert library.calls(callback) == library.calls("KernelDestroy")


@pytest.mark.slot("OrtCustomOp.KernelCompute", "OrtCustomOp.KernelComputeV2")
@FAULTS
@pytest.mark.parametrize(("op", "callback"), [("Faulty", "KernelComputeV2"), ("FaultyLegacy", "KernelCompute")])
def test_compute_that_throws_fails_the_run_names_the_node_and_publishes_nothing(probe, faults, op, callback, fault):
    session, kept = faults.session(op, nodes=3), X + 1
    before = probe.run(session, {"x0": kept})[0]
    for nth in (1, 2, 3):
        faults.fail(callback, fault, nth)
        with pytest.raises(probe.exception("RuntimeException")) as error:
            probe.run(session, {"x0": X})
        words = [f"node{nth - 1}", f"fixtures.{op}", fixture_path(LIBRARY), f"OrtCustomOp.{callback}", WORDS[fault]]
        assert words_missing(error, *words) == []
        np.testing.assert_array_equal(before, kept)
    np.testing.assert_array_equal(probe.run(session, {"x0": X})[0], X)
    np.testing.assert_array_equal(before, kept)


@pytest.mark.slot("OrtCustomOp.InferOutputShapeFn")
@FAULTS
def test_inference_that_throws_fails_the_session(probe, faults, fault):
    faults.fail("InferOutputShapeFn", fault)
    with pytest.raises(probe.exception("Fail")) as error:
        faults.session()
    words = ["node0", "fixtures.Faulty", fixture_path(LIBRARY), "OrtCustomOp.InferOutputShapeFn", WORDS[fault]]
    assert words_missing(error, *words) == []
    assert faults.works()


@pytest.mark.slot("OrtCustomOp.InferOutputShapeFn")
@pytest.mark.finds("inference_failed")
def test_inference_that_returns_an_error_is_logged_and_the_shape_stays_unknown(probe, faults, capfd):
    faults.fail("InferOutputShapeFn", "status")
    session = faults.session()
    log = capfd.readouterr().err
    assert [w for w in ("node0", fixture_path(LIBRARY), "faulty_callbacks: no weights") if w not in log] == []
    np.testing.assert_array_equal(probe.run(session, {"x0": X})[0], X)


@pytest.mark.slot("OrtCustomOp.KernelDestroy", "OrtCustomOp.ReleaseMayInplace", "OrtCustomOp.ReleaseAliasMap")
@FAULTS
@pytest.mark.parametrize("callback", ["KernelDestroy", "ReleaseMayInplace", "ReleaseAliasMap"])
def test_release_that_throws_is_logged_and_stops_nothing(probe, faults, capfd, callback, fault):
    library = faults.library
    gc.collect()
    library.calls("CreateKernelV2"), library.calls("KernelDestroy")
    faults.fail(callback, fault)
    session = faults.session(nodes=3)
    np.testing.assert_array_equal(probe.run(session, {"x0": X})[0], X)
    del session
    gc.collect()
    log = capfd.readouterr().err
    assert [w for w in (fixture_path(LIBRARY), f"OrtCustomOp.{callback}", WORDS[fault]) if w not in log] == []
    assert library.calls("CreateKernelV2") == library.calls("KernelDestroy") == 3
    assert pairs_balanced(library)
