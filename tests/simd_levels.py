# SPDX-License-Identifier: Apache-2.0
"""The instruction-set levels that this machine has."""

from __future__ import annotations

from pathlib import Path


def levels() -> list[str]:
    """Return their names as ONNX_LIGHT_SIMD takes them, worst first."""
    flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")).split()
    found = ["baseline"]
    if {"avx2", "fma", "f16c"} <= set(flags):
        found.append("avx2")
    if {"avx512f", "avx512vl", "avx512dq", "avx512bw"} <= set(flags):
        found.append("avx512")
    return found
