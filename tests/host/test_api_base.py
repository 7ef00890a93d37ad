# SPDX-License-Identifier: Apache-2.0
"""Libraries that import OrtGetApiBase: refused unless the policy lets the host provide it."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper

LIBRARY = "libonnx_light_ort_api_base.so"
USE = """
import ctypes, sys
import numpy as np
import onnx_light_ort_host as ort
from onnx_light_ort_host import absence

def is_mapped():
    return "libonnx_light_ort_api_base.so" in open("/proc/self/maps").read()

def register(path):
    options = ort.SessionOptions()
    options.register_custom_ops_library(path)
    return options

def run(path, model):
    session = ort.InferenceSession(model, register(path))
    (y,) = session.run(None, {"x": np.arange(5, dtype=np.float32)})
    assert y.tolist() == [0, 1, 2, 3, 4], y
    (row,) = session.node_assignments()
    assert row.library == path, row
    return session

def refused(path):
    try:
        register(path)
    except ort.Fail as error:
        return str(error)
    raise AssertionError("not refused")

importing, other, fake_ort, model = sys.argv[1:]
allow = ort.LoadPolicy(provide_api_base=True)
"""


@pytest.fixture
def child(fixtures, tmp_path, run_python):
    """Return a function that runs a test's lines in a process of their own, after those of ``USE``."""
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy"]
    node = helper.make_node("ImportsApiBase", ["x"], ["y"], domain="fixtures")
    graph = helper.make_graph([node], "g", info[:1], info[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("fixtures", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "model.onnx")
    libraries = [fixtures / f"{name}.so" for name in ("imports_api_base", "add_two", "depends_on_fake_ort")]
    return lambda lines: run_python(USE + lines, *libraries, tmp_path / "model.onnx")


def test_refused_by_default_and_told_how_to_allow_it(fixtures):
    path = fixtures / "imports_api_base.so"
    with pytest.raises(ort.Fail) as refused:
        ort.SessionOptions().register_custom_ops_library(path)
    for words in (str(refused.value), ort.inspect_library(path).refused_because):
        assert "it imports OrtGetApiBase" in words
        assert "LoadPolicy(provide_api_base=True)" in words
    assert not ort.get_load_policy().provide_api_base
    assert LIBRARY not in Path("/proc/self/maps").read_text()


def test_allowed_it_runs(child):
    child("""
ort.set_load_policy(allow)
assert ort.get_load_policy() == allow
assert ort.inspect_library(importing).verdict == "loadable, slots unknown until run"
run(importing, model)
run(importing, model)
""")


def test_its_static_initializers_find_the_table(child):
    child("""
ort.set_load_policy(allow)
registered = ort.inspect_library(importing, load=True).registration
assert registered.api_versions == [12, 30], registered  # 12 when it is loaded
assert not registered.failed_because
""")


def test_it_is_opened_for_the_first_that_needs_it_and_stays(child):
    child("""
ort.set_load_policy(allow)
register(other)
assert not is_mapped() and not hasattr(ctypes.CDLL(None), "OrtGetApiBase")
session = run(importing, model)
assert is_mapped()
assert ctypes.CDLL(None).OrtGetApiBase() != 0
ort.set_load_policy(ort.LoadPolicy())
assert "provide_api_base=True" in refused(importing)  # though it is loaded
register(other)
session.run(None, {"x": np.zeros(2, np.float32)})
""")


def test_what_needs_onnx_runtime_itself_stays_refused(child):
    child("""
ort.set_load_policy(allow)
assert "needs ONNX Runtime (libonnxruntime.so.1)" in refused(fake_ort)
""")


def test_it_is_no_onnx_runtime(child):
    child("""
ort.set_load_policy(allow)
run(importing, model)
assert is_mapped() and absence.onnx_runtime_objects() == []
assert "OrtGetApiBase" not in ort.inspect_library(other).refused_because  # as if one were in the process
register(other)
""")


def test_of_many_threads_the_first_opens_it(child):
    child("""
import threading
ort.set_load_policy(allow)
start, failures = threading.Barrier(8), []
def work():
    start.wait()
    try:
        run(importing, model)
    except BaseException as error:
        failures.append(error)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failures, failures
""")


def test_without_its_file_it_is_an_error(fixtures, run_python, tmp_path):
    """The package is copied without the library: the message names the file that is missing."""
    source = """
import pathlib, shutil, sys
import onnx_light_ort_host
package = pathlib.Path(onnx_light_ort_host.__file__).parent
shutil.copytree(package, sys.argv[2] + "/onnx_light_ort_host", ignore=shutil.ignore_patterns("api_base"))
import subprocess
code = '''
import sys
sys.path.insert(0, sys.argv[2])
import onnx_light_ort_host as ort
assert ort.__file__.startswith(sys.argv[2])
ort.set_load_policy(ort.LoadPolicy(provide_api_base=True))
ort.SessionOptions().register_custom_ops_library(sys.argv[1])
'''
done = subprocess.run([sys.executable, "-c", code, *sys.argv[1:]], capture_output=True, text=True)
print(done.stderr)
assert done.returncode == 1
"""
    done = run_python(source, fixtures / "imports_api_base.so", tmp_path)
    assert f"{tmp_path}/onnx_light_ort_host/api_base/{LIBRARY}: cannot provide OrtGetApiBase: " in done.stdout
