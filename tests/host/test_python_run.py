# SPDX-License-Identifier: Apache-2.0
"""Feeds in, outputs out: what ``run`` accepts, returns and keeps."""

from __future__ import annotations

import gc
import sys
import threading

import ml_dtypes
import numpy as np
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper


def session_of(nodes, inputs, outputs, **options: object) -> ort.InferenceSession:
    """Return a session of a model with the given nodes; inputs and outputs map names to (type, shape)."""

    def infos(values):
        return [helper.make_tensor_value_info(name, *value) for name, value in values.items()]

    graph = helper.make_graph(nodes, "g", infos(inputs), infos(outputs))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session_options = ort.SessionOptions()
    for name, value in options.items():
        setattr(session_options, name, value)
    return ort.InferenceSession(model.SerializeToString(), session_options)


def identity(elem_type: int = TensorProto.FLOAT, shape=(None,)) -> ort.InferenceSession:
    value = (elem_type, shape if shape is None else list(shape))
    return session_of([helper.make_node("Identity", ["x"], ["y"])], {"x": value}, {"y": value})


def two_outputs() -> ort.InferenceSession:
    value = (TensorProto.FLOAT, ["n"])
    nodes = [helper.make_node("Neg", ["x"], ["minus"]), helper.make_node("Abs", ["x"], ["size"])]
    return session_of(nodes, {"x": value}, {"minus": value, "size": value})


NUMERIC = ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES = [np.dtype(name) for name in [*NUMERIC, "bool", "complex64", "complex128"]]
LOW_PRECISION = [np.dtype(scalar) for scalar in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)]
PACKED = [np.dtype(scalar) for scalar in (ml_dtypes.int4, ml_dtypes.uint4)]


@pytest.mark.parametrize("dtype", [*TYPES, *LOW_PRECISION, *PACKED], ids=str)
def test_every_type_comes_back(dtype):
    x = np.array([0, 1, 2, 3, 1]).astype(dtype)
    (y,) = identity(helper.np_dtype_to_tensor_dtype(dtype)).run(None, {"x": x})
    assert (y.dtype, y.shape) == (dtype, (5,))
    assert y.tobytes() == x.tobytes()


def test_strings_come_back():
    texts = ["", "a\0b", "é", "x" * 100]
    (y,) = identity(TensorProto.STRING).run(None, {"x": np.array(texts, object)})
    assert (y.dtype, y.tolist()) == (np.dtype(object), texts)
    assert identity(TensorProto.STRING).run(None, {"x": ["a", b"b"]})[0].tolist() == ["a", "b"]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 2, 3, 4, 5, 6, 1, 1, 1, 2)])
def test_scalars_empty_and_deep_arrays(shape):
    x = np.ones(shape, np.float32)
    (y,) = identity(shape=shape).run(None, {"x": x})
    np.testing.assert_array_equal(y, x)
    assert y.shape == shape


def test_outputs_have_memory_of_their_own():
    session = identity()
    x = np.arange(4, dtype=np.float32)
    (y,) = session.run(None, {"x": x})
    (again,) = session.run(None, {"x": x})
    y += 1
    assert not np.shares_memory(y, x)
    assert not np.shares_memory(y, again)
    assert x.tolist() == again.tolist() == [0, 1, 2, 3]
    assert y.ctypes.data % 64 == 0


def test_outputs_outlive_the_session():
    session = identity()
    (y,) = session.run(None, {"x": np.arange(1000, dtype=np.float32)})
    del session
    gc.collect()
    assert y.tolist() == list(range(1000))


def test_output_names_choose_and_order():
    session = two_outputs()
    feed = {"x": np.array([-1, 2], np.float32)}
    minus, size = [1, -2], [1, 2]
    assert [y.tolist() for y in session.run(None, feed)] == [minus, size]
    assert [y.tolist() for y in session.run(["size", "minus"], feed)] == [size, minus]
    assert [y.tolist() for y in session.run(("size",), feed)] == [size]
    first, second = session.run(["size", "size"], feed)
    assert first.tolist() == second.tolist() == size
    assert not np.shares_memory(first, second)


def test_wrong_names():
    session = two_outputs()
    x = np.ones(2, np.float32)
    with pytest.raises(ort.InvalidArgument, match=r"^output names: expected names of \['minus', 'size'\], got 'z'$"):
        session.run(["size", "z"], {"x": x})
    with pytest.raises(ort.InvalidArgument, match=r"^input feed: expected names of \['x'\], got 'z'$"):
        session.run(None, {"x": x, "z": x})
    with pytest.raises(TypeError, match=r"^input feed: expected names, got 1$"):
        session.run(None, {1: x})
    with pytest.raises(ort.InvalidArgument, match=r"^input feed: expected all required inputs, got none for \['x'\]$"):
        session.run(None, {})


@pytest.mark.parametrize(
    ("x", "given"),
    [
        (np.zeros((2, 3)), "float64 [2, 3]"),
        (np.zeros((3, 3), np.float32), "float32 [3, 3]"),
        (np.zeros(2, np.float32), "float32 [2]"),
        (np.array(0, np.float32), "float32 []"),
        (np.array([["a"] * 3] * 2), "<U1 [2, 3]"),
    ],
    ids=["type", "extent", "rank", "scalar", "text"],
)
def test_wrong_feeds(x, given):
    session = identity(shape=(2, "n"))
    with pytest.raises(ort.InvalidArgument) as caught:
        session.run(None, {"x": x})
    assert str(caught.value) == f"input 'x': expected float32 [2, n], got {given}"
    ready = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(session.run(None, {"x": ready})[0], ready)  # and it still works


def test_feeds_of_other_kinds():
    class Mapping(dict):
        pass

    session = identity()
    x = np.arange(6, dtype=np.float32)
    for value in (x[::2], x.astype(">f4")[::2], [0.0, 2.0, 4.0]):
        np.testing.assert_array_equal(session.run(None, Mapping(x=value))[0], [0, 2, 4])
    with pytest.raises(ort.InvalidArgument, match=r"input 'x': expected float32 .* got NoneType"):
        session.run(None, {"x": None})
    with pytest.raises(TypeError, match="input feed: expected a dict of names and arrays, got list"):
        session.run(None, [x])


def test_keyword_arguments():
    x = np.ones(2, np.float32)
    (y,) = identity().run(output_names=["y"], input_feed={"x": x}, run_options=None)
    np.testing.assert_array_equal(y, x)


def test_references_to_feeds_are_given_back():
    session = identity()
    x, strided = np.ones(3, np.float32), np.ones(6, np.float32)[::2]
    before = sys.getrefcount(x), sys.getrefcount(strided)
    for _ in range(100):
        session.run(None, {"x": x})
        session.run(None, {"x": strided})
        with pytest.raises(ort.InvalidArgument):
            session.run(["z"], {"x": x})
        with pytest.raises(ort.InvalidArgument):
            session.run(None, {"x": x, "z": x})
    assert (sys.getrefcount(x), sys.getrefcount(strided)) == before


def test_read_only_feeds_are_not_written():
    x = np.full(8, -3, np.float32)
    x.flags.writeable = False
    session = two_outputs()
    for _ in range(3):
        session.run(None, {"x": x})
    assert x.tolist() == [-3] * 8


def test_one_session_in_many_threads():
    session = two_outputs()
    failures = []

    def work(seed: int) -> None:
        for i in range(200):
            x = np.full(1 + (seed * 37 + i) % 50, -seed - i, np.float32)
            minus, size = session.run(None, {"x": x})
            if not ((minus == -x).all() and (size == -x).all() and minus.shape == x.shape):
                failures.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_session_that_was_never_set_up():
    class Forgetful(ort.InferenceSession):
        def __init__(self) -> None:
            pass

    for call in (lambda s: s.run(None, {}), lambda s: s.get_inputs(), lambda s: s.node_assignments()):
        with pytest.raises(ort.InvalidArgument, match="expected a session with a model"):
            call(Forgetful())


def test_the_memory_limit_reaches_the_run():
    value = (TensorProto.FLOAT, ["n"])
    node = helper.make_node("Neg", ["x"], ["y"])
    session = session_of([node], {"x": value}, {"y": value}, memory_limit_bytes=4096)
    session.run(None, {"x": np.ones(16, np.float32)})
    with pytest.raises(ort.Fail, match="4096"):
        session.run(None, {"x": np.ones(1 << 16, np.float32)})


def test_no_output_names_ask_for_all():
    assert len(two_outputs().run([], {"x": np.ones(2, np.float32)})) == 2


@pytest.mark.parametrize("names", ["minus", [["minus"]], [None], [b"minus"]], ids=repr)
def test_output_names_are_a_list_of_names(names):
    with pytest.raises(TypeError, match="output names: expected"):
        two_outputs().run(names, {"x": np.ones(2, np.float32)})


class ChangesTheFeed:
    """A tensor, or a name, whose use changes the dict that it is in."""

    def __init__(self, feed, change):
        self.feed, self.change = feed, change

    def __dlpack_device__(self):
        self.change(self.feed)
        return (1, 0)

    def __dlpack__(self, **_):
        return np.ones(2, np.float32).__dlpack__()


def name_that_changes(feed, change):
    class Name(str):
        def __eq__(self, other):
            change(feed)
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    return Name("x")


@pytest.mark.parametrize(
    "change", [dict.clear, lambda feed: feed.update({str(i): i for i in range(100)})], ids=["clear", "grow"]
)
@pytest.mark.parametrize("where", ["value", "name"])
def test_a_feed_that_changes_while_it_is_read(change, where):
    feed = {}
    if where == "value":
        feed["x"] = ChangesTheFeed(feed, change)
    else:
        feed[name_that_changes(feed, change)] = np.ones(2, np.float32)
    with pytest.raises(ort.InvalidArgument, match="the dict changed"):
        two_outputs().run(None, feed)


@pytest.mark.parametrize(
    "providers", ["CPUExecutionProvider", [()], [("CPUExecutionProvider",)], [3], ["Other"]], ids=repr
)
def test_providers_that_are_none(providers):
    with pytest.raises(ort.InvalidArgument, match="providers: expected"):
        ort.InferenceSession(b"", providers=providers)


def test_a_policy_that_is_none():
    with pytest.raises(TypeError, match="expected a LoadPolicy, got NoneType"):
        ort.set_load_policy(None)


def test_a_numpy_scalar_is_a_tensor_without_axes():
    session = identity(TensorProto.FLOAT, ())
    assert session.run(None, {"x": np.float32(3)})[0].tolist() == 3
    with pytest.raises(ort.InvalidArgument, match=r"expected float32 \[\].*got float64"):
        session.run(None, {"x": np.float64(3)})
