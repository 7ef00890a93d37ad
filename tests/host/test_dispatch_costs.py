# SPDX-License-Identifier: Apache-2.0
"""What one more node on the kernel of a library costs: no memory and no lock, once a session has warmed up."""

from __future__ import annotations

import os
from pathlib import Path

import models
import onnx
import pytest
from run_costs import more_for_the_longer

DEMO = Path("packages", "host", "src", "onnx_light_ort_host", "demo", "libadd_two.so")  # of the build directory


@pytest.fixture
def cost(fixtures, tmp_path, run_python):
    """Return a function that counts what 999 more nodes take in a run: allocations and locks."""

    def measure(op_type, domain, library, elements=4, threads=1, checked=False, kind="custom_ops"):
        paths = [tmp_path / f"{length}.onnx" for length in (1, 1000)]
        for path, length in zip(paths, (1, 1000), strict=True):
            onnx.save(models.chain(op_type, length, domain, elements), path)
        return more_for_the_longer(
            run_python, fixtures, paths, kind=kind, library=library, threads=threads, checked=checked
        )

    return measure


@pytest.fixture
def demo():
    """Return the path of the demo's library, which allocates nothing itself."""
    return Path(os.environ["ONNX_LIGHT_ORT_BUILD"]) / DEMO


@pytest.mark.interposes
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("elements", [1, 4])
def test_a_node_of_a_library_takes_no_memory_and_no_lock(cost, demo, elements, threads):
    assert cost("AddTwo", "onnx_light_ort.demo", demo, elements, threads) == [0, 0]


@pytest.mark.interposes
@pytest.mark.parametrize("threads", [1, 2])
def test_a_node_of_a_provider_takes_no_memory_and_no_lock(cost, fixtures, threads):
    assert cost("Relu", "", fixtures / "lean_kernel_ep.so", threads=threads, kind="provider") == [0, 0]


@pytest.mark.interposes
def test_what_a_library_allocates_is_counted(cost, fixtures):
    """Scale of the fixture keeps the extents of its input in a vector of its own."""
    allocations, locks = cost("Scale", "fixtures", fixtures / "add_two.so")
    assert (allocations, locks) == (999, 0)


@pytest.mark.interposes
def test_the_locks_of_checked_mode_are_counted(cost, demo):
    allocations, locks = cost("AddTwo", "onnx_light_ort.demo", demo, checked=True)
    assert allocations >= 999
    assert locks >= 999
