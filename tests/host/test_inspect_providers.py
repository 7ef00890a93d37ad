# SPDX-License-Identifier: Apache-2.0
"""What the inspection of a library of execution providers tells."""

from __future__ import annotations

import json

import onnx
import onnx_light_ort_host as ort
import pytest
from onnx_light_ort_host import cli


def registration(path):
    """Return what a library registers."""
    return ort.inspect_library(path, load=True).registration


def test_provider_with_its_kernels_and_operators(fixtures):
    report = registration(fixtures / "kernel_ep.so")
    (provider,) = report.providers
    assert (provider.vendor, provider.version, provider.problem) == ("fixtures", "1.2.3", "")
    assert [device.partition(" ")[0] for device in provider.devices] == ["CPU"]
    assert provider.options == {"every": "1"}
    kernels = {(kernel.op_type, kernel.since_version): kernel for kernel in provider.kernels}
    assert {op for op, _ in kernels} == {"Add", "Mul", "Relu", "MatMul", "Squeeze", "Axpy"}
    relu = kernels["Relu", 6]
    assert (relu.end_version, relu.types) == (13, {"T": "tensor(float), tensor(double)"})
    assert (relu.provider, relu.may_inplace, relu.aliases) == (provider.name, [(0, 0)], [])
    assert kernels["Squeeze", 13].aliases == [(0, 0)]
    (operator,) = report.operators
    assert (operator.domain, operator.name, operator.provider) == ("kernel_ep", "Axpy", provider.name)
    assert (operator.problem, report.failed_because) == ("", "")


def test_versions_that_a_library_asks_for_when_it_is_loaded(fixtures, run_python):
    """In a process of its own: the library asks once, however often it is registered."""
    source = "import sys, onnx_light_ort_host as ort; print(ort.inspect_library(sys.argv[1], load=True).registration)"
    assert "RegistrationReport(api_versions=[30], " in run_python(source, fixtures / "kernel_ep.so").stdout


def test_inspection_leaves_nothing_registered(fixtures):
    before = ort.get_ep_devices()
    registration(fixtures / "kernel_ep.so")
    assert ort.get_ep_devices() == before


def test_library_that_gives_no_factory_is_reported(fixtures):
    report = registration(fixtures / "probe.so")
    assert report.providers == []
    assert "gave no factory" in report.failed_because


def test_command_shows_providers(fixtures, capsys):
    assert cli.main(["inspect", "--load", str(fixtures / "kernel_ep.so")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("provider inspect (fixtures, 1.2.3): on CPU ") for line in lines)
    assert any(line.split()[:2] == ["Relu", "6-13"] for line in lines)
    assert any(line.split()[:2] == ["kernel_ep.Axpy", "1-1"] for line in lines)
    assert cli.main(["inspect", "--load", "--json", str(fixtures / "kernel_ep.so")]) == 0
    told = json.loads(capsys.readouterr().out)["registration"]
    assert len(told["providers"][0]["kernels"]) == len(registration(fixtures / "kernel_ep.so").providers[0].kernels)


@pytest.mark.parametrize(
    ("arguments", "status", "missed"),
    [
        ([], 0, []),
        (["--require", "relu"], 0, []),
        (["--require", "#1"], 1, ["#1 'exp' (Exp)"]),
        (["--require-all"], 1, ["#1 'exp' (Exp)"]),
    ],
)
def test_explain_fails_for_required_nodes_that_are_not_taken(fixtures, tmp_path, capsys, arguments, status, missed):
    nodes = "{ [relu] r = Relu (x) [exp] y = Exp (r) }"
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) {nodes}')
    onnx.save(model, tmp_path / "model.onnx")
    done = cli.main(["explain", str(tmp_path / "model.onnx"), "--ep", str(fixtures / "kernel_ep.so"), *arguments])
    shown = capsys.readouterr()
    assert done == status
    assert "kernel_ep.so::Relu (version 14)" in shown.out
    assert "did not propose the node, and has no kernel for it: no kernel is registered for Exp" in shown.out
    told = [line for line in shown.err.splitlines() if "not taken" in line]
    assert [line.split("not taken: ")[1].partition(": ")[0] for line in told] == missed
    ort.unregister_execution_provider_library("kernel_ep.so")
