# SPDX-License-Identifier: Apache-2.0
"""OrtApiBase, the sub-tables and the strings that say who answers."""

import re

import pytest
from contracts.harness import Table, text

UINT_MAX = 2**32 - 1
ACCEPTED = [*range(1, 6), *range(8, 31)]


@pytest.mark.slot("OrtApiBase.GetApi")
@pytest.mark.parametrize("version", ACCEPTED)
def test_every_released_version_gets_the_one_table(probe, version):
    assert probe.base.GetApi(version) == probe.api.address


@pytest.mark.slot("OrtApiBase.GetApi")
@pytest.mark.parametrize("version", [0, UINT_MAX])
def test_impossible_version_gets_null_and_one_line_on_stderr(probe, capfd, version):
    assert probe.base.GetApi(version) is None
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1
    assert str(version) in lines[0]


@pytest.mark.slot("OrtApiBase.GetApi")
@pytest.mark.host_stricter
@pytest.mark.parametrize("version", [6, 7, 31, 32])
def test_version_of_another_layout_gets_null_and_one_line_on_stderr(probe, capfd, version):
    assert probe.base.GetApi(version) is None
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1
    assert str(version) in lines[0]
    assert "30" in lines[0]


@pytest.mark.slot("OrtApiBase.GetApi")
def test_table_is_still_given_after_a_refusal(probe):
    assert probe.base.GetApi(0) is None
    assert probe.base.GetApi(1) == probe.api.address


@pytest.mark.slot("OrtApiBase.GetVersionString")
def test_version_string_is_three_numbers(probe):
    assert re.fullmatch(r"1\.\d+\.\d+", text(probe.base.GetVersionString()))


@pytest.mark.slot("OrtApiBase.GetVersionString")
def test_version_string_is_the_same_static_string_each_time(probe):
    assert probe.base.GetVersionString() == probe.base.GetVersionString()


@pytest.mark.slot("OrtApiBase.GetVersionString")
@pytest.mark.host_stricter
def test_version_string_is_the_pinned_one(probe):
    assert text(probe.base.GetVersionString()) == "1.30.0"


@pytest.mark.slot("OrtApi.GetBuildInfoString")
def test_build_info_is_the_same_static_string_each_time(api):
    assert text(api.GetBuildInfoString())
    assert api.GetBuildInfoString() == api.GetBuildInfoString()


@pytest.mark.slot("OrtApi.GetBuildInfoString")
@pytest.mark.host_stricter
def test_build_info_says_who_answers(api):
    assert re.fullmatch(
        r"onnx-light-ort-host \d+\.\d+\.\d+\S*, ORT C ABI 30, not ONNX Runtime", text(api.GetBuildInfoString())
    )


@pytest.mark.slot("OrtApi.GetEpApi", "OrtApi.GetModelEditorApi", "OrtApi.GetCompileApi", "OrtApi.GetInteropApi")
@pytest.mark.parametrize("slot", ["GetEpApi", "GetModelEditorApi", "GetCompileApi", "GetInteropApi"])
def test_sub_table_is_one_complete_table(api, slot):
    address = getattr(api, slot)()
    assert address == getattr(api, slot)()
    table = Table(address, f"Ort{slot[3:]}", api)
    assert all(table.has(name) for name in table.names())


@pytest.mark.slot("OrtApi.GetTrainingApi")
def test_training_table_is_absent(api):
    assert api.GetTrainingApi(30) is None


@pytest.mark.slot("OrtApi.GetExperimentalFunction")
@pytest.mark.parametrize("name", [None, b"", b"NoSuchFunction"])
def test_unknown_experimental_function_is_null(api, name):
    assert api.GetExperimentalFunction(name) is None
