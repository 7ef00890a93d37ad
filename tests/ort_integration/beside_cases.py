# SPDX-License-Identifier: Apache-2.0
"""What happens in one process with the host and a real ONNX Runtime: each function runs in a child of its own.

Called as ``beside_cases.py CASE ORDER FOLDER``. ORDER is ``host,ort`` or ``ort,host``, who is imported first; a case
for ``host`` imports the other one later. FOLDER is for copies of libraries.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import shutil
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

MODULES = {"ort": "onnxruntime", "host": "onnx_light_ort_host"}
FIXTURES = Path(os.environ["ONNX_LIGHT_ORT_FIXTURES"])


def node_model(op, domain, inputs=2):
    """Return a model of one node on vectors of floats."""
    names = ["a", "b"][:inputs]
    info = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in [*names, "y"]}
    node = helper.make_node(op, names, ["y"], domain=domain)
    graph = helper.make_graph([node], "g", [info[name] for name in names], [info["y"]])
    opsets = [helper.make_opsetid(name, 17 if name == "" else 1) for name in {"", domain}]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


ADD_TWO = node_model("AddTwo", "fixtures")
LOADS = node_model("Loads", "fixtures", 1)


class Pair:
    """Both modules, imported in an order, and the copies of libraries."""

    def __init__(self, order: str, folder: str) -> None:
        self.names = order.split(",")
        self.folder = Path(folder)
        modules = {name: importlib.import_module(MODULES[name]) for name in self.names}
        self.host, self.ort = modules["host"], modules.get("ort")
        self.modules = [modules[name] for name in self.names]

    def copy(self, name: str) -> str:
        """Return the path of another copy of a fixture."""
        path = self.folder / f"{len(list(self.folder.iterdir()))}_{name}.so"
        shutil.copy(FIXTURES / f"{name}.so", path)
        return str(path)

    def refusal(self, library: str) -> str:
        """Return with which words the host refuses a library."""
        with pytest.raises(self.host.Fail) as refused:
            self.host.SessionOptions().register_custom_ops_library(library)
        words = str(refused.value)
        assert self.host.inspect_library(library).refused_because in words
        return words


def fixture(name: str) -> str:
    return str(FIXTURES / f"{name}.so")


def open_session(module, model, library=None):
    options = module.SessionOptions()
    if library is not None:
        options.register_custom_ops_library(library)
    return module.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def check_add_two(session, seed):
    a, b = np.random.default_rng(seed).integers(-1000, 1000, (2, seed % 5)).astype(np.float32)
    np.testing.assert_array_equal(session.run(None, {"a": a, "b": b})[0], a + b)


def alternate(pair):
    """Each its own copy: sessions of both run in turn, are dropped and made anew."""
    copies = {module: pair.copy("add_two") for module in pair.modules}
    for round_number in range(5):
        sessions = [open_session(module, ADD_TWO, copies[module]) for module in pair.modules]
        for step in range(20):
            for session in sessions:
                check_add_two(session, 20 * round_number + step)
    host_session = open_session(pair.host, ADD_TWO, copies[pair.host])
    (row,) = host_session.node_assignments()
    assert row.library == os.path.realpath(copies[pair.host])


def both_at_once(pair):
    """Threads of both at the same time."""
    sessions = [open_session(module, ADD_TWO, pair.copy("add_two")) for module in pair.modules]
    failures = []

    def work(session):
        try:
            for step in range(300):
                check_add_two(session, step)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(session,)) for session in sessions * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def same_model_of_onnx(pair):
    """A model without a library gives the same by both, also when one of them has failed meanwhile."""
    model = node_model("Add", "")
    sessions = [open_session(module, model) for module in pair.modules]
    for module in pair.modules:
        try:
            module.InferenceSession(b"no model", providers=["CPUExecutionProvider"])
        except Exception:
            continue
        raise AssertionError("opened nonsense")
    for session in sessions:
        for seed in range(10):
            check_add_two(session, seed)


def each_is_itself(pair):
    """Neither answers for the other: versions, and the table that a library receives."""
    assert pair.host.get_version_string() == pair.host.__version__ != pair.ort.__version__
    assert "not ONNX Runtime" in pair.host.get_build_info()
    tables = []
    for module in pair.modules:
        path = pair.copy("latest_table")
        session = open_session(module, LOADS, path)
        np.testing.assert_array_equal(session.run(None, {"a": np.ones(2, np.float32)})[0], [1, 1])
        tables.append(table_of(path))
    assert tables[0] != tables[1]


def table_of(path):
    function = ctypes.CDLL(path).FixtureTable
    function.restype = ctypes.c_void_p
    return function()


def mapped_by_ort(pair):
    """A library that ONNX Runtime uses is refused, and goes on there."""
    session = open_session(pair.ort, ADD_TWO, fixture("add_two"))
    link = pair.folder / "link.so"
    link.symlink_to(fixture("add_two"))
    for path in (fixture("add_two"), str(link)):
        words = pair.refusal(path)
        assert "somebody else has loaded it into this process, where " in words, words
        assert "two hosts would share its globals" in words, words
    check_add_two(session, 3)
    check_add_two(open_session(pair.host, ADD_TWO, pair.copy("add_two")), 4)
    check_add_two(session, 4)


def given_back_by_ort(pair):
    """A library that ONNX Runtime has closed is nobody's any more."""
    session = open_session(pair.ort, ADD_TWO, fixture("add_two"))
    check_add_two(session, 3)
    del session
    assert "add_two" not in Path("/proc/self/maps").read_text()
    session = open_session(pair.host, ADD_TWO, fixture("add_two"))
    for seed in range(5):
        check_add_two(session, seed)


def state_of_namespace_ort(pair):
    """A library with process-wide state of ORT's C++ interface is refused beside it, whoever uses it."""
    words = pair.refusal(fixture("unique_ort_state"))
    assert "it exports the process-wide symbol _ZN3Ort20state_of_the_processE, and " in words, words
    assert re.search(r"/onnxruntime\S* is loaded; two hosts would share it", words), words
    check_loads(open_session(pair.ort, LOADS, fixture("unique_ort_state")))


def check_loads(session):
    np.testing.assert_array_equal(session.run(None, {"a": np.arange(3, dtype=np.float32)})[0], [0, 1, 2])


def state_of_its_own(pair):
    """Copies share a table that a library keeps once for the process: refused if ONNX Runtime uses one of them."""
    mine = pair.copy("unique_table")
    session = open_session(pair.ort, LOADS, fixture("unique_table"))
    words = pair.refusal(mine)
    assert "the process-wide symbol _ZGVZN7Wrapper5TableEPK6OrtApiE5table, which " in words, words
    assert f"{fixture('unique_table')}, loaded by somebody else, has too" in words, words
    check_loads(session)


def state_of_its_own_used_by_us_alone(pair):
    """As long as ONNX Runtime does not use it, such a library runs, in two copies too."""
    for library in (fixture("unique_table"), pair.copy("unique_table")):
        check_loads(open_session(pair.host, LOADS, library))


def ours_first_and_it_keeps_our_table(pair):
    """ONNX Runtime loads what we have loaded: its registration fails, ours stays."""
    ours = open_session(pair.host, ADD_TWO, fixture("add_two"))
    check_add_two(ours, 3)
    try:
        open_session(pair.ort, ADD_TWO, fixture("add_two"))
    except Exception:
        pass  # it cannot read the status, which is not its own
    else:
        raise AssertionError("registered with two hosts")
    for seed in range(5):
        check_add_two(ours, seed)
    check_add_two(open_session(pair.host, ADD_TWO, fixture("add_two")), 4)
    check_add_two(open_session(pair.ort, ADD_TWO, pair.copy("add_two")), 4)


def ours_first_and_it_takes_the_latest_table(pair):
    """ONNX Runtime loads what we have loaded: the library goes over to it, with our domain still in its hands."""
    ours = open_session(pair.host, LOADS, fixture("latest_table"))
    check_loads(ours)
    table = table_of(fixture("latest_table"))
    theirs = open_session(pair.ort, LOADS, fixture("latest_table"))
    check_loads(theirs)
    assert table_of(fixture("latest_table")) != table
    finish()  # our session would call ONNX Runtime, and the library's destructors would give it our domain


IMPORTS = node_model("ImportsApiBase", "fixtures", 1)


def the_entry_point_is_not_provided(pair):
    """Beside ONNX Runtime nobody could tell whose entry point a library gets."""
    pair.host.set_load_policy(pair.host.LoadPolicy(provide_api_base=True))
    words = pair.refusal(fixture("imports_api_base"))
    assert re.search(r"it imports OrtGetApiBase, and /\S*onnxruntime\S* is loaded, which has one too", words), words
    assert "libonnx_light_ort_api_base" not in Path("/proc/self/maps").read_text()
    check_add_two(open_session(pair.host, ADD_TWO, pair.copy("add_two")), 4)


def the_entry_point_was_provided_before(pair):
    """ONNX Runtime comes when the host has provided it: each goes on with its own."""
    pair.host.set_load_policy(pair.host.LoadPolicy(provide_api_base=True))
    ours = open_session(pair.host, IMPORTS, fixture("imports_api_base"))
    check_loads(ours)
    pair.ort = importlib.import_module("onnxruntime")
    theirs = open_session(pair.ort, ADD_TWO, pair.copy("add_two"))
    for seed in range(5):
        check_add_two(theirs, seed)
        check_loads(ours)
    check_loads(open_session(pair.host, IMPORTS, fixture("imports_api_base")))
    assert "it imports OrtGetApiBase, and " in pair.refusal(pair.copy("imports_api_base"))


def exit_with_everything_open(pair):
    """Sessions and options that are still there when the interpreter ends, and a thread of ours in a run.

    (A thread in a run of ONNX Runtime may abort the process then, also without us.)
    """
    sessions = [open_session(module, ADD_TWO, pair.copy("add_two")) for module in pair.modules]
    for session in sessions:
        check_add_two(session, 4)
    ours = sessions[pair.modules.index(pair.host)]
    threading.Thread(target=lambda: [check_add_two(ours, 4) for _ in range(10**9)], daemon=True).start()
    sys.modules["kept"] = (sessions, pair)  # until the very end


def published_library(pair, name):
    """The stored cases of a published library by both, each with a copy."""
    from cases import run_cases
    from real_libraries import LIBRARIES, library_path

    path = library_path(name)
    copies = {}
    for module in pair.modules:
        shutil.copytree(LIBRARIES / name, pair.folder / module.__name__)
        copies[module] = str(pair.folder / module.__name__ / path.relative_to(LIBRARIES / name))
    for case in run_cases.load_index(name):
        if case["expect"] == "ok":
            sessions = [run_cases.open_session(module, case, copies[module]) for module in pair.modules]
            for session in sessions * 2:
                assert run_cases.problems_of(session, case) == []


def onnx_extended(pair):
    published_library(pair, "onnx_extended_tutorial")


def onnxruntime_extensions(pair):
    """It keeps the first table of the process: two copies of it cannot serve two hosts."""
    from cases import run_cases
    from real_libraries import LIBRARIES, library_path

    path = library_path("onnxruntime_extensions")
    shutil.copytree(LIBRARIES / "onnxruntime_extensions", pair.folder / "copy")
    copy = str(pair.folder / "copy" / path.relative_to(LIBRARIES / "onnxruntime_extensions"))
    case = run_cases.load_index("onnxruntime_extensions")[0]
    session = run_cases.open_session(pair.ort, case, str(path))
    words = pair.refusal(copy)
    assert "process-wide symbol _ZGVZN4OrtW3API8instanceEPK6OrtApiE4self" in words, words
    assert run_cases.problems_of(session, case) == []


def finish():
    print("done", flush=True)
    os._exit(0)


def main() -> None:
    case, order, folder = sys.argv[1:4]
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    globals()[case](Pair(order, folder))
    print("done", flush=True)


if __name__ == "__main__":
    main()
