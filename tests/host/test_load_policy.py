# SPDX-License-Identifier: Apache-2.0
"""Where libraries may come from, and paths that were made to get around it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import onnx
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper


@pytest.fixture(autouse=True)
def usual_policy():
    """Set the usual policy again after each test."""
    yield
    ort.set_load_policy(ort.LoadPolicy())


@pytest.fixture
def library(fixtures, tmp_path) -> Path:
    """Return the path of a library's copy, whose folder nobody else may write."""
    tmp_path.chmod(0o755)
    folder = tmp_path / "allowed"
    folder.mkdir()
    folder.chmod(0o755)
    copy = folder / "add_two.so"
    shutil.copy(fixtures / "add_two.so", copy)
    copy.chmod(0o755)
    return copy


def register(path):
    ort.SessionOptions().register_custom_ops_library(str(path))


def refused(path, because):
    """Check that a path is refused for a reason, when loaded and when looked at."""
    with pytest.raises(ort.Fail, match=because) as failure:
        register(path)
    assert str(path) in str(failure.value)
    assert because in ort.inspect_library(path).refused_because


def test_a_root_allows_what_is_below_it(library, tmp_path):
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=[library.parent]))
    register(library)
    for path in (library.parent / ".." / "allowed" / "add_two.so", f"{library.parent}//./add_two.so"):
        register(path)
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=[tmp_path / "elsewhere", tmp_path]))
    register(library)


def test_a_root_is_left_neither_by_dots_nor_by_links(library, tmp_path):
    outside = tmp_path / "allowed_not"  # begins like the root
    outside.mkdir()
    shutil.copy(library, outside / "evil.so")
    (library.parent / "link.so").symlink_to(outside / "evil.so")
    (library.parent / "door").symlink_to(outside)
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=[library.parent]))
    for path in (
        outside / "evil.so",
        library.parent / ".." / "allowed_not" / "evil.so",
        library.parent / "link.so",
        library.parent / "door" / "evil.so",
        Path("/proc/self/root", *outside.parts[1:], "evil.so"),
    ):
        refused(path, "the policy allows other folders only")


def test_a_link_into_a_root_leads_to_what_is_allowed(library, tmp_path):
    (tmp_path / "link.so").symlink_to(library)
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=[library.parent]))
    register(tmp_path / "link.so")


def test_a_root_may_be_a_link(library, tmp_path):
    (tmp_path / "root").symlink_to(library.parent)
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=[tmp_path / "root"]))
    register(library)


def test_a_root_that_is_not_there_allows_nothing(library, tmp_path):
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=[tmp_path / "nowhere"]))
    refused(library, "the policy allows other folders only")


@pytest.mark.parametrize("roots", [[], (), iter(())])
def test_a_list_without_roots_allows_nothing(library, roots):
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=roots))
    assert ort.get_load_policy().allowed_roots == ()
    refused(library, "the policy allows no folder at all")


def test_no_list_of_roots_allows_every_place(library):
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=None))
    assert ort.get_load_policy() == ort.LoadPolicy()
    assert ort.get_load_policy().allowed_roots is None
    register(library)


def test_a_relative_root_is_of_the_moment_it_is_set(library, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=["allowed"]))
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "allowed").mkdir(parents=True)
    shutil.copy(library, elsewhere / "allowed" / "evil.so")
    monkeypatch.chdir(elsewhere)
    refused("allowed/evil.so", "the policy allows other folders only")
    register(library)


@pytest.mark.parametrize("roots", ["/", b"/", Path("/")])
def test_one_path_is_no_sequence_of_roots(roots):
    with pytest.raises(TypeError, match="must be a sequence of paths"):
        ort.LoadPolicy(allowed_roots=roots)


def test_an_empty_root_is_refused(library):
    with pytest.raises(ort.InvalidArgument, match="must be a folder, got ''"):
        ort.set_load_policy(ort.LoadPolicy(allowed_roots=[""]))
    assert ort.get_load_policy() == ort.LoadPolicy()


def test_links_are_refused_wherever_they_are_in_the_path(library, tmp_path):
    (tmp_path / "file.so").symlink_to(library)
    (tmp_path / "folder").symlink_to(library.parent)
    (tmp_path / "hop.so").symlink_to(tmp_path / "file.so")
    ort.set_load_policy(ort.LoadPolicy(follow_links=False))
    register(library)
    for path in (
        tmp_path / "file.so",
        tmp_path / "hop.so",
        tmp_path / "folder" / "add_two.so",
        tmp_path / "folder" / ".." / "allowed" / "add_two.so",  # the link is left again
        library.parent / ".." / "folder" / "add_two.so",
    ):
        refused(path, "the policy follows no symbolic links")


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777])
def test_a_file_that_others_may_write_is_refused(library, mode):
    ort.set_load_policy(ort.LoadPolicy(require_owner=True))
    register(library)
    library.chmod(mode)
    refused(library, f"others may write {library}")


def test_a_folder_that_others_may_write_is_refused(library, tmp_path):
    ort.set_load_policy(ort.LoadPolicy(require_owner=True))
    for folder in (library.parent, tmp_path):
        folder.chmod(0o777)
        refused(library, f"others may write {folder}")
        folder.chmod(0o1777)  # there, nobody replaces what is not his
        register(library)
        folder.chmod(0o755)


@pytest.mark.parametrize("name", ["libc.so.6", "add_two.so", "./add_two.so", ""])
def test_a_bare_name_is_searched_nowhere(library, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library.parent))
    monkeypatch.setenv("PATH", str(library.parent))
    with pytest.raises(ort.NoSuchFile, match="no such file"):
        register(name)


def test_a_bare_name_is_a_file_of_the_working_directory(library, monkeypatch):
    monkeypatch.chdir(library.parent)
    register("add_two.so")


def test_a_file_without_a_name_is_refused():
    number = os.memfd_create("innocent")
    try:
        with pytest.raises((ort.NoSuchFile, ort.Fail)):
            register(f"/proc/self/fd/{number}")
    finally:
        os.close(number)


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.so")  # would wait for ever
    for path in (tmp_path, tmp_path / "pipe.so", "/dev/zero"):
        with pytest.raises(ort.Fail, match="no regular file"):
            register(path)


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a.so").symlink_to(tmp_path / "b.so")
    (tmp_path / "b.so").symlink_to(tmp_path / "a.so")
    with pytest.raises(ort.NoSuchFile, match="no such file"):
        register(tmp_path / "a.so")


def test_a_path_is_not_cut_at_a_nul(library):
    with pytest.raises((ort.OrtHostError, ValueError)):
        register(f"{library}\0.txt")


def test_only_tested_libraries(library):
    ort.set_load_policy(ort.LoadPolicy(audited_only=True))
    refused(library, "not on it")


def test_a_stricter_policy_holds_for_what_is_loaded_already(library):
    register(library)
    ort.set_load_policy(ort.LoadPolicy(audited_only=True))
    refused(library, "not on it")
    ort.set_load_policy(ort.LoadPolicy(allowed_roots=["/usr"]))
    refused(library, "the policy allows other folders only")


def test_a_model_names_no_library(library, tmp_path, run_python):
    """Nothing that a model says loads a library: its domain, metadata, external data or a node's attributes."""
    one = helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    for domain, op in (("", "Add"), (str(library), "AddTwo")):
        node = helper.make_node(op, ["x", "one"], ["y"], domain=domain, library=str(library)) if domain else None
        node = node or helper.make_node(op, ["x", "one"], ["y"])
        graph = helper.make_graph([node], "g", info[:1], info[1:], [one])
        opsets = [helper.make_opsetid(name, 17) for name in {"", domain}]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        for key in ("custom_ops", "custom_ops_library", "library", "ep_library", "execution_provider"):
            model.metadata_props.add(key=key, value=str(library))
        onnx.save(model, tmp_path / "model.onnx")
        done = run_python(
            "import sys, onnx_light_ort_host as ort\n"
            "try: ort.InferenceSession(sys.argv[1])\n"
            "except ort.OrtHostError: pass\n"
            "print(sys.argv[2] in open('/proc/self/maps').read())",
            tmp_path / "model.onnx",
            library,
        )
        assert done.stdout == "False\n"


@pytest.mark.parametrize("flag", ["follow_links", "require_owner", "audited_only", "unload", "provide_api_base"])
@pytest.mark.parametrize("value", ["no", 0, None])
def test_flags_are_true_or_false(flag, value):
    with pytest.raises(TypeError, match=f"{flag} must be True or False"):
        ort.LoadPolicy(**{flag: value})
