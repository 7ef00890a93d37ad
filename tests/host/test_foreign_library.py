# SPDX-License-Identifier: Apache-2.0
"""Looking at libraries of other systems."""

from __future__ import annotations

import onnx_light_ort_host as ort
import pytest
from real_libraries import library_path


def test_a_library_for_windows():
    report = ort.inspect_library(library_path("windows"))
    assert report.exports == ["RegisterCustomOps"]
    assert {"KERNEL32.dll", "python311.dll"} <= set(report.needed)
    assert report.closure == []
    assert report.verdict == (
        "refused because it is a library for Windows on AMD64, this process runs on Linux on x86-64"
    )


def test_a_library_for_two_kinds_of_macs():
    report = ort.inspect_library(library_path("macos"))
    assert report.exports == ["RegisterCustomOps"]
    assert "/usr/lib/libSystem.B.dylib" in report.needed
    assert not [name for name in report.needed if "_extensions_pydll" in name]  # its own name
    assert report.verdict == (
        "refused because it is a library for macOS on X86_64 and ARM64, this process runs on Linux on x86-64"
    )


@pytest.mark.parametrize("name", ["windows", "macos"])
def test_without_the_extra(name, run_python):
    source = (
        "import sys; sys.modules['lief'] = None\n"
        "import onnx_light_ort_host as ort; print(ort.inspect_library(sys.argv[1]).refused_because)"
    )
    done = run_python(source, library_path(name))
    assert "it is a library for" in done.stdout
    assert "pip install onnx-light-ort-host[inspect]" in done.stdout


@pytest.mark.parametrize(
    ("start", "system"), [(b"MZ", "Windows"), (b"\xca\xfe\xba\xbe", "macOS"), (b"\xcf\xfa\xed\xfe", "macOS")]
)
@pytest.mark.parametrize("rest", [b"", b"\0" * 200, b"\xff" * 200])
def test_what_only_begins_like_one(tmp_path, start, system, rest, capfd):
    path = tmp_path / "odd.bin"
    path.write_bytes(start + rest)
    reason = ort.inspect_library(path).refused_because
    assert f"library for {system}" in reason
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["windows", "macos"])
def test_damaged_files_are_refused(name, tmp_path):
    content = library_path(name).read_bytes()
    for part in (64, 300, 4096, 70_000):
        path = tmp_path / f"cut{part}"
        path.write_bytes(content[:part])
        assert ort.inspect_library(path).refused_because


def windows_file(characteristics: int) -> bytes:
    return (
        b"MZ".ljust(0x3C, b"\0")
        + (0x40).to_bytes(4, "little")
        + b"PE\0\0".ljust(22, b"\0")
        + characteristics.to_bytes(2, "little")
    )


def macos_file(kind: int, order: str = "little") -> bytes:
    return b"".join(number.to_bytes(4, order) for number in (0xFEEDFACF, 7, 3, kind, 0, 0, 0, 0))


def for_several_processors(file: bytes) -> bytes:
    return (
        b"".join(number.to_bytes(4, "big") for number in (0xCAFEBABE, 1, 7, 3, 64, len(file), 0)).ljust(64, b"\0")
        + file
    )


@pytest.mark.parametrize(("content", "what"), [
    (windows_file(0x0022), "program for Windows"),
    (windows_file(0x2022), "library for Windows"),
    (macos_file(2), "program for macOS"),
    (macos_file(2, "big"), "program for macOS"),
    (macos_file(6), "library for macOS"),
    (for_several_processors(macos_file(2)), "program for macOS"),
    (for_several_processors(macos_file(6)), "library for macOS"),
])  # fmt: skip
def test_programs_are_told_from_libraries(tmp_path, content, what):
    path = tmp_path / "file"
    path.write_bytes(content + b"\0" * 100)
    assert what in ort.inspect_library(path).refused_because


def test_other_files_keep_their_reason(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear loader")
    assert "not a shared library" in ort.inspect_library(path).refused_because
