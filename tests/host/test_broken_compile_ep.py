# SPDX-License-Identifier: Apache-2.0
"""Each wrong answer of a provider that compiles, one at a time: which rule the user reads; everything is released."""

from __future__ import annotations

import gc
import json
import subprocess
import sys

import numpy as np
import onnx
import onnx_light_ort_host as ort
import pytest
from fixture_eps import EpFixture, model_of, taken, tensors
from onnx import helper

NODE = helper.make_node
X = np.array([[1, -2, 3]], np.float32)
W, B = np.array([[2, 3, 4], [5, 6, 7]], np.float32)


@pytest.fixture(scope="module")
def library():
    """Return the library, which stays loaded so that its counters do."""
    made = EpFixture(ort, "broken_compile_ep")
    with made.registered("nothing"):
        pass
    return made


def two_pairs(apart):
    """Return a model of two pairs; in a row with a Neg between, or apart from each other."""
    nodes = []
    for i, x in enumerate(("x", "x" if apart else "n")):
        nodes += [
            NODE("Mul", [x, "W"], [f"m{i}"], name=f"mul{i}"),
            NODE("Add", [f"m{i}", "B"], [f"a{i}"], name=f"add{i}"),
        ]
        nodes += [] if apart or i else [NODE("Neg", ["a0"], ["n"], name="neg")]
    return model_of(nodes, tensors("x", shape=[1, 3]), tensors(["a0", "a1"]), {"W": W, "B": B})


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("no_compile", ort.Fail, "OrtEp.GetCapability: asks for nodes to be fused, which needs both OrtEp.Compile and"),
        ("no_release", ort.Fail, "OrtEp.GetCapability: asks for nodes to be fused, which needs both OrtEp.Compile and"),
        ("null_info", ort.Fail, "OrtEp.Compile: for group 'null_info_null_info_"),
        ("info_twice", ort.Fail, "gave a compute info that another group has"),
        ("infos_and_status", ort.EPFail, "OrtEp.Compile: broken_compile_ep: half made"),
        ("context_node", ort.NotImplemented, "gave an EPContext node"),
        ("no_create_state", ort.Fail, "OrtNodeComputeInfo.CreateState: a required callback is missing"),
        ("no_compute", ort.Fail, "OrtNodeComputeInfo.Compute: a required callback is missing"),
        ("no_release_state", ort.Fail, "OrtNodeComputeInfo.ReleaseState: a required callback is missing"),
        ("state_and_status", ort.EPFail, "broken_compile_ep: half a state"),
        (
            "overlap",
            ort.InvalidArgument,
            "EpGraphSupportInfo_AddNodesToFuse: nodes: node 'add0' (Add) is proposed twice (`broken_groups` can",
        ),
        ("overlap_unseen", ort.EPFail, "OrtEp.GetCapability: node 'mul0' (Mul) is proposed twice"),
        ("fuses_null", ort.InvalidArgument, "EpGraphSupportInfo_AddNodesToFuse: nodes is null"),
        ("fuses_nothing", ort.InvalidArgument, "a group needs a node, got 0"),
        ("fuses_no_node", ort.InvalidArgument, "EpGraphSupportInfo_AddNodesToFuse: "),
        ("crosses", ort.InvalidGraph, "'mul0' (Mul) -> 'add0' (Add) with 'mul1' (Mul) -> 'add1' (Add)"),
        ("fuses_all_at_once", ort.InvalidGraph, "'add0' (Add) -> 'neg' (Neg) -> 'mul1' (Mul)"),
    ],
)
def test_session_is_refused(library, name, kind, words):
    with library.registered(name) as devices:
        before = library.balance()
        error = library.error_of(library.session, two_pairs(apart=name == "crosses"), (devices[name], {}))
        assert type(error) is kind, error
        assert words in str(error), error
        assert name in str(error), error
        gc.collect()
        assert library.balance() == before


@pytest.mark.parametrize(("policy", "nodes"), [("split", {"mul0", "add0", "mul1", "add1"}), ("drop", set())])
def test_group_that_is_no_step_may_be_split_or_dropped(library, policy, nodes):
    model = two_pairs(apart=False)
    with library.registered("fuses_all_at_once") as devices:
        session = library.session(model, (devices["fuses_all_at_once"], {}), broken_groups=policy)
        assert taken(session, "fuses_all_at_once") == nodes
        first, second = session.run(None, {"x": X})
        np.testing.assert_array_equal(first, X * W + B)
        np.testing.assert_array_equal(second, -first * W + B)
        del session


@pytest.mark.parametrize(("policy", "count"), [("auto", None), ("refuse", None), ("split", 2), ("drop", 0)])
@pytest.mark.parametrize("command", ["explain", "run"])
def test_command_line_says_what_becomes_of_it(library, tmp_path, command, policy, count):
    named = tmp_path / "fuses_all_at_once"  # a library is registered under the name of its file
    named.symlink_to(library.path)
    onnx.save(two_pairs(apart=False), tmp_path / "m.onnx")
    more = ["--groups", "--json"] if command == "explain" else ["--input", "x=ones"]
    words = [command, tmp_path / "m.onnx", "--ep", named, "--broken-groups", policy, *more]
    done = subprocess.run(
        [sys.executable, "-m", "onnx_light_ort_host", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == (1 if count is None else 0), done.stderr
    if count is None:
        assert "'add0' (Add) -> 'neg' (Neg) -> 'mul1' (Mul) (`broken_groups` can split or drop" in done.stderr
    elif command == "explain":
        assert len(json.loads(done.stdout)) == count
    else:
        assert done.stdout.startswith("a0: float32 [1, 3]\n[[ 7.  9. 11.]]")


def test_run_without_an_output_is_refused(library):
    with library.registered("forgets_output") as devices:
        session = library.session(two_pairs(apart=False), (devices["forgets_output"], {}))
        error = library.error_of(session.run, None, {"x": X})
        assert "output 0 ('a0') was never produced" in str(error), error
        assert library.path in str(error), error
        del session
