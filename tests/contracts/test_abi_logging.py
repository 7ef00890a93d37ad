# SPDX-License-Identifier: Apache-2.0
"""OrtLogger as kernels use it."""

import pytest
from contracts.harness import E

LOG, LEVEL = "OrtApi.Logger_LogMessage", "OrtApi.Logger_GetLoggingSeverityLevel"


@pytest.fixture
def logging(probe):
    """Return a runner of ``body(api, logger)`` in a session of a given severity."""

    def run(body, severity=2):
        options = probe.ort.SessionOptions()
        options.log_severity_level = severity
        result = []
        op = probe.op(create=lambda api, info: result.append(body(api, api.get.KernelInfo_GetLogger(info))))
        probe.session(probe.one_node_model(op), op, options=options)
        return result[0]

    return run


def log(severity, message, file=b"/some/where/kernel.cc", function=b"Compute"):
    return lambda api, logger: api.code.Logger_LogMessage(logger, severity, message, file, 42, function)


@pytest.mark.slot(LEVEL)
@pytest.mark.parametrize("severity", [0, 1, 2, 3, 4])
def test_level_is_the_sessions(logging, severity):
    assert logging(lambda api, logger: api.get.Logger_GetLoggingSeverityLevel(logger), severity) == severity


@pytest.mark.slot(LOG)
def test_message_is_printed_literally_with_the_files_base_name(logging, capfd):
    assert logging(log(E.ORT_LOGGING_LEVEL_ERROR, b"50%s done %n")) == E.ORT_OK
    printed = capfd.readouterr()
    lines = [line for line in (printed.out + printed.err).splitlines() if "50%s done %n" in line]
    assert len(lines) == 1
    assert "kernel.cc:42" in lines[0]
    assert "/some/where" not in lines[0]


@pytest.mark.slot(LOG)
def test_message_below_the_level_is_not_printed(logging, capfd):
    assert logging(log(E.ORT_LOGGING_LEVEL_WARNING, b"too quiet", None, None), severity=3) == E.ORT_OK
    printed = capfd.readouterr()
    assert "too quiet" not in printed.out + printed.err


@pytest.mark.slot(LOG)
@pytest.mark.parametrize("severity", [E.ORT_LOGGING_LEVEL_FATAL, 77])
def test_fatal_and_unknown_severities_are_printed_and_do_not_abort(logging, capfd, severity):
    assert logging(log(severity, b"still alive")) == E.ORT_OK
    printed = capfd.readouterr()
    assert "still alive" in printed.out + printed.err


@pytest.mark.slot(LOG)
def test_null_message_is_accepted(logging):
    assert logging(log(E.ORT_LOGGING_LEVEL_ERROR, None)) == E.ORT_OK


@pytest.mark.slot(LOG)
@pytest.mark.host_stricter
@pytest.mark.parametrize(("file", "function"), [(None, b"Compute"), (b"kernel.cc", None), (None, None)])
def test_null_location_is_accepted(logging, capfd, file, function):
    assert logging(log(E.ORT_LOGGING_LEVEL_ERROR, b"somewhere", file, function)) == E.ORT_OK
    printed = capfd.readouterr()
    assert "somewhere" in printed.out + printed.err


@pytest.mark.slot(LOG, "OrtApi.KernelContext_GetLogger", LEVEL)
def test_run_logger_prints_too(probe, capfd):
    def body(api, context):
        logger = api.get.KernelContext_GetLogger(context)
        return log(E.ORT_LOGGING_LEVEL_ERROR, b"from compute")(api, logger)

    assert probe.during_compute(body) == E.ORT_OK
    printed = capfd.readouterr()
    assert "from compute" in printed.out + printed.err
