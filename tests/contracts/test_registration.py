# SPDX-License-Identifier: Apache-2.0
"""Registration of libraries: all or nothing, one at a time, whatever path leads to a file."""

import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from contracts.harness import Arg, fixture_path, options_of, run_in_child, session_of

REGISTER = pytest.mark.slot("OrtApi.AddCustomOpDomain")
STRICTER = pytest.mark.host_stricter
X = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)


def adds_two(probe, options):
    """Tell whether options carry the op of the fixture add_two."""
    session = session_of(probe, "", "AddTwo", ["x0", "x1"], options=options)
    return np.array_equal(probe.run(session, {"x0": X, "x1": X})[0], 2 * X)


def register_inside_a_registration(probe):
    """Register a library and the registering one while the probe registers; print what each try says."""
    inner = probe.ort.SessionOptions()

    def body(options, base):
        for library in ("add_two", "probe"):
            try:
                inner.register_custom_ops_library(fixture_path(library))
                print("registered")
            except probe.exception("Fail") as error:
                print(error)

    probe.options(body)
    inner.register_custom_ops_library(fixture_path("add_two"))
    print("adds two:", adds_two(probe, inner))


@REGISTER
@STRICTER
def test_library_registered_inside_a_registration_is_refused_and_works_later(probe, module_name):
    ended = run_in_child(module_name, register_inside_a_registration)
    rule = f"must not be registered by another one, while {probe.path} registers itself"
    expected = [f"library '{fixture_path(library)}': {rule}" for library in ("add_two", "probe")]
    assert ended.stdout.splitlines() == [*expected, "adds two: True"]
    assert ended.returncode == 0


@REGISTER
@STRICTER
def test_library_that_registers_another_is_refused_and_leaves_nothing(probe):
    options = probe.ort.SessionOptions()
    with pytest.raises(probe.exception("NotImplemented"), match="RegisterCustomOpsLibrary_V2") as error:
        options.register_custom_ops_library(fixture_path("registers_another"))
    assert fixture_path("registers_another") in str(error.value)
    with pytest.raises(probe.exception("Fail"), match="Registered"):
        session_of(probe, "", "Registered", options=options)


@REGISTER
def test_session_may_be_made_and_run_inside_a_registration(probe):
    other, results = options_of(probe, "add_two"), []
    probe.options(lambda options, base: results.append(adds_two(probe, other)))
    assert results == [True]


@REGISTER
@STRICTER
def test_registration_that_throws_late_leaves_nothing_behind(probe):
    options = probe.ort.SessionOptions()
    for _ in range(2):
        with pytest.raises(probe.exception("RuntimeException"), match="second thoughts") as error:
            options.register_custom_ops_library(fixture_path("registers_then_throws"))
        assert fixture_path("registers_then_throws") in str(error.value)
    with pytest.raises(probe.exception("Fail"), match="Registered"):
        session_of(probe, "", "Registered", options=options)
    with pytest.raises(Exception, match="left_behind"):
        options.get_session_config_entry("fixtures.left_behind")
    options.register_custom_ops_library(fixture_path("add_two"))
    assert adds_two(probe, options)


@REGISTER
@STRICTER
def test_op_that_cannot_be_read_refuses_its_whole_library(probe, api):
    good, bad = probe.op("Good"), probe.op("Bad", version=0)
    options = probe.ort.SessionOptions()
    with pytest.raises(probe.exception("Fail"), match="OrtCustomOp: version"):
        probe.register(good, bad, options=options)
    with pytest.raises(probe.exception("Fail"), match="Good"):
        probe.session(probe.one_node_model(good), options=options)
    assert good.calls == {}


@REGISTER
def test_failed_registration_leaves_earlier_libraries_alone(probe):
    options = options_of(probe, "add_two")
    with pytest.raises(probe.exception("EPFail")):
        options.register_custom_ops_library(fixture_path("entry_returns_error"))
    assert adds_two(probe, options)


@REGISTER
@STRICTER
def test_op_that_is_a_local_variable_is_refused(probe):
    options = probe.ort.SessionOptions()
    with pytest.raises(probe.exception("Fail"), match="a local variable of RegisterCustomOps") as error:
        options.register_custom_ops_library(fixture_path("registers_a_local_op"))
    assert f"library '{fixture_path('registers_a_local_op')}': OrtCustomOp of domain 'fixtures'" in str(error.value)


@REGISTER
@STRICTER
def test_domain_may_be_released_before_its_sessions(probe):
    session = session_of(probe, "releases_its_domain", "Registered")
    np.testing.assert_array_equal(probe.run(session, {"x0": X})[0], X)


def same_file(how, folder, library):
    """Return another path of a library's file, or a path of its copy."""
    source, target = fixture_path(library), str(folder / f"{how}_{library}.so")
    {"symlink": os.symlink, "hard_link": os.link, "copy": shutil.copy}.get(how, lambda *paths: None)(source, target)
    return source if how == "path" else target


@REGISTER
@pytest.mark.parametrize("how", ["path", "symlink", "hard_link", "copy"])
def test_library_registered_twice_fails_at_session_creation(probe, tmp_path, how):
    options = options_of(probe, "add_two")
    options.register_custom_ops_library(same_file(how, tmp_path, "add_two"))
    with pytest.raises(probe.exception("Fail"), match="omain already set"):
        adds_two(probe, options)


@REGISTER
@STRICTER
@pytest.mark.parametrize("how", ["path", "symlink", "hard_link", "copy"])
def test_domain_of_two_registrations_names_domain_and_both_libraries(probe, tmp_path, how):
    options, other = options_of(probe, "add_two"), same_file(how, tmp_path, "add_two")
    options.register_custom_ops_library(other)
    first = fixture_path("add_two")
    # A link leads to the library that is there already.
    second = other if how == "copy" else first
    with pytest.raises(probe.exception("Fail")) as error:
        adds_two(probe, options)
    assert str(error.value) == f"custom op domain 'fixtures': domain already set by {first}, and again by {second}"


@REGISTER
def test_two_libraries_of_one_domain_fail_at_session_creation(probe):
    options = options_of(probe, "add_two")
    options.register_custom_ops_library(fixture_path("legacy_compute"))
    with pytest.raises(probe.exception("Fail")):
        adds_two(probe, options)
    assert adds_two(probe, options_of(probe, "add_two"))


@REGISTER
@pytest.mark.parametrize("how", ["path", "symlink", "hard_link", "copy"])
def test_one_library_under_two_paths_serves_two_sessions(probe, tmp_path, how):
    other = probe.ort.SessionOptions()
    other.register_custom_ops_library(same_file(how, tmp_path, "add_two"))
    assert adds_two(probe, options_of(probe, "add_two"))
    assert adds_two(probe, other)


def replace_a_loaded_library(probe):
    """Register a copy of one library, put another in its place and register that path again."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plugin.so"
        for library in ("add_two", "legacy_compute"):
            new = shutil.copy(fixture_path(library), Path(folder) / "new.so")
            os.replace(new, path)
            options = probe.ort.SessionOptions()
            try:
                options.register_custom_ops_library(str(path))
                stub = SimpleNamespace(name="Negate", domain="fixtures", outputs=[Arg()])
                probe.session(probe.one_node_model(stub), options=options)
                print("Negate is there")
            except probe.exception("Fail") as error:
                print(str(error).replace(str(path), "PATH"))


@REGISTER
@STRICTER
def test_file_that_replaced_a_loaded_library_is_refused_not_taken_for_it(module_name):
    ended = run_in_child(module_name, replace_a_loaded_library)
    first, second = ended.stdout.splitlines()
    assert "Negate" in first
    assert second.startswith("library 'PATH': cannot be loaded: ")
    assert "replaced" in second
    assert ended.returncode == 0


@REGISTER
def test_session_keeps_what_its_options_had_when_it_was_made(probe):
    options = options_of(probe, "add_two")
    session = session_of(probe, "", "AddTwo", ["x0", "x1"], options=options)
    with pytest.raises(probe.exception("Fail")):
        options.register_custom_ops_library(fixture_path("no_entry_point"))
    options.register_custom_ops_library(fixture_path("legacy_compute"))
    np.testing.assert_array_equal(probe.run(session, {"x0": X, "x1": X})[0], 2 * X)


@REGISTER
@STRICTER
def test_registrations_of_one_op_for_two_providers_serve_the_one_that_is_here(probe):
    here, elsewhere = probe.op("Shared"), probe.op("Shared", ep="ElsewhereExecutionProvider")
    for ops in ([here, elsewhere], [elsewhere, here]):
        session = probe.session(probe.one_node_model(here), *ops)
        assert probe.run(session, {"x0": X})[0].tolist() == X.tolist()
    assert "CreateKernelV2" not in elsewhere.calls
