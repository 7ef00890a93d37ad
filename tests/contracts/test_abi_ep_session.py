# SPDX-License-Identifier: Apache-2.0
"""Sessions with an execution provider: what it is asked, what it takes, and how it ends."""

import numpy as np
import pytest
from contracts.harness import E, Kernel, model_of, provider_of, session_with, write_output
from contracts.harness.custom_op import read_tensor
from onnx import helper

FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
RELU = helper.make_node("Relu", ["x"], ["y"], name="relu")


def negate(api, context):
    """Compute the negative of input 0: visibly not what the operator says."""
    write_output(api, context, 0, -read_tensor(api, api.get.KernelContext_GetInput(context, 0)))


@pytest.mark.slot("OrtEp.GetCapability", "OrtEp.GetKernelRegistry", "OrtKernelImpl.Compute", "OrtKernelImpl.Release")
@pytest.mark.slot("OrtEpApi.EpGraphSupportInfo_LookUpKernel", "OrtEpApi.EpGraphSupportInfo_AddSingleNode")
def test_node_runs_on_the_kernel_of_its_provider(probe):
    kernels = []

    def prepare(ep):
        kernels.append(Kernel(ep, "Relu", 14, 14, {"T": [FLOAT]}, compute=negate))
        ep.use_kernels(*kernels)

    with provider_of(probe, lambda ep, g, s: ep.take_what_has_kernels(g, s), prepare=prepare) as (ep, options):
        session = session_with(probe, model_of([RELU], {"x": [2]}, ["y"]), options)
        for _ in range(3):
            (y,) = probe.run(session, {"x": np.array([1, -2], np.float32)})
            np.testing.assert_array_equal(y, [-1, 2])
        del session
        assert len(kernels[0].made) == 1
        assert kernels[0].released == kernels[0].made
    assert ep.factory.released_eps == [ep.address]
