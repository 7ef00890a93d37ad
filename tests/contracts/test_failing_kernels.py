# SPDX-License-Identifier: Apache-2.0
"""What a kernel wrote before it failed is seen by nobody: no feed, no weight, no result of an earlier or later run."""

import ctypes as C

import numpy as np
import pytest
from contracts.harness import E, Pairs, dims, read_tensor, write_output
from onnx import TensorProto, helper, numpy_helper

COMPUTE = "OrtCustomOp.KernelComputeV2"
W = np.arange(6, dtype=np.float32).reshape(2, 3)
NODES = 4  # of the custom op


def model_of(op):
    """Return a model whose op reads a feed, a weight, a result of its own and one of another operator."""
    node = lambda source, target: helper.make_node(op.name, [source], [target], domain=op.domain)  # noqa: E731
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)  # noqa: E731
    nodes = [node("x", "fed"), node("w", "weighed"), helper.make_node("Neg", ["x"], ["t"]), node("t", "negated")]
    nodes.append(node("fed", "twice"))
    outputs = [value(name) for name in ("fed", "weighed", "negated", "twice", "w", "t")]
    graph = helper.make_graph(nodes, "g", [value("x")], outputs, [numpy_helper.from_array(W, "w")])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(op.domain, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def expected(x):
    return [x + 1, W + 1, 1 - x, x + 2, W, -x]


@pytest.mark.slot(COMPUTE, "OrtCustomOp.GetMayInplace", "OrtCustomOp.GetAliasMap")
@pytest.mark.host_stricter
@pytest.mark.parametrize("place", ["own", "MayInplace", "AliasMap"])
@pytest.mark.parametrize("how", ["status", "other_extents"])
def test_what_a_failing_kernel_wrote_is_seen_by_nobody(probe, place, how):
    good_calls = [0]

    def compute(api, context):
        x = read_tensor(api, api.get.KernelContext_GetInput(context, 0)).copy()
        write_output(api, context, 0, np.full_like(x, -77))
        good_calls[0] -= 1
        if good_calls[0] >= 0:
            write_output(api, context, 0, x + 1)
            return None
        if how == "status":
            return probe.status(E.ORT_FAIL, b"refused by the probe")
        return api.KernelContext_GetOutput(context, 0, dims(1, 1), 2, C.byref(C.c_void_p()))

    op = probe.op()
    op.set("KernelComputeV2", lambda kernel, context: compute(probe.api, context))
    if place != "own":
        Pairs(op, f"Get{place}", f"Release{place}", [0], [0])
    session = probe.session(model_of(op), op)
    earlier = []
    for turn in range(3):
        x = W + turn
        for good in range(NODES + 1):
            good_calls[0], given = good, x.copy()
            if good == NODES:
                outputs = probe.run(session, {"x": x})
                assert [y.tolist() for y in outputs] == [y.tolist() for y in expected(x)]
                if turn != 1:  # those of one turn are dropped: their memory is there to be used again
                    earlier.append((outputs, [y.copy() for y in outputs]))
                outputs = None
            else:
                with pytest.raises((probe.exception("Fail"), probe.exception("InvalidArgument"))):
                    probe.run(session, {"x": x})
            assert x.tobytes() == given.tobytes()
            assert all(
                y.tobytes() == z.tobytes() for kept, copies in earlier for y, z in zip(kept, copies, strict=True)
            )
