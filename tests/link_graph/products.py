# SPDX-License-Identifier: Apache-2.0
"""The libraries of the two products, and what each may export."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ENTRY_POINTS = frozenset({"RegisterCustomOps", "CreateEpFactories", "ReleaseEpFactory"})
PLUGIN_ROOMS = frozenset({"packages/ort_plugin", "packages/runtime", "packages/shared_conversions"})


@dataclass(frozen=True)
class Product:
    """One shared library of a wheel."""

    path: Path
    exports: frozenset[str]
    needs_python: bool
    rooms: frozenset[str] = frozenset()
    """Folders of the build directory that may go into its link; known for what has a link map."""


def products() -> list[Product]:
    """Return the libraries that were built, or with ``ONNX_LIGHT_ORT_PACKAGES`` those installed there.

    A build with one product switched off has the libraries of the other.
    """
    if installed := os.environ.get("ONNX_LIGHT_ORT_PACKAGES"):
        host = plugin = Path(installed)
    else:
        packages = Path(os.environ["ONNX_LIGHT_ORT_BUILD"], "packages")
        host, plugin = packages / "host" / "src", packages / "ort_plugin" / "src"
    found = [
        Product(path, frozenset({f"PyInit_{path.name.split('.')[0]}"}), True)
        for path in sorted(host.glob("onnx_light_ort_host/*.so"))
    ]
    found += [
        Product(path, frozenset({"OrtGetApiBase"}), False, frozenset({"packages/host"}))
        for path in sorted(host.glob("onnx_light_ort_host/api_base/*.so"))
    ]
    found += [
        Product(path, ENTRY_POINTS, False, PLUGIN_ROOMS)
        for path in sorted(plugin.glob("onnx_light_ort_plugin/libonnx_light_ort_plugin.so"))
    ]
    return found
