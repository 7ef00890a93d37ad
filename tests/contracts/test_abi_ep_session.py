# SPDX-License-Identifier: Apache-2.0
"""Sessions with an execution provider: how it is created, what it is asked and told, and how it ends."""

import ctypes as C
import gc

import numpy as np
import pytest
from contracts.harness import (
    E,
    Ep,
    EpFactory,
    Kernel,
    model_of,
    provider_of,
    registered,
    session_with,
    text,
    write_output,
)
from contracts.harness.custom_op import read_tensor
from onnx import helper

HOST = pytest.mark.host_stricter
FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
X = np.array([1, -2], np.float32)


def relu(ir_version=8):
    """Return a model of one Relu."""
    return model_of([helper.make_node("Relu", ["x"], ["y"], name="relu")], {"x": [2]}, ["y"], ir_version=ir_version)


def negate(api, context):
    """Compute the negative of input 0: visibly not what the operator says."""
    write_output(api, context, 0, -read_tensor(api, api.get.KernelContext_GetInput(context, 0)))


def with_negate(kernels, **kernel):
    """Return a ``prepare`` that gives a provider a kernel for Relu, which is appended to ``kernels``."""

    def prepare(ep):
        kernels.append(Kernel(ep, "Relu", 14, 14, {"T": [FLOAT]}, **{"compute": negate, **kernel}))
        ep.use_kernels(*kernels)

    return prepare


def take_all(ep, graph, support):
    ep.take_what_has_kernels(graph, support)


@pytest.mark.slot("OrtEp.GetCapability", "OrtEp.GetKernelRegistry", "OrtKernelImpl.Compute", "OrtKernelImpl.Release")
@pytest.mark.slot("OrtEpApi.EpGraphSupportInfo_LookUpKernel", "OrtEpApi.EpGraphSupportInfo_AddSingleNode")
@pytest.mark.slot("OrtEpFactory.CreateEp", "OrtEpFactory.ReleaseEp")
def test_node_runs_on_the_kernel_of_its_provider(probe):
    kernels = []
    with provider_of(probe, take_all, prepare=with_negate(kernels)) as (ep, options):
        session = session_with(probe, relu(), options)
        for _ in range(3):
            np.testing.assert_array_equal(probe.run(session, {"x": X})[0], -X)
        del session
        assert len(kernels[0].made) == 1
        assert kernels[0].released == kernels[0].made
    assert ep.factory.released_eps == [ep.address]


@pytest.mark.slot("OrtEpFactory.CreateEp", "OrtEp.GetName")
def test_provider_is_created_with_its_devices_and_options(probe, api):
    factory, seen = EpFactory(probe), []
    ep = Ep(factory)

    def create(this, hardware, metadata, count, options, logger, out):
        device = C.c_void_p.from_address(hardware).value
        pairs = C.c_void_p.from_address(metadata).value
        size = C.c_size_t(64)
        value = C.create_string_buffer(64)
        key = b"ep.probeexecutionprovider.level"
        api.ok.GetSessionConfigEntry(options, key, value, C.byref(size))
        seen.append((count, api.HardwareDevice_Type(device), text(api.GetKeyValue(pairs, b"version")), value.value))
        C.c_void_p.from_address(out).value = ep.address

    factory.count("CreateEp", create)
    with registered(probe, factory) as devices:
        options = probe.ort.SessionOptions()
        options.add_provider_for_devices(devices, {"level": "3"})
        session_with(probe, relu(), options)
        del options, devices
        gc.collect()
    assert seen == [(1, E.OrtHardwareDeviceType_CPU, "1.2.3", b"3")]


@pytest.mark.slot("OrtEpFactory.CreateEp")
def test_options_of_a_device_are_defaults(probe, api):
    def devices(factory, hardware):
        pairs = api.get.CreateKeyValuePairs()
        api.AddKeyValuePair(pairs, b"level", b"1")
        api.AddKeyValuePair(pairs, b"mode", b"slow")
        made = [factory.device(factory.cpu(hardware), None, pairs)]
        api.ReleaseKeyValuePairs(pairs)
        return made

    factory, seen = EpFactory(probe, devices=devices), []
    ep = Ep(factory)

    def create(this, hardware, metadata, count, options, logger, out):
        for key in (b"level", b"mode"):
            size, value = C.c_size_t(64), C.create_string_buffer(64)
            api.ok.GetSessionConfigEntry(options, b"ep.probeexecutionprovider." + key, value, C.byref(size))
            seen.append(value.value)
        C.c_void_p.from_address(out).value = ep.address

    factory.count("CreateEp", create)
    with registered(probe, factory) as offered:
        options = probe.ort.SessionOptions()
        options.add_provider_for_devices(offered, {"level": "2"})
        session_with(probe, relu(), options)
        del options, offered
        gc.collect()
    assert seen == [b"2", b"slow"]


@pytest.mark.slot("OrtEpFactory.CreateEp")
def test_failing_creation_fails_the_session_with_its_message(probe):
    factory = EpFactory(probe)
    factory.count("CreateEp", lambda *arguments: probe.status(E.ORT_EP_FAIL, b"no licence"))
    with registered(probe, factory) as devices:
        options = probe.ort.SessionOptions()
        options.add_provider_for_devices(devices, {})
        with pytest.raises(probe.exception("EPFail"), match="no licence"):
            session_with(probe, relu(), options)
        del options, devices
        gc.collect()
    assert "ReleaseEp" not in factory.calls


@pytest.mark.slot("OrtEpFactory.CreateEp")
def test_creation_without_a_provider_fails_the_session(probe):
    factory = EpFactory(probe)
    factory.count("CreateEp", lambda *arguments: None)
    with registered(probe, factory) as devices:
        options = probe.ort.SessionOptions()
        options.add_provider_for_devices(devices, {})
        with pytest.raises(probe.exception("Fail")):
            session_with(probe, relu(), options)
        del options, devices
        gc.collect()


@pytest.mark.slot("OrtEp.GetName", "OrtEpFactory.ReleaseEp")
def test_provider_without_a_name_is_released(probe):
    with provider_of(probe, prepare=lambda ep: ep.count("GetName", lambda this: 0)) as (ep, options):
        with pytest.raises(probe.exception("Fail")):
            session_with(probe, relu(), options)
        gc.collect()
    assert ep.factory.released_eps == [ep.address]


@pytest.mark.slot("OrtEp.GetName")
@HOST
def test_provider_has_the_name_of_its_factory(probe):
    name = C.create_string_buffer(b"OtherExecutionProvider")
    with (
        provider_of(probe, prepare=lambda ep: ep.count("GetName", lambda this: C.addressof(name))) as (_ep, options),
        pytest.raises(probe.exception("Fail"), match="'ProbeExecutionProvider', got 'OtherExecutionProvider'"),
    ):
        session_with(probe, relu(), options)


@pytest.mark.slot("OrtEp.GetCapability")
@HOST
def test_error_of_the_question_fails_the_session(probe):
    with (
        provider_of(probe, lambda ep, g, s: probe.status(E.ORT_EP_FAIL, b"cannot look")) as (ep, options),
        pytest.raises(probe.exception("EPFail"), match=r"OrtEp\.GetCapability: cannot look"),
    ):
        session_with(probe, relu(), options)
    assert ep.factory.released_eps == [ep.address]


@pytest.mark.slot("OrtEp.IsConcurrentRunSupported")
def test_error_of_a_question_for_modes_fails_the_session(probe):
    def prepare(ep):
        ep.count("IsConcurrentRunSupported", lambda this, out: probe.status(E.ORT_EP_FAIL, b"who knows"))

    with provider_of(probe, prepare=prepare) as (ep, options):
        # ONNX Runtime throws it, and its Python binding raises what it throws as RuntimeError.
        with pytest.raises((probe.exception("EPFail"), RuntimeError), match="who knows"):
            session_with(probe, relu(), options)
        gc.collect()
    assert ep.factory.released_eps == [ep.address]


@pytest.mark.slot("OrtEp.OnRunStart", "OrtEp.OnRunEnd", "OrtApi.GetRunConfigEntry")
def test_provider_is_told_of_each_run(probe, api):
    seen = []

    def prepare(ep):
        def entry(options):
            return text(api.GetRunConfigEntry(options, b"pace")), api.GetRunConfigEntry(options, b"other")

        ep.count("OnRunStart", lambda this, options: seen.append(("start", options, *entry(options))))
        ep.count("OnRunEnd", lambda this, options, sync: seen.append(("end", options, *entry(options), sync)))

    with provider_of(probe, prepare=prepare) as (_ep, options):
        session = session_with(probe, relu(), options)
        run_options = probe.ort.RunOptions()
        run_options.add_run_config_entry("pace", "slow")
        session.run(None, {"x": X}, run_options)
        run_options.add_run_config_entry("disable_synchronize_execution_providers", "1")
        session.run(None, {"x": X}, run_options)
        del session
    probe.reraise()
    first, second = seen[0][1], seen[2][1]
    assert seen == [
        ("start", first, "slow", None), ("end", first, "slow", None, True),
        ("start", second, "slow", None), ("end", second, "slow", None, False),
    ]  # fmt: skip


@pytest.mark.slot("OrtEp.OnRunStart", "OrtEp.OnRunEnd")
def test_provider_that_refuses_a_run_is_not_told_of_its_end(probe):
    kernels = []

    def prepare(ep):
        with_negate(kernels)(ep)
        ep.count("OnRunStart", lambda this, options: probe.status(E.ORT_FAIL, b"not now"))
        ep.count("OnRunEnd", lambda this, options, sync: None)

    with provider_of(probe, take_all, prepare=prepare) as (ep, options):
        session = session_with(probe, relu(), options)
        with pytest.raises(probe.exception("Fail"), match="not now"):
            probe.run(session, {"x": X})
        del session
    assert "OnRunEnd" not in ep.calls


@pytest.mark.slot("OrtEp.OnRunEnd", "OrtKernelImpl.Compute")
def test_provider_is_told_of_the_end_of_a_run_that_failed(probe):
    kernels = []

    def prepare(ep):
        with_negate(kernels, compute=lambda api, context: probe.status(E.ORT_FAIL, b"out of order"))(ep)
        ep.count("OnRunEnd", lambda this, options, sync: None)

    with provider_of(probe, take_all, prepare=prepare) as (ep, options):
        session = session_with(probe, relu(), options)
        with pytest.raises(probe.exception("Fail"), match=r"relu.*out of order"):
            probe.run(session, {"x": X})
        del session
    assert ep.calls.count("OnRunEnd") == 1


@pytest.mark.slot("OrtEp.OnRunEnd")
def test_error_at_the_end_fails_the_run(probe):
    def prepare(ep):
        ep.count("OnRunEnd", lambda this, options, sync: probe.status(E.ORT_FAIL, b"ended badly"))

    with provider_of(probe, prepare=prepare) as (_ep, options):
        session = session_with(probe, relu(), options)
        with pytest.raises(probe.exception("Fail"), match="ended badly"):
            probe.run(session, {"x": X})
        del session


@pytest.mark.slot("OrtEp.OnSessionInitializationEnd")
def test_provider_is_told_when_the_session_is_ready(probe):
    kernels = []

    def prepare(ep):
        with_negate(kernels, create=lambda info: ep.calls.append("kernel"))(ep)
        ep.count("OnSessionInitializationEnd", lambda this: None)

    with provider_of(probe, take_all, prepare=prepare) as (ep, options):
        session_with(probe, relu(), options)
    assert ep.calls[-1] == "OnSessionInitializationEnd"
    assert ep.calls.index("kernel") < len(ep.calls) - 1


@pytest.mark.slot("OrtEp.OnSessionInitializationEnd", "OrtKernelImpl.Release")
def test_error_at_the_end_of_initialization_fails_the_session(probe):
    kernels = []

    def prepare(ep):
        with_negate(kernels)(ep)
        ep.count("OnSessionInitializationEnd", lambda this: probe.status(E.ORT_FAIL, b"never ready"))

    with provider_of(probe, take_all, prepare=prepare) as (ep, options):
        with pytest.raises(probe.exception("Fail"), match="never ready"):
            session_with(probe, relu(), options)
        gc.collect()
    assert kernels[0].released == kernels[0].made != []
    assert ep.factory.released_eps == [ep.address]


@pytest.mark.slot("OrtEp.GetDefaultMemoryDevice")
def test_default_memory_may_be_left_to_the_host(probe):
    def nothing(this, out):
        C.c_void_p.from_address(out).value = None

    kernels = []

    def prepare(ep):
        with_negate(kernels)(ep)
        ep.count("GetDefaultMemoryDevice", nothing)

    with provider_of(probe, take_all, prepare=prepare) as (ep, options):
        session = session_with(probe, relu(), options)
        np.testing.assert_array_equal(probe.run(session, {"x": X})[0], -X)
        del session
    assert "GetDefaultMemoryDevice" in ep.calls


@pytest.mark.slot("OrtEp.GetDefaultMemoryDevice")
@HOST
def test_memory_of_another_device_is_refused(probe, api):
    info = api.get.CreateMemoryInfo_V2(
        b"m", E.OrtMemoryInfoDeviceType_GPU, 0x10DE, 0, E.OrtDeviceMemoryType_DEFAULT, 0, E.OrtDeviceAllocator
    )

    def prepare(ep):
        def give(this, out):
            C.c_void_p.from_address(out).value = ep.ep_api.MemoryInfo_GetMemoryDevice(info)

        ep.count("GetDefaultMemoryDevice", give)

    with (
        provider_of(probe, prepare=prepare) as (_ep, options),
        pytest.raises(
            probe.ort.NotImplemented,
            match=r"ProbeExecution.*GetDefaultMemoryDevice: must be the CPU's, got that of a GPU",
        ),
    ):
        session_with(probe, relu(), options)
    api.ReleaseMemoryInfo(info)


@pytest.mark.slot("OrtEpApi.EpDevice_AddAllocatorInfo", "OrtEpFactory.CreateEp")
@HOST
def test_device_with_memory_that_there_is_not_is_refused(probe, api):
    info = api.get.CreateMemoryInfo_V2(
        b"far", E.OrtMemoryInfoDeviceType_NPU, 7, 0, E.OrtDeviceMemoryType_DEFAULT, 0, E.OrtDeviceAllocator
    )

    def devices(factory, hardware):
        device = factory.device(factory.cpu(hardware))
        factory.ep_api.ok.EpDevice_AddAllocatorInfo(device, info)
        return [device]

    with (
        provider_of(probe, factory=EpFactory(probe, devices=devices)) as (ep, options),
        pytest.raises(
            probe.ort.NotImplemented, match=r"needs memory of an NPU \('far'\), this host has memory of the CPU"
        ),
    ):
        session_with(probe, relu(), options)
    assert "CreateEp" not in ep.factory.calls
    api.ReleaseMemoryInfo(info)


@pytest.mark.slot("OrtEp.IsGraphCaptureEnabled")
@HOST
def test_graph_capture_is_refused(probe):
    with (
        provider_of(probe, prepare=lambda ep: ep.count("IsGraphCaptureEnabled", lambda this: True)) as (_ep, options),
        pytest.raises(probe.ort.NotImplemented, match=r"ProbeExecution.*IsGraphCaptureEnabled: capturing graphs"),
    ):
        session_with(probe, relu(), options)


def prefers(layout):
    """Return a ``prepare`` that makes a provider prefer a data layout."""

    def give(this, out):
        C.c_int.from_address(out).value = layout

    return lambda ep: ep.count("GetPreferredDataLayout", give)


@pytest.mark.slot("OrtEp.GetPreferredDataLayout")
def test_layout_that_is_none_fails_the_session(probe):
    with (
        provider_of(probe, take_all, prepare=prefers(7)) as (_ep, options),
        pytest.raises(probe.exception("Fail"), match="7"),
    ):
        session_with(probe, relu(), options)


@pytest.mark.slot("OrtEp.GetPreferredDataLayout", "OrtEp.ShouldConvertDataLayoutForOp")
@HOST
def test_other_layout_is_not_made_and_is_reported(probe, capfd):
    kernels = []

    def prepare(ep):
        with_negate(kernels)(ep)
        prefers(E.OrtEpDataLayout_NHWC)(ep)
        ep.count("ShouldConvertDataLayoutForOp", lambda *arguments: None)

    with provider_of(probe, take_all, prepare=prepare) as (ep, options):
        options.log_severity_level = 2
        session = session_with(probe, relu(), options)
        assert "prefers the layout NHWC, was offered the model's" in session.node_assignments()[0].reason
        np.testing.assert_array_equal(probe.run(session, {"x": X})[0], -X)
        options.strict_layout = True
        with pytest.raises(probe.ort.NotImplemented, match="strict_layout allows the model's layout only"):
            session_with(probe, relu(), options)
        del session
    assert "ShouldConvertDataLayoutForOp" not in ep.calls
    assert "prefers the layout NHWC" in capfd.readouterr().err


@pytest.mark.slot("OrtEpApi.KernelInfo_GetEp")
def test_kernel_finds_its_provider(probe):
    kernels, seen = [], []

    def prepare(ep):
        with_negate(kernels, create=lambda info: seen.append(ep.ep_api.get.KernelInfo_GetEp(info)))(ep)

    with provider_of(probe, take_all, prepare=prepare) as (ep, options):
        session_with(probe, relu(), options)
    assert seen == [ep.address]


@pytest.mark.slot("OrtEpApi.KernelInfo_GetEp")
def test_kernel_of_a_custom_op_has_no_provider(probe, api):
    def create(table, info):
        ep_api = EpFactory(probe).ep_api
        out = C.c_void_p(1)
        return ep_api.code.KernelInfo_GetEp(info, C.byref(out))

    assert probe.during_create(create) == E.ORT_FAIL


@pytest.mark.slot("OrtKernelImpl.Release")
def test_kernel_that_comes_with_an_error_is_released(probe):
    kernels = []
    prepare = with_negate(kernels, create=lambda info: probe.status(E.ORT_EP_FAIL, b"half made"))
    with provider_of(probe, take_all, prepare=prepare) as (_ep, options):
        with pytest.raises(probe.exception("EPFail"), match="half made"):
            session_with(probe, relu(), options)
        gc.collect()
    assert kernels[0].released == kernels[0].made != []


@pytest.mark.slot("OrtEpApi.EpGraphSupportInfo_AddSingleNode")
def test_node_without_a_kernel_is_an_error(probe):
    def take(ep, graph, support):
        for node in ep.nodes(graph):
            ep.ep_api.ok.EpGraphSupportInfo_AddSingleNode(support, node)

    with (
        provider_of(probe, take) as (_ep, options),
        pytest.raises(
            probe.exception("NotImplemented"), match=r"(?s)(?=.*'relu')(?=.*Relu)(?=.*14)(?=.*ProbeExecution)"
        ),
    ):
        session_with(probe, relu(), options)


@pytest.mark.slot("OrtEpApi.EpGraphSupportInfo_AddSingleNode")
@HOST
def test_node_that_is_proposed_twice_is_an_error(probe):
    codes = []

    def take(ep, graph, support):
        (node,) = ep.nodes(graph)
        ep.ep_api.ok.EpGraphSupportInfo_AddSingleNode(support, node)
        codes.append(ep.ep_api.code.EpGraphSupportInfo_AddSingleNode(support, node))

    kernels = []
    with (
        provider_of(probe, take, prepare=with_negate(kernels)) as (_ep, options),
        pytest.raises(probe.ort.EPFail, match=r"node 'relu' \(Relu\) is proposed twice"),
    ):
        session_with(probe, relu(), options)
    assert codes == [E.ORT_INVALID_ARGUMENT]


@pytest.mark.slot("OrtEpApi.EpGraphSupportInfo_LookUpKernel", "OrtEpApi.EpGraphSupportInfo_AddSingleNode")
@pytest.mark.finds("wrong_kind")
@HOST
def test_questions_about_nothing_are_errors(probe, api):
    codes = []

    def look(ep, graph, support):
        (node,) = ep.nodes(graph)
        code, out = ep.ep_api.code, C.c_void_p()
        codes.append(code.EpGraphSupportInfo_LookUpKernel(None, node, C.byref(out)))
        codes.append(code.EpGraphSupportInfo_LookUpKernel(support, None, C.byref(out)))
        codes.append(code.EpGraphSupportInfo_LookUpKernel(support, node, None))
        codes.append(code.EpGraphSupportInfo_LookUpKernel(support, graph, C.byref(out)))
        codes.append(code.EpGraphSupportInfo_AddSingleNode(None, node))
        codes.append(code.EpGraphSupportInfo_AddSingleNode(support, None))
        codes.append(code.EpGraphSupportInfo_AddNodesToFuse(support, None, 1, None))
        codes.append(code.EpGraphSupportInfo_AddNodesToFuse(support, (C.c_void_p * 1)(node), 0, None))

    with provider_of(probe, look) as (_ep, options):
        session_with(probe, relu(), options)
    assert codes == [E.ORT_INVALID_ARGUMENT] * 8


@pytest.mark.slot("OrtEpFactory.CreateDataTransfer", "OrtEp.GetKernelRegistry")
def test_provider_may_have_no_registry(probe):
    def none(this, out):
        C.c_void_p.from_address(out).value = None

    with provider_of(probe, take_all, prepare=lambda ep: ep.count("GetKernelRegistry", none)) as (ep, options):
        session = session_with(probe, relu(), options)
        np.testing.assert_array_equal(probe.run(session, {"x": X})[0], np.maximum(X, 0))
        del session
    assert ep.calls.count("GetKernelRegistry") == 1
    assert ep.factory.calls.count("CreateDataTransfer") == 2  # for the process and for the session


@pytest.mark.slot("OrtEp.GetCapability")
def test_two_providers_of_one_name_are_refused(probe):
    factory = EpFactory(probe)
    factory.give(Ep(factory))

    def add_twice_and_open(devices):  # the second time is refused here, the session by ONNX Runtime
        options = probe.ort.SessionOptions()
        options.add_provider_for_devices(devices, {})
        options.add_provider_for_devices(devices, {})
        session_with(probe, relu(), options)

    with registered(probe, factory) as devices:
        with pytest.raises(probe.exception("Fail")):
            add_twice_and_open(devices)
        del devices
        gc.collect()


@pytest.mark.slot("OrtEpApi.ReleaseKernelDef", "OrtEpApi.EpGraphSupportInfo_LookUpKernel")
@pytest.mark.finds("release_of_borrowed")
@HOST
def test_definition_that_was_looked_up_is_not_released(probe):
    kernels = []

    def take(ep, graph, support):
        (node,) = ep.nodes(graph)
        ep.ep_api.ReleaseKernelDef(ep.ep_api.get.EpGraphSupportInfo_LookUpKernel(support, node))
        ep.take_what_has_kernels(graph, support)

    with provider_of(probe, take, prepare=with_negate(kernels)) as (_ep, options):
        session = session_with(probe, relu(), options)
        np.testing.assert_array_equal(probe.run(session, {"x": X})[0], -X)
        del session


@pytest.mark.slot("OrtEpFactory.GetName")
@HOST
def test_name_of_the_hosts_provider_is_taken(probe):
    factory = EpFactory(probe, ep_name="CPUExecutionProvider")

    def register():
        with registered(probe, factory):
            pass

    with pytest.raises(probe.ort.Fail, match=r"GetName: is the name of the host's own provider"):
        register()


@pytest.mark.slot("OrtEp.IsConcurrentRunSupported", "OrtKernelImpl.Compute")
@HOST
def test_run_inside_a_run_is_an_error_where_one_runs_at_a_time(probe):
    kernels, sessions, errors = [], [], []

    def compute(api, context):
        try:
            sessions[0].run(None, {"x": X})
        except probe.ort.Fail as error:
            errors.append(str(error))
        negate(api, context)

    def prepare(ep):
        def no(this, out):
            C.c_bool.from_address(out).value = False

        with_negate(kernels, compute=compute)(ep)
        ep.count("IsConcurrentRunSupported", no)

    with provider_of(probe, take_all, prepare=prepare) as (_ep, options):
        sessions.append(session_with(probe, relu(), options))
        np.testing.assert_array_equal(probe.run(sessions[0], {"x": X})[0], -X)
        np.testing.assert_array_equal(probe.run(sessions[0], {"x": X})[0], -X)
        sessions.clear()
    assert len(errors) == 2
    assert "allows one run at a time" in errors[0]


@pytest.mark.slot("OrtApi.Graph_GetNodes", "OrtApi.Graph_GetInputs", "OrtApi.Graph_GetOutputs")
@HOST
def test_nodes_with_strings_are_not_shown_and_the_rest_is_a_graph(probe, api):
    """X -> Relu -> r -> Cast to text -> t -> Cast -> f -> Neg -> y."""
    text_type = {"to": int(helper.np_dtype_to_tensor_dtype(np.dtype(object)))}
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("Cast", ["r"], ["t"], name="as_text", **text_type),
        helper.make_node("Cast", ["t"], ["f"], name="as_float", to=1),
        helper.make_node("Neg", ["f"], ["y"], name="neg"),
    ]

    def names(count, get, graph, name_of):
        found = (C.c_void_p * count(graph))()
        get(graph, found, len(found))
        return [text(name_of(handle)) for handle in found]

    seen = []

    def look(ep, graph, support):
        for what, name in (("Nodes", "Node_GetName"), ("Inputs", "GetValueInfoName"), ("Outputs", "GetValueInfoName")):
            count, get = getattr(api.get, f"Graph_GetNum{what}"), getattr(api.ok, f"Graph_Get{what}")
            seen.append(names(count, get, graph, getattr(api.get, name)))

    with provider_of(probe, look) as (_ep, options):
        session = session_with(probe, model_of(nodes, {"x": [2]}, ["y"]), options)
        reasons = [row.reason for row in session.node_assignments()]
        del session
    assert seen == [["relu", "neg"], ["x", "f"], ["y", "r"]]
    assert ["was not shown the node" in reason for reason in reasons] == [False, True, True, False]
