# SPDX-License-Identifier: Apache-2.0
"""The plugin's library in our own host: across the C interface the kernels give the same bits as without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import onnx_light_ort_host as ort
import onnx_light_ort_plugin
import pytest
from onnx import helper
from onnx_node_cases import Case, load_cases
from plugin_ep import CPU, EP_NAME, Host, custom_ops, model_of

F32 = np.float32


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Return the node tests of the onnx package that kernels of the host pass, but for those of random values."""
    return [case for case in load_cases() if "bernoulli" not in case.name]


@pytest.fixture(params=["kernel", "compile"])
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    """Return the host with the plugin's provider registered, used in one of its modes."""
    made = Host("onnx_light_ort_host", request.param)
    with made.registered():
        yield made


def native_options() -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.reference_fallback = False
    return options


def run(session: ort.InferenceSession, case: Case) -> list[list[Any]]:
    """Return the results for each data set."""
    results = []
    for inputs, _ in case.data_sets:
        feeds = zip(case.input_names, inputs, strict=True)
        results.append(session.run(None, {name: value for name, value in feeds if value is not None}))
    return results


def native(case: Case) -> list[list[Any]] | None:
    """Return what the host's own kernels give; None if they do not run the case."""
    try:
        return run(ort.InferenceSession(case.model, native_options()), case)
    except ort.OrtHostError:
        return None


def same_bits(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(same_bits(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray) and one.dtype.kind != "O":
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return np.array_equal(one, other)


def test_the_provider_gives_the_bits_of_the_native_kernels(host: Host, cases: list[Case]) -> None:
    different, taken = [], 0
    for case in cases:
        expected = native(case)
        if expected is None:
            continue
        options = host.options()
        options.reference_fallback = False
        session = ort.InferenceSession(case.model, options)
        taken += EP_NAME in host.assignments(session)
        if not same_bits(run(session, case), expected):
            different.append(case.name)
    assert different == []
    assert taken > 1300


def test_custom_operators_give_the_bits_of_the_native_kernels(cases: list[Case]) -> None:
    different, rewritten = [], 0
    for case in cases:
        model = onnx_light_ort_plugin.rewrite_model(onnx.load_model_from_string(case.model))
        custom = custom_ops(model.graph)
        expected = native(case) if custom else None
        if expected is None:
            continue
        rewritten += 1
        options = native_options()
        onnx_light_ort_plugin.register(options, custom)
        if not same_bits(run(ort.InferenceSession(model.SerializeToString(), options), case), expected):
            different.append(case.name)
    assert different == []
    assert rewritten > 1300


def test_options_are_read(host: Host) -> None:
    nodes = [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Relu", ["n"], ["y"])]
    model = model_of(nodes, {"x": (F32, ["n"])}, {"y": (F32, ["n"])})
    session = host.session(model, {"operators": "Relu", "threads": "1"})
    assert host.assignments(session) == {EP_NAME: ["Relu"], CPU: ["Neg"]}
    assert session.run(None, {"x": np.array([1, -2], F32)})[0].tolist() == [0, 2]
    known = "threads, operators, mode, winograd, float16"
    with pytest.raises(ort.InvalidArgument, match=f"option 'thread': must be one of {known}, got '1'"):
        host.session(model, {"thread": "1"})
    with pytest.raises(ort.InvalidArgument, match="option 'winograd': must be '0' or '1', got 'no'"):
        host.session(model, {"winograd": "no"})


def test_winograd_can_be_switched_off(host: Host) -> None:
    rng = np.random.default_rng(3)
    weights = {"w": rng.uniform(-1, 1, (16, 16, 3, 3)).astype(F32)}
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)
    model = model_of([node], {"x": (F32, [1, 16, 20, 20])}, {"y": (F32, None)}, weights)
    feeds = {"x": rng.uniform(-1, 1, (1, 16, 20, 20)).astype(F32)}
    results = []
    for winograd in (True, False):
        options = native_options()
        options.winograd = winograd
        results.append(ort.InferenceSession(model, options).run(None, feeds))
        assert same_bits(host.session(model, {"winograd": str(int(winograd))}).run(None, feeds), results[-1])
    assert not same_bits(*results)


def test_errors_name_the_node_and_the_rule(host: Host) -> None:
    node = helper.make_node("Reshape", ["x", "s"], ["y"], name="narrow")
    session = host.session(model_of([node], {"x": (F32, [6]), "s": (np.int64, [1])}, {"y": (F32, None)}))
    with pytest.raises(ort.InvalidArgument, match=r"'narrow' \(Reshape\).*input 1 \(shape\): must have as many elem"):
        session.run(None, {"x": np.ones(6, F32), "s": np.array([5])})


def test_it_can_be_registered_again() -> None:
    host = Host("onnx_light_ort_host")
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": (F32, ["n"])}, {"y": (F32, ["n"])})
    for _ in range(3):
        with host.registered():
            session = host.session(model)
            assert host.assignments(session) == {EP_NAME: ["Relu"]}
            assert session.run(None, {"x": np.array([1, -2], F32)})[0].tolist() == [1, 0]
            del session
        assert host.devices() == []
