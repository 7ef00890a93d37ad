# SPDX-License-Identifier: Apache-2.0
"""What the inspection of a library tells, of its file and of what it registers."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import onnx_light_ort_host as ort
import pytest
from real_libraries import library_path


def inspect_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "onnx_light_ort_host", "inspect", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (
            "mangled_entry",
            "no RegisterCustomOps is exported, but _Z17RegisterCustomOpsP17OrtSessionOptionsPK10OrtApiBase is:"
            ' a C++ name: declare the function extern "C"',
        ),
        ("other_case_entry", "but registerCustomOps is: other upper and lower case"),
        ("misspelt_entry", "but RegisterCustomOp is: another spelling"),
        ("hidden_entry", "but RegisterCustomOps is there, hidden: give the function default visibility"),
        ("no_ep_release", "CreateEpFactories and ReleaseEpFactory belong together, got CreateEpFactories alone"),
        ("no_ep_release", "no ReleaseEpFactory is exported, but ReleaseEpFactory is there, hidden"),
    ],
)
def test_names_that_come_near_an_entry_point(fixtures, name, hint):
    report = ort.inspect_library(fixtures / f"{name}.so")
    assert [text for text in report.hints if hint in text], report.hints
    assert f"hint: {next(text for text in report.hints if hint in text)}\n" in inspect_command(report.path).stdout


def test_no_hints_where_all_is_well(fixtures):
    assert ort.inspect_library(fixtures / "probe.so").hints == []


def test_exports_that_are_better_hidden(fixtures):
    hints = ort.inspect_library(fixtures / "link_graph" / "liblink_graph_extra_export.so").hints
    assert any("it exports 1 more symbols than its entry points" in hint for hint in hints), hints
    hints = ort.inspect_library(fixtures / "link_graph" / "liblink_graph_unique_export.so").hints
    assert any("got 1: it can never be unloaded" in hint for hint in hints), hints


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("unique_ort_state", "_ZN3Ort20state_of_the_processE"),
        ("unique_table", "_ZGVZN7Wrapper5TableEPK6OrtApiE5table"),
    ],
)
def test_state_that_all_copies_share(fixtures, name, symbol):
    hints = ort.inspect_library(fixtures / f"{name}.so").hints
    assert any(f"its symbol {symbol} is one for the whole process" in hint for hint in hints), hints


def test_a_file_alone_says_nothing_of_operators(fixtures, run_python):
    source = """
import sys, onnx_light_ort_host as ort
print(ort.inspect_library(sys.argv[1]).registration, sys.argv[1] in open("/proc/self/maps").read())
ort.inspect_library(sys.argv[1], load=True)
print(sys.argv[1] in open("/proc/self/maps").read())
"""
    assert run_python(source, fixtures / "add_two.so").stdout == "None False\nTrue\n"


def test_what_a_library_registers(fixtures):
    registered = ort.inspect_library(fixtures / "add_two.so", load=True).registration
    assert (registered.api_versions, registered.failed_because) == ([30], "")
    add_two, scale = registered.operators
    assert (add_two.domain, add_two.name, len(add_two.inputs), len(add_two.outputs)) == ("fixtures", "AddTwo", 2, 1)
    assert (scale.name, scale.position, scale.problem) == ("Scale", 1, "")
    assert scale.inputs == [ort.ArgumentReport("tensor(float)", "required", "default", 1, True)]


def test_a_second_look_shows_the_same(fixtures):
    first, second = (ort.inspect_library(fixtures / "add_two.so", load=True) for _ in range(2))
    assert first == second  # the library asks for its table once


def test_looking_registers_nothing(fixtures):
    options = ort.SessionOptions()
    ort.inspect_library(fixtures / "add_two.so", load=True)
    options.register_custom_ops_library(str(fixtures / "add_two.so"))  # would be there twice


def test_broken_descriptors_are_told_one_by_one(fixtures):
    registered = ort.inspect_library(fixtures / "broken_descriptors.so", load=True).registration
    assert registered.api_versions == [12, 30]
    found = {op.position: op for op in registered.operators}
    problems = {position: op.problem for position, op in found.items() if op.problem}
    assert {
        1: "OrtCustomOp.GetInputType: must be an element type, got 77",
        2: "OrtCustomOp.KernelDestroy: is required, got null",
        3: "OrtCustomOp.GetInputCharacteristic: only the last argument may be VARIADIC",
        4: "OrtCustomOp.GetName: must give a name, got null",
        6: "OrtCustomOp: version must be an API version, got 0",
    }.items() <= problems.items()
    assert "GetInputTypeCount: the callback threw, got no idea" in problems[5]
    assert "has the types and versions of custom op fixtures.Twice (#7 " in problems[8]
    assert sorted(problems) == [1, 2, 3, 4, 5, 6, 8]
    assert [found[i].name for i in (0, 1, 5, 8, 9, 10)] == ["Good", "WrongType", "Throws", "Twice", "Twice", "GoodToo"]

    good, good_too = found[0], found[10]
    assert (good.since_version, good.end_version, good.has_inference) == (3, 5, False)
    assert [(item.type, item.characteristic, item.memory) for item in good.inputs] == [
        ("tensor(float)", "required", "default"),
        ("tensor(int64)", "optional", "cpu_input"),
    ]
    assert good_too.inputs == [ort.ArgumentReport("any tensor", "variadic", "default", 2, False)]
    assert (good_too.since_version, good_too.end_version, good_too.has_inference) == (1, None, True)


def test_a_registration_that_fails(fixtures):
    registered = ort.inspect_library(fixtures / "entry_returns_error.so", load=True).registration
    assert "entry_returns_error: no licence" in registered.failed_because
    assert (registered.api_versions, registered.operators) == ([30], [])
    done = inspect_command("--load", fixtures / "entry_throws.so")
    assert done.returncode == 1
    assert "registration failed: " in done.stdout
    assert "entry_throws: no licence" in done.stdout


@pytest.mark.parametrize(
    ("library", "end"),
    [("requests_newer_api", r"ended by signal \d+"), ("entry_exits", "ended its process with code 0")],
)
def test_a_registration_that_ends_its_process_is_reported(fixtures, library, end):
    done = inspect_command("--load", fixtures / f"{library}.so")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1] == "exports: RegisterCustomOps"
    found = re.fullmatch(r"registration failed: library '(.*)': (.*) while it registered", done.stdout.splitlines()[-1])
    assert found is not None
    assert found[1] == str(fixtures / f"{library}.so")
    assert re.fullmatch(end, found[2])
    report = json.loads(inspect_command("--load", "--json", fixtures / f"{library}.so").stdout)
    assert report["registration"]["operators"] == report["registration"]["api_versions"] == []


def test_an_error_of_a_loading_child_is_that_of_the_command(fixtures):
    done = inspect_command("--load", fixtures / "needs_missing_symbol.so")
    assert done.returncode == 1
    assert "FixtureSymbolThatNobodyDefines" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_domain_that_is_added_twice(fixtures):
    operators = ort.inspect_library(fixtures / "registers_twice.so", load=True).registration.operators
    assert [op.problem for op in operators] == ["", "its domain 'fixtures' was added before"]


def test_a_refused_library_is_not_loaded(fixtures, run_python):
    source = """
import sys, onnx_light_ort_host as ort
report = ort.inspect_library(sys.argv[1], load=True)
print(report.registration, sys.argv[1] in open("/proc/self/maps").read())
"""
    assert run_python(source, fixtures / "depends_on_fake_ort.so").stdout == "None False\n"
    with pytest.raises(ort.Fail, match="FixtureSymbolThatNobodyDefines"):
        ort.inspect_library(fixtures / "needs_missing_symbol.so", load=True)


def test_permissions_and_demands_to_share_memory_are_told_apart(fixtures):
    (op,) = ort.inspect_library(fixtures / "counts_calls.so", load=True).registration.operators
    assert (op.may_inplace, op.aliases) == ([(0, 0)], [(0, 0)])
    table = inspect_command("--load", fixtures / "counts_calls.so").stdout
    assert "0->0" in table
    assert "0=0" in table


def test_the_command_shows_operators(fixtures):
    done = inspect_command(fixtures / "broken_descriptors.so", "--load")
    assert done.returncode == 1
    assert "API versions asked for: 12, 30\n" in done.stdout
    rows = done.stdout.partition("operators: 11\n")[2].splitlines()
    header = "domain operator versions inputs outputs provider inference in place shared problem"
    assert " ".join(rows[0].split()) == header
    assert rows[2].split() == ["fixtures", "Good", "3-5", "float,", "int64?", "in", "cpu_input", "float",
                               "CPUExecutionProvider", "no"]  # fmt: skip
    assert "...any (at least 2, of any types)" in rows[12]

    done = inspect_command(fixtures / "broken_descriptors.so", "--load", "--json")
    report = ort.inspect_library(fixtures / "broken_descriptors.so", load=True)
    assert json.loads(done.stdout) == json.loads(json.dumps({**report.asdict(), "verdict": report.verdict}))
    assert json.loads(done.stdout)["registration"]["operators"][0]["inputs"][1]["memory"] == "cpu_input"
    assert inspect_command(fixtures / "add_two.so", "--load").returncode == 0


@pytest.mark.parametrize(
    ("name", "count", "api_version", "domain", "some"),
    [
        ("onnxruntime_extensions", 64, 30, "ai.onnx.contrib", {"StringRegexReplace", "BertTokenizer", "DecodeImage"}),
        ("onnx_extended_tutorial", 7, 16, "onnx_extended.ortops.tutorial.cpu", {"MyCustomOp", "CustomGemmFloat16"}),
    ],
)
def test_published_libraries(name, count, api_version, domain, some):
    done = inspect_command(library_path(name), "--load", "--json")
    assert done.returncode == 0, done.stderr
    registered = json.loads(done.stdout)["registration"]
    assert registered["api_versions"] == [api_version]
    operators = registered["operators"]
    assert len(operators) == count
    assert domain in {op["domain"] for op in operators}
    assert some <= {op["name"] for op in operators}
    assert not [op["problem"] for op in operators if op["problem"]]
