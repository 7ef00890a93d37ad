# SPDX-License-Identifier: Apache-2.0
"""Options and fixtures of the contract tests."""

from __future__ import annotations

import gc
import importlib
import os
from pathlib import Path

import pytest
from contracts.agreement import agreement
from contracts.harness import PluginAllocator, Probe, Table

ORT = "onnxruntime"
STRICTER = pytest.StashKey[int]()  # how many tests are left out for it


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the module under test."""
    parser.addoption("--module", help="module under test: onnx_light_ort_host (default) or onnxruntime")


def module_under_test(config: pytest.Config) -> str:
    """Return the module named by the option (absent when pytest starts above this folder) or the environment."""
    return (
        config.getoption("--module", default=None) or os.environ.get("ONNX_LIGHT_ORT_MODULE") or "onnx_light_ort_host"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the stricter tests out for ONNX Runtime and insist that each contract test names its slots."""
    here = Path(__file__).parent
    ours = [item for item in items if here in item.path.parents]
    nameless = [item.nodeid for item in ours if not any(item.iter_markers("slot"))]
    if nameless:
        raise pytest.UsageError(f"contract tests without a slot marker: {nameless}")
    if module_under_test(config) == ORT:
        stricter = {item for item in ours if item.get_closest_marker("host_stricter")}
        config.hook.pytest_deselected(items=list(stricter))
        items[:] = [item for item in items if item not in stricter]
        config.stash[STRICTER] = len(stricter)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests agree with ONNX Runtime, after a run against it."""
    if STRICTER not in config.stash:
        return
    here = Path(__file__).parent.relative_to(config.rootpath).as_posix()
    reports = [
        report
        for found in terminalreporter.stats.values()
        for report in found
        if isinstance(report, pytest.TestReport) and report.nodeid.startswith(f"{here}/")
    ]
    version = importlib.import_module(ORT).__version__
    terminalreporter.write_line(agreement(version, reports, config.stash[STRICTER]))


@pytest.fixture(scope="session")
def module_name(request: pytest.FixtureRequest) -> str:
    """Return the name of the module under test."""
    return module_under_test(request.config)


@pytest.fixture(scope="session")
def shared_probe(module_name: str) -> Probe:
    """Return the one probe of the process."""
    return Probe(module_name)


@pytest.fixture
def probe(shared_probe: Probe):
    """Return the probe and clean up behind the test."""
    yield shared_probe
    shared_probe.close()


@pytest.fixture
def api(probe: Probe) -> Table:
    """Return the ``OrtApi`` table."""
    return probe.api


@pytest.fixture(autouse=True)
def no_findings(request: pytest.FixtureRequest, shared_probe: Probe):
    """Fail a test in which checked mode found something, unless the test says so with the marker ``finds``."""
    if not hasattr(shared_probe.ort, "checked_findings"):
        yield
        return
    before = len(shared_probe.ort.checked_findings())
    yield
    gc.collect()
    found = shared_probe.ort.checked_findings()[before:]
    marker = request.node.get_closest_marker("finds")
    expected = set(marker.args) if marker else set()
    assert {finding.rule for finding in found} <= expected, [(f.rule, f.slot, f.sentence) for f in found]


@pytest.fixture
def allocator(probe: Probe):
    """Return a plugin allocator; every block must be back at the end."""
    made = PluginAllocator(probe)
    yield made
    assert not made.live
    probe.api.ReleaseMemoryInfo(made.info)
