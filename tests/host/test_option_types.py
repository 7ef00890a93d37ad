# SPDX-License-Identifier: Apache-2.0
"""Every option and argument refuses what it cannot mean, by name."""

from __future__ import annotations

import re

import numpy as np
import onnx
import onnx_light_ort_host as ort
import pytest

MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
).SerializeToString()

FLAG, NUMBER, SIZE, TEXT, WORD = "flag", "number", "size", "text", "word"
OPTIONS = {
    ort.SessionOptions: {
        "allow_onnx_domain_override": FLAG,
        "broken_groups": WORD,
        "enable_cpu_mem_arena": FLAG,
        "enable_mem_pattern": FLAG,
        "enable_mem_reuse": FLAG,
        "enable_profiling": FLAG,
        "execution_mode": NUMBER,
        "execution_order": NUMBER,
        "graph_optimization_level": NUMBER,
        "inter_op_num_threads": NUMBER,
        "intra_op_num_threads": NUMBER,
        "log_severity_level": NUMBER,
        "log_verbosity_level": NUMBER,
        "logid": TEXT,
        "memory_limit_bytes": SIZE,
        "optimized_model_filepath": TEXT,
        "profile_file_prefix": TEXT,
        "reference_fallback": FLAG,
        "strict_layout": FLAG,
        "use_deterministic_compute": FLAG,
        "use_per_session_threads": FLAG,
        "winograd": FLAG,
    },
    ort.RunOptions: {
        "log_severity_level": NUMBER,
        "log_verbosity_level": NUMBER,
        "logid": TEXT,
        "only_execute_path_to_fetches": FLAG,
        "terminate": FLAG,
    },
}
WRONG = {
    FLAG: ["no", "False", b"", None, 2, -1, 0.0, [], np.float32(1), np.array([True, False])],
    NUMBER: ["1", None, True, False, 1.5, 1.0, [1], np.float64(1), np.array([1, 2])],
    SIZE: ["1", True, False, 1.5, [1], np.float64(1)],
    TEXT: [None, 1, b"text", ["text"], True],
    WORD: [None, 1, b"split", ["split"], True],
}
OUT_OF_RANGE = {
    FLAG: [],
    NUMBER: [-2, 2**31, 2**70, -(2**70), np.int64(-2)],
    SIZE: [-1, 2**64, 2**70],
    TEXT: ["a\0b", "\ud800"],
    WORD: ["", "Split", "a\0b", "\ud800"],
}
EVERY = [(owner, name, kind) for owner, options in OPTIONS.items() for name, kind in options.items()]
IDS = [f"{owner.__name__}.{name}" for owner, name, _ in EVERY]


@pytest.fixture
def usual_policy():
    """Return the usual policy, which holds again after the test."""
    yield ort.LoadPolicy()
    ort.set_load_policy(ort.LoadPolicy())


@pytest.mark.parametrize("owner", OPTIONS)
def test_the_table_has_every_option(owner):
    """A property that is added later must be in the table too."""
    found = {name for name in dir(owner) if not name.startswith("_") and not callable(getattr(owner, name))}
    assert found == set(OPTIONS[owner])


@pytest.mark.parametrize(("owner", "name", "kind"), EVERY, ids=IDS)
def test_wrong_types_and_values(owner, name, kind):
    options = owner()
    before = getattr(options, name)
    for values, error in ((WRONG[kind], TypeError), (OUT_OF_RANGE[kind], ort.InvalidArgument)):
        for value in values:
            with pytest.raises(error, match=f"^{name}: expected ") as failure:
                setattr(options, name, value)
            assert failure.type is error
            assert getattr(options, name) == before


@pytest.mark.parametrize(("owner", "name", "kind"), EVERY, ids=IDS)
def test_defaults_and_numpy_values_can_be_set(owner, name, kind):
    options = owner()
    default = getattr(options, name)
    good = {
        FLAG: [np.bool_(False), 0],
        NUMBER: [np.int32(0), np.uint8(1)],
        SIZE: [np.uint64(5), None],
        TEXT: [""],
        WORD: ["split", "drop", "refuse"],
    }
    for value in (*good[kind], default):
        setattr(options, name, value)
        assert getattr(options, name) == value
        assert type(getattr(options, name)) in (bool, int, str, type(None))


def test_levels_that_do_not_exist():
    options = ort.SessionOptions()
    with pytest.raises(
        ort.InvalidArgument, match=r"graph_optimization_level: expected one of \[0, 1, 2, 3, 99\], got 4"
    ):
        options.graph_optimization_level = 4
    with pytest.raises(AttributeError):
        ort.RunOptions().log_severity = 1


def test_config_entries():
    options, run_options = ort.SessionOptions(), ort.RunOptions()
    for add, get in (
        (options.add_session_config_entry, options.get_session_config_entry),
        (run_options.add_run_config_entry, run_options.get_run_config_entry),
    ):
        for wrong in (None, 1, b"text", True):
            with pytest.raises(TypeError, match=r"config_entry: key: expected str, got"):
                add(wrong, "value")
            with pytest.raises(TypeError, match=r"config_entry: value: expected str, got"):
                add("key", wrong)
            with pytest.raises(TypeError, match=r"config_entry: key: expected str, got"):
                get(wrong)
        for key, value in (("a\0b", "value"), ("key", "a\0b"), ("", "value"), ("k" * 1025, "v"), ("k", "é" * 4097)):
            with pytest.raises(ort.InvalidArgument, match="config"):
                add(key, value)
        with pytest.raises(ort.InvalidArgument, match="expected a key that was added, got 'key'"):
            get("key")
        add("key", "old")
        add("key", "é" * 4096)
        assert get("key") == "é" * 4096


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ort.LoadPolicy(5), TypeError, "allowed_roots must be a sequence of paths, got 5"),
        (lambda: ort.LoadPolicy("/"), TypeError, "allowed_roots must be a sequence of paths, got '/'"),
        (lambda: ort.LoadPolicy([5]), TypeError, "allowed_roots must be paths, got 5"),
        (lambda: ort.LoadPolicy([None]), TypeError, "allowed_roots must be paths, got None"),
        *[
            (lambda name=name, value=value: ort.LoadPolicy(**{name: value}), TypeError, f"{name} must be True or False")
            for name in ("follow_links", "require_owner", "audited_only", "unload")
            for value in ("no", 1, None)
        ],
        (lambda: ort.set_load_policy(ort.LoadPolicy([__file__])), ort.InvalidArgument, f"a folder, got '{__file__}'"),
        (lambda: ort.set_load_policy(ort.LoadPolicy([f"{__file__}/below"])), ort.InvalidArgument, "a folder, got "),
        (lambda: ort.set_load_policy(ort.LoadPolicy([""])), ort.InvalidArgument, "must be a folder, got ''"),
        (lambda: ort.set_load_policy({}), TypeError, "expected a LoadPolicy, got dict"),
        (lambda: ort.set_default_logger_severity("2"), TypeError, "expected an integer from 0 to 4, got '2'"),
        (lambda: ort.set_default_logger_severity(True), TypeError, "expected an integer from 0 to 4, got True"),
        (lambda: ort.set_default_logger_severity(-1), ort.InvalidArgument, "expected an integer from 0 to 4, got -1"),
        (lambda: ort.SessionOptions().register_custom_ops_library(5), TypeError, "path: expected str, bytes or an"),
        (lambda: ort.SessionOptions().register_custom_ops_library(None), TypeError, "path: expected str, bytes or an"),
        (lambda: ort.inspect_library(5), TypeError, "path: expected str, bytes or an object with __fspath__, got int"),
    ],
)
def test_other_arguments(usual_policy, call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
    assert ort.get_load_policy() == usual_policy


CPU = "CPUExecutionProvider"


@pytest.mark.parametrize(
    ("providers", "provider_options", "message"),
    [
        (CPU, None, f"providers: expected a list of names, got '{CPU}'"),
        ({CPU: {}}, None, "providers: expected a list of names, got {"),
        (5, None, "providers: expected a list of names, got 5"),
        ([5], None, "providers: expected names or pairs of a name and a dict of options, got 5"),
        ([[CPU, {}]], None, "providers: expected names or pairs of a name and a dict of options, got ["),
        ([(CPU,)], None, "providers: expected names or pairs of a name and a dict of options, got ("),
        ([(CPU, {}, 1)], None, "providers: expected names or pairs of a name and a dict of options, got ("),
        ([(CPU, 3)], None, f"provider options of {CPU}: expected a dict, got 3"),
        ([(CPU, None)], None, f"provider options of {CPU}: expected a dict, got None"),
        ([(CPU, {"arena": "1"})], None, f"provider options of {CPU}: it has none, got {{'arena': '1'}}"),
        ([CPU], [{"arena": "1"}], f"provider options of {CPU}: it has none, got {{'arena': '1'}}"),
        ([CPU], [5], f"provider options of {CPU}: expected a dict, got 5"),
        ([CPU], {}, "provider_options: expected a list of dicts, got {}"),
        ([CPU], 5, "provider_options: expected a list of dicts, got 5"),
        ([CPU], [], "provider_options: expected one entry per provider (1), got 0"),
        ([(CPU, {})], [{}], "providers: expected names or pairs of a name and a dict of options, got ("),
        (None, [{}], "provider_options: expected one entry per provider (0), got [{}]"),
    ],
)
def test_forms_of_providers_that_mean_nothing(providers, provider_options, message):
    session = ort.InferenceSession(MODEL)
    for call in (
        lambda: ort.InferenceSession(MODEL, None, providers, provider_options),
        lambda: session.set_providers(providers, provider_options),
    ):
        with pytest.raises(ort.InvalidArgument, match=re.escape(message)):
            call()


@pytest.mark.parametrize(
    ("providers", "provider_options"),
    [
        (None, None),
        ([], None),
        ([], []),
        ((CPU,), None),
        ([CPU], ({},)),
        ([(CPU, {})], None),
        (None, []),
        ([CPU] * 2, None),
    ],
)
def test_forms_of_providers(providers, provider_options):
    session = ort.InferenceSession(MODEL, providers=providers, provider_options=provider_options)
    session.set_providers(providers, provider_options)
    assert session.get_providers() == [CPU]


def test_arguments_of_a_run():
    session, feeds = ort.InferenceSession(MODEL), {"x": np.float32([1, 2])}
    for wrong in (5, True, 1.5, "y", b"y"):
        with pytest.raises(TypeError, match="output names: expected a list of names or None, got"):
            session.run(wrong, feeds)
    for wrong in ([5], [None], [b"y"]):
        with pytest.raises(TypeError, match="output names: expected names, got"):
            session.run(wrong, feeds)
    with pytest.raises(ort.InvalidArgument, match="output names: expected"):
        session.run(["z"], feeds)
    for wrong in (5, None, b"x"):
        with pytest.raises(TypeError, match="input feed: expected names, got"):
            session.run(None, {**feeds, wrong: feeds["x"]})
    for wrong in (None, 5, "x", [("x", 1)]):
        with pytest.raises(TypeError, match="input feed: expected a dict of names and arrays, got"):
            session.run(None, wrong)
    for wrong in (5, {}, "terminate", ort.SessionOptions()):
        with pytest.raises(TypeError, match="run: expected RunOptions, got"):
            session.run(None, feeds, wrong)
    for names in (None, [], (), ["y"], ("y",), iter(["y"]), {"y": 1}):
        assert session.run(names, feeds)[0].tolist() == [-1, -2]


def test_a_run_with_options():
    session, feeds = ort.InferenceSession(MODEL), {"x": np.float32([1, 2])}
    options = ort.RunOptions()
    options.logid = "a run"
    options.log_severity_level = 0
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    for call in (lambda: session.run(None, feeds, options), lambda: session.run(None, feeds, run_options=options)):
        assert call()[0].tolist() == [-1, -2]
        options.terminate = True
        with pytest.raises(ort.Fail, match="run: expected run options without the terminate flag"):
            call()
        options.terminate = False


def test_the_options_of_a_session_can_be_read():
    options = ort.SessionOptions()
    assert ort.InferenceSession(MODEL, options).get_session_options() is options
    assert ort.InferenceSession(MODEL).get_session_options().logid == ""
    session = ort.InferenceSession(MODEL, disabled_optimizers=["ConstantFolding"])
    session.disable_fallback()
    assert options.has_providers() is False
    with pytest.raises(TypeError, match="disabled_optimizers: expected a list of names, got 'all'"):
        ort.InferenceSession(MODEL, disabled_optimizers="all")
