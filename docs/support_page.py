# SPDX-License-Identifier: Apache-2.0
"""Write docs/support_matrix.json and .md from the tables of the built host and the contract tests that name its slots.

`./dev support-matrix` runs it; a contract test fails when the pages are not what it would write.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import onnx_light_ort_host as ort

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from contracts.named_slots import slots_with_tests  # noqa: E402  the folder of the tests is known only now

PLATFORM = "Linux on x86-64, the C calling convention of that platform, CPython 3.11 and later"
NUMBERS = "dense tensors of every element type of the interface but strings and complex numbers"
PROFILES = {
    "shared": f"what every library needs: {NUMBERS}",
    "custom_ops": f"libraries that export RegisterCustomOps: {NUMBERS}",
    "string_tensors": "custom ops over dense tensors of strings",
    "ep_factory_device": "libraries that export CreateEpFactories, on the CPU: devices, options, runs",
    "kernel_ep": f"execution providers that run single nodes with registered kernels: {NUMBERS}; strings where a "
    "kernel is registered for them. Proven by our fixtures and our own plugin only: no published library was found "
    "whose registered kernels compute on the CPU",
    "compiling_ep": f"execution providers that compile groups of nodes: {NUMBERS}",
}


def content() -> dict[str, Any]:
    """Return everything that the pages say."""
    tests, rows = slots_with_tests(), []
    for row in ort.support_matrix():
        named = tests.get(f"{row.table}.{row.name}", []) if is_supported(row.status) else []
        rows.append(row.asdict() | {"tests": named})
    return {
        "api_versions": ort.accepted_api_versions(),
        "platform": PLATFORM,
        "profiles": PROFILES,
        "tested_libraries": [library.asdict() for library in ort.tested_libraries()],
        "rows": rows,
    }


def is_supported(status: str) -> bool:
    """Tell whether contract tests are due for a row."""
    return status == "supported" or status.startswith("invoked")


def page(found: dict[str, Any]) -> str:
    """Return the page in Markdown; it names the files of the tests, the JSON names the tests."""
    versions = ", ".join(map(str, found["api_versions"]))
    lines = [
        "# Support matrix",
        "",
        "Every slot and callback of the interface, computed from the tables that libraries receive",
        "(`ort.support_matrix()`). `docs/support_matrix.json` in the repository says the same and names each test.",
        "",
        f"Accepted API versions: {versions}. Platform: {found['platform']}.",
        "",
        "| profile | what it covers |",
        "|---|---|",
        *(f"| `{name}` | {meaning} |" for name, meaning in found["profiles"].items()),
        "",
        "## Tested libraries",
        "",
        "Run unmodified by the tests on the platform above. Another library may load and still need what is not",
        "supported.",
        "",
        "| library | version | file | asks for API version | profiles |",
        "|---|---|---|---|---|",
    ]
    for library in found["tested_libraries"]:
        cells = [library[key] for key in ("name", "version", "file_name", "api_version", "profile")]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += [
        "",
        "## Slots and callbacks",
        "",
        "| slot | profile | since | status | limit | tests |",
        "|---|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        files = sorted({test.split("::")[0].removeprefix("test_").removesuffix(".py") for test in row["tests"]})
        cells = [f"`{row['table']}.{row['name']}`", *(row[key] for key in ("profile", "since", "status", "limit"))]
        lines.append("| " + " | ".join(map(str, [*cells, ", ".join(files)])) + " |")
    return "\n".join([*lines, ""])


def pages() -> dict[Path, str]:
    """Return the content of each file."""
    found = content()
    return {
        DOCS / "support_matrix.json": json.dumps(found, indent=1) + "\n",
        DOCS / "support_matrix.md": page(found),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
