# SPDX-License-Identifier: Apache-2.0
"""Slots without an implementation: they say so by name, or end the process by name."""

import os
import sys

import pytest
from contracts.harness import E, Table, run_in_child
from contracts.harness.abi import ctype_of, members, words

pytestmark = [pytest.mark.host_stricter, pytest.mark.slot()]

SUB_TABLES = ["OrtEpApi", "OrtModelEditorApi", "OrtCompileApi", "OrtInteropApi"]
NEVER = words("""
    CreateEnv CreateSession CreateSessionFromArray Run RunAsync CreateOp InvokeOp CreateValue GetValue
    RegisterCustomOpsLibrary RegisterCustomOpsLibrary_V2 RegisterCustomOpsUsingFunction
    RegisterExecutionProviderLibrary UnregisterExecutionProviderLibrary SessionOptionsAppendExecutionProvider_V2
    CreateSparseTensorAsOrtValue
""")


def tables(probe):
    """Return every table by name."""
    found = {"OrtApi": probe.api}
    for name in SUB_TABLES:
        found[name] = Table(getattr(probe.api, f"Get{name[3:]}")(), name, probe.api)
    return found


def unsupported(probe):
    """Return (table name, slot) of every slot the support matrix does not claim."""
    return [(r.table, r.name) for r in probe.ort.support_matrix() if r.status == "not_implemented"]


def nulls(table, slot):
    """Return arguments that are all zero."""
    return [None if ctype_of(p["type"]).__name__ == "c_void_p" else 0 for p in members(table)[slot]["params"]]


def test_every_unsupported_status_slot_names_itself(probe):
    found, wrong = tables(probe), []
    for table, slot in unsupported(probe):
        if members(table)[slot]["return_kind"] == "status":
            code, message = getattr(found[table].error, slot)(*nulls(table, slot))
            if code != E.ORT_NOT_IMPLEMENTED or slot not in (message or ""):
                wrong.append((table, slot, code, message))
    assert wrong == []


@pytest.mark.parametrize("slot", NEVER)
def test_slot_that_a_host_of_plugins_never_offers(probe, slot):
    code, message = getattr(probe.api.error, slot)(*nulls("OrtApi", slot))
    assert code == E.ORT_NOT_IMPLEMENTED
    assert slot in message


def test_every_unsupported_release_slot_ignores_null(probe):
    found, called = tables(probe), 0
    for table, slot in unsupported(probe):
        if slot.startswith("Release"):
            getattr(found[table], slot)(*nulls(table, slot))
            called += 1
    assert called > 0


def call_fatal_slots_in_forks(probe):
    """Call each slot that cannot report failure in a fork of its own and print how the fork ended."""
    found = tables(probe)
    for table, slot in unsupported(probe):
        if members(table)[slot]["return_kind"] == "status":
            continue
        args = nulls(table, slot)
        if slot.startswith("Release"):
            args[0] = 0x1000
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(writer, 2)
            getattr(found[table], slot)(*args)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, errors="replace") as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status) or slot not in said:
            print(f"{table}.{slot}: status {status}, said {said!r}", file=sys.stdout)
    print("done")


def test_every_other_unsupported_slot_ends_the_process_by_name(module_name):
    ended = run_in_child(module_name, call_fatal_slots_in_forks)
    assert ended.stdout == "done\n", ended.stdout + ended.stderr


def call_behind_the_table(probe):
    """Call the first slot that version 30 does not have, as a library built against a newer header would."""
    import ctypes

    behind = probe.api.address + 8 * len(members("OrtApi"))
    ctypes.CFUNCTYPE(ctypes.c_void_p)(ctypes.c_void_p.from_address(behind).value)()


def test_slot_behind_the_table_ends_the_process_by_index(module_name):
    ended = run_in_child(module_name, call_behind_the_table)
    assert ended.returncode < 0
    assert str(len(members("OrtApi"))) in ended.stderr
