# SPDX-License-Identifier: Apache-2.0
"""Options, markers and fixtures of the contract tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from harness import Probe, Table  # noqa: E402

ORT = "onnxruntime"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the module under test."""
    default = os.environ.get("ONNX_LIGHT_ORT_MODULE", "onnx_light_ort_host")
    parser.addoption("--module", default=default, help="module under test: onnx_light_ort_host or onnxruntime")


def pytest_configure(config: pytest.Config) -> None:
    """Declares the markers."""
    config.addinivalue_line("markers", "slot(*names): slots and callbacks whose contract the test states")
    config.addinivalue_line("markers", "limit(*names): supported slots whose stated limit the test shows")
    config.addinivalue_line("markers", "host_stricter: the host is safer here than ONNX Runtime; not collected for it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the stricter tests out for ONNX Runtime and insists that each contract test names its slots."""
    here = Path(__file__).parent
    ours = [item for item in items if here in item.path.parents]
    nameless = [item.nodeid for item in ours if not any(item.iter_markers("slot"))]
    if nameless:
        raise pytest.UsageError(f"contract tests without a slot marker: {nameless}")
    if config.getoption("--module") == ORT:
        stricter = {item for item in ours if item.get_closest_marker("host_stricter")}
        config.hook.pytest_deselected(items=list(stricter))
        items[:] = [item for item in items if item not in stricter]


@pytest.fixture(scope="session")
def module_name(request: pytest.FixtureRequest) -> str:
    """Returns the name of the module under test."""
    return request.config.getoption("--module")


@pytest.fixture(scope="session")
def shared_probe(module_name: str) -> Probe:
    """Returns the one probe of the process."""
    return Probe(module_name)


@pytest.fixture
def probe(shared_probe: Probe):
    """Returns the probe and cleans up behind the test."""
    yield shared_probe
    shared_probe.close()


@pytest.fixture
def api(probe: Probe) -> Table:
    """Returns the ``OrtApi`` table."""
    return probe.api
