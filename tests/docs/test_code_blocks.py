# SPDX-License-Identifier: Apache-2.0
"""Every Python and shell block of the documentation runs, page by page, in order."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("README.md"), *ROOT.glob("packages/*/README.md"), *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Runs the blocks in one process; each is a language and a text.
RUNNER = """
import json, subprocess, sys
blocks, names = json.load(open(sys.argv[1])), {"__name__": "__main__"}
for language, text in blocks:
    if language == "python":
        exec(compile(text, "<block>", "exec"), names)
    else:
        subprocess.run(["bash", "-euo", "pipefail", "-c", text], check=True)
"""


def blocks_of(page: Path) -> list[tuple[str, str]]:
    return [(language, text) for language, text in BLOCK.findall(page.read_text()) if language in ("python", "sh")]


def test_blocks_have_a_language_that_is_run() -> None:
    """What stands in a block of another kind is not run, so only these may be there."""
    for page in PAGES:
        kinds = {language for language, _ in BLOCK.findall(page.read_text())}
        assert kinds <= {"python", "sh"}, page.name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with what the pages refer to."""
    for path in (ROOT / "docs" / "examples" / "custom_op").iterdir():
        shutil.copy(path, tmp_path)
    tools = tmp_path / "bin"
    tools.mkdir()
    command = tools / "onnx-light-ort-host"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m onnx_light_ort_host "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    for name in ("python", "python3"):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (tools / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.name)
def test_blocks_run(folder: Path, page: Path) -> None:
    import json

    texts = [(language, text.replace("/absolute/path", str(folder))) for language, text in blocks_of(page)]
    (folder / "blocks.json").write_text(json.dumps(texts))
    fixtures = Path(os.environ["ONNX_LIGHT_ORT_FIXTURES"])
    for name, copy in (
        ("add_two.so", "libmy_ops.so"),
        ("kernel_ep.so", "libmy_ep.so"),
        ("compile_ep.so", "libmy_compiler.so"),
    ):
        shutil.copy(fixtures / name, folder / copy)
    write_readme_model(folder)
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path}
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, "blocks.json"],
        cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def write_readme_model(folder: Path) -> None:
    """Write the model and the input that README speaks of: an operator of the fixture library over x."""
    import numpy as np
    from onnx import TensorProto, helper, save

    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Scale", ["x"], ["y"], domain="fixtures", factor=2.0)], "g", info[:1], info[1:]
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("fixtures", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=10), folder / "model.onnx")
    np.save(folder / "x.npy", np.ones((2, 3), np.float32))
