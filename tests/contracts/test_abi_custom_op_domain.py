# SPDX-License-Identifier: Apache-2.0
"""Custom-op domains, from registration to the session that reads them."""

import ctypes as C
import gc

import numpy as np
import pytest
from contracts.harness import E, SlotError, copy_first_input, run_in_child
from onnx import helper

CREATE, OP = "OrtApi.CreateCustomOpDomain", "OrtApi.CustomOpDomain_Add"
ADD, RELEASE = "OrtApi.AddCustomOpDomain", "OrtApi.ReleaseCustomOpDomain"
ONES = np.ones(2, np.float32)


@pytest.fixture
def new_domain(api):
    """Return a creator of domains; they are released after the sessions of the test are gone."""
    made = []

    def create(name):
        made.append(api.get.CreateCustomOpDomain(name))
        return made[-1]

    yield create
    gc.collect()
    for domain in made:
        api.ReleaseCustomOpDomain(domain)


def runs(probe, op, options):
    return probe.run(probe.session(probe.one_node_model(op), options=options), {"x0": ONES})[0].tolist() == [1, 1]


@pytest.mark.slot(CREATE, OP, ADD)
def test_name_is_copied(probe, api, new_domain):
    name, op = C.create_string_buffer(b"probe"), probe.op()
    domain = new_domain(C.addressof(name))
    name.value = b"XXXXX"
    api.ok.CustomOpDomain_Add(domain, op.address)
    assert runs(probe, op, probe.options(lambda options, base: api.ok.AddCustomOpDomain(options, domain)))


@pytest.mark.slot(OP)
def test_adding_an_op_calls_nothing_on_it(probe, api, new_domain):
    op = probe.op()
    api.ok.CustomOpDomain_Add(new_domain(b"probe"), op.address)
    assert op.calls == {}


@pytest.mark.slot(OP, ADD)
def test_op_added_after_its_domain_still_counts(probe, api, new_domain):
    op, domain = probe.op(), new_domain(b"probe")
    options = probe.options(lambda options, base: api.ok.AddCustomOpDomain(options, domain))
    api.ok.CustomOpDomain_Add(domain, op.address)
    assert runs(probe, op, options)


@pytest.mark.slot(CREATE, ADD)
@pytest.mark.parametrize("domain", ["", "com.microsoft", "com.example"])
def test_domain_may_be_any(probe, domain):
    op = probe.op("ProbeOfAnyDomain", domain=domain)
    assert probe.run_op(op, [ONES])[0].tolist() == [1, 1]


@pytest.mark.slot(CREATE, ADD)
def test_ai_onnx_is_not_the_onnx_domain(probe):
    registered = probe.op("ProbeOfLongName", domain="ai.onnx")
    asked = probe.op("ProbeOfLongName", domain="")
    with pytest.raises(probe.exception("InvalidGraph")):
        probe.session(probe.one_node_model(asked), options=probe.register(registered))


@pytest.mark.slot(ADD)
def test_two_domains_of_different_names_and_an_empty_one_coexist(probe, api, new_domain):
    one, two = probe.op(domain="probe.one"), probe.op(domain="probe.two")
    options = probe.register(one, two)
    probe.options(lambda handle, base: api.ok.AddCustomOpDomain(handle, new_domain(b"probe.empty")), options)
    assert runs(probe, one, options)
    assert runs(probe, two, options)


@pytest.mark.slot(ADD)
@pytest.mark.parametrize("same_object", [True, False])
def test_same_domain_twice_fails_at_session_creation(probe, api, new_domain, same_object):
    op, first = probe.op(), new_domain(b"probe")
    second = first if same_object else new_domain(b"probe")
    for domain in {first, second}:
        api.ok.CustomOpDomain_Add(domain, op.address)

    def register(options, base):
        api.ok.AddCustomOpDomain(options, first)
        api.ok.AddCustomOpDomain(options, second)

    options = probe.options(register)
    with pytest.raises(probe.exception("Fail")):
        probe.session(probe.one_node_model(op), options=options)


@pytest.mark.slot(OP)
@pytest.mark.host_stricter
def test_same_op_twice_in_a_domain_is_refused(probe, api, new_domain):
    op, domain = probe.op(), new_domain(b"probe")
    for _ in range(2):
        api.ok.CustomOpDomain_Add(domain, op.address)
    options = probe.options(lambda handle, base: api.ok.AddCustomOpDomain(handle, domain))
    with pytest.raises(probe.exception("Fail"), match=r"#1 of its domain.*#0 of its domain"):
        probe.session(probe.one_node_model(op), options=options)


@pytest.mark.slot(ADD)
def test_library_registered_twice_fails_at_session_creation(probe):
    op = probe.op()
    options = probe.register(op, options=probe.register(op))
    with pytest.raises(probe.exception("Fail")):
        probe.session(probe.one_node_model(op), options=options)


@pytest.mark.slot(ADD)
def test_one_options_object_serves_several_sessions_that_outlive_it(probe):
    op = probe.op()
    options = probe.register(op)
    sessions = [probe.session(probe.one_node_model(op), options=options) for _ in range(2)]
    del options
    gc.collect()
    for session in sessions:
        assert probe.run(session, {"x0": ONES})[0].tolist() == [1, 1]


@pytest.mark.slot(RELEASE)
def test_domain_may_be_released_after_its_sessions(probe, api):
    op, domain = probe.op(), api.get.CreateCustomOpDomain(b"probe")
    api.ok.CustomOpDomain_Add(domain, op.address)
    assert runs(probe, op, probe.options(lambda options, base: api.ok.AddCustomOpDomain(options, domain)))
    gc.collect()
    assert op.calls["KernelDestroy"] == 1
    api.ReleaseCustomOpDomain(domain)


@pytest.mark.slot(ADD)
@pytest.mark.parametrize(("code", "name"), [(E.ORT_EP_FAIL, "EPFail"), (E.ORT_INVALID_ARGUMENT, "InvalidArgument")])
def test_error_of_registration_reaches_the_user_with_code_and_message(probe, code, name):
    with pytest.raises(probe.exception(name), match="license expired"):
        probe.options(lambda options, base: probe.status(code, b"license expired"))


@pytest.mark.slot(ADD)
@pytest.mark.host_stricter
def test_failed_registration_leaves_nothing_behind(probe, api, new_domain):
    op, domain = probe.op(), new_domain(b"probe")
    api.ok.CustomOpDomain_Add(domain, op.address)

    def register(handle, base):
        api.ok.AddCustomOpDomain(handle, domain)
        return probe.status(E.ORT_FAIL, b"second thoughts")

    options = probe.ort.SessionOptions()
    with pytest.raises(probe.exception("Fail"), match="second thoughts"):
        probe.options(register, options)
    with pytest.raises(probe.exception("Fail")):
        probe.session(probe.one_node_model(op), options=options)
    assert op.calls == {}


def options_after_their_registration(probe):
    """Use the options that an entry point got when it has returned, and register once more."""
    api, lent = probe.api, []
    op, domain = probe.op(), probe.api.get.CreateCustomOpDomain(b"probe")
    api.ok.CustomOpDomain_Add(domain, op.address)
    options = probe.options(lambda handle, base: lent.append(handle))
    for _ in range(2):
        print(*api.error.AddCustomOpDomain(lent[0], domain), sep="|")
        print(*api.error.AddSessionConfigEntry(lent[0], b"a", b"b"), sep="|")
        with pytest.raises(probe.exception("Fail")):
            probe.session(probe.one_node_model(op), options=options)
        probe.options(lambda handle, base: lent.append(handle))
    later = probe.options(lambda handle, base: api.ok.AddCustomOpDomain(handle, domain))
    print(runs(probe, op, later))


@pytest.mark.slot(ADD, "OrtApi.AddSessionConfigEntry")
@pytest.mark.host_stricter
@pytest.mark.parametrize("checked", ["0", "1"], ids=["normal", "checked"])
def test_options_are_over_once_the_entry_point_has_returned(module_name, checked):
    ended = run_in_child(module_name, options_after_their_registration, ONNX_LIGHT_ORT_CHECKED=checked)
    over = "session options: the registration that they were lent for is over"
    slots = ["AddCustomOpDomain", "AddSessionConfigEntry"] * 2
    expected = [f"{E.ORT_INVALID_ARGUMENT}|{slot}: {over}" for slot in slots]
    assert ended.stdout.splitlines() == [*expected, "True"], ended.stderr
    assert [f"out_of_phase: {slot}" in ended.stderr for slot in slots[:2]] == [checked == "1"] * 2


@pytest.mark.slot(ADD, OP)
def test_unregistered_operator_is_an_error(probe):
    with pytest.raises(probe.exception("Fail"), match="Unknown"):
        probe.session(probe.one_node_model(probe.op("Unknown")), options=probe.register(probe.op()))


@pytest.mark.slot(OP)
@pytest.mark.host_stricter
@pytest.mark.parametrize("version", [6, 7])
def test_op_of_another_layout_is_refused(probe, version):
    op = probe.op(version=version)
    with pytest.raises((probe.exception("Fail"), SlotError), match="version"):
        probe.session(probe.one_node_model(op), options=probe.register(op))


@pytest.mark.slot(ADD)
def test_custom_ops_and_native_operators_share_a_graph(probe):
    double = probe.op(
        compute=lambda api, context: copy_first_input(api, context),
    )
    model = probe.one_node_model(double, outputs=["t"])
    model.graph.node.append(helper.make_node("Add", ["t", "t"], ["y0"]))
    model.graph.output[0].name = "y0"
    (found,) = probe.run(probe.session(model, double), {"x0": ONES})
    assert found.tolist() == [2, 2]
