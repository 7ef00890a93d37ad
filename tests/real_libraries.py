# SPDX-License-Identifier: Apache-2.0
"""Published plugin libraries that the tests run, unmodified, out of their wheels.

``library_path(name)`` gives the path of one; the wheel is downloaded at the first call and kept in ``.libraries/``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

LIBRARIES = Path(__file__).resolve().parent.parent / ".libraries"


@dataclass(frozen=True)
class RealLibrary:
    """Where a library comes from.

    Attributes
    ----------
    requirement
        Names its wheel.
    member
        Its path in the wheel, a pattern.
    platform
        Tag of the wheel for a library that is only looked at; empty for this platform.
    """

    requirement: str
    member: str
    platform: str = ""


REAL_LIBRARIES = {
    "onnx_extended_tutorial": RealLibrary(
        "onnx-extended==0.5.0", "onnx_extended/ortops/tutorial/cpu/libortops_tutorial_cpu.so"
    ),
    "onnxruntime_extensions": RealLibrary(
        "onnxruntime-extensions==0.15.2", "onnxruntime_extensions/_extensions_pydll*.so"
    ),
    "ggml": RealLibrary("onnxruntime-ggml==0.2.0", "onnxruntime_ggml/lib/libonnxruntime_ggml.so"),
    "openvino": RealLibrary(
        "onnxruntime-ep-openvino==1.8.1", "onnxruntime_ep_openvino/libonnxruntime_providers_openvino_plugin.so"
    ),
    "nxrt": RealLibrary("nxrt-ep-cpu==0.1.0.dev6", "nxrt_ep_cpu/libonnx_runtime_ep_cpu_plugin.so"),
    "windows": RealLibrary(
        "onnxruntime-extensions==0.15.0", "onnxruntime_extensions/_extensions_pydll*.pyd", "win_amd64"
    ),
    "macos": RealLibrary(
        "onnxruntime-extensions==0.15.2", "onnxruntime_extensions/_extensions_pydll*.so", "macosx_11_0_universal2"
    ),
}


def library_path(name: str) -> Path:
    """Return the path of a published library, downloading its wheel once.

    The whole wheel is unpacked, since such a library finds the libraries it needs in a folder beside its package.

    Parameters
    ----------
    name : str
        A key of ``REAL_LIBRARIES``.

    Returns
    -------
    Path
        The absolute path of the library.
    """
    library = REAL_LIBRARIES[name]
    home = LIBRARIES / name
    if not home.is_dir():
        download(library, home)
    found = sorted(home.glob(library.member))
    if len(found) != 1:
        raise FileNotFoundError(f"{name}: {library.requirement} should hold one {library.member}, got {found}")
    return found[0]


def download(library: RealLibrary, home: Path) -> None:
    """Unpack the wheel of ``library`` into ``home``, which appears complete or not at all."""
    LIBRARIES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=LIBRARIES) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--quiet", "--no-deps"]
        if library.platform:
            command += ["--platform", library.platform]
        subprocess.run([*command, "--only-binary=:all:", "--dest", scratch, library.requirement], check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        unpacked = Path(scratch, "unpacked")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked)
        unpacked.rename(home)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or REAL_LIBRARIES:
        print(wanted, library_path(wanted))
