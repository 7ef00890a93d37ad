# SPDX-License-Identifier: Apache-2.0
"""The blocks of the documentation that use the plugin in ONNX Runtime run, each in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from plugin_ep import model_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "packages" / "ort_plugin" / "README.md", ROOT / "docs" / "onnx_runtime_plugin.md"]
BLOCK = re.compile(r"^```\n(import .*?onnxruntime\n.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(page, block) for page in PAGES for block in BLOCK.findall(page.read_text())]


def test_each_page_shows_both_uses() -> None:
    for page in PAGES:
        blocks = [block for other, block in BLOCKS if other == page]
        assert [("rewrite_model" in block) for block in blocks] == [False, True], page


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[f"{page.name}-{i}" for i, (page, _) in enumerate(BLOCKS)])
def test_blocks_run(tmp_path: Path, page: Path, block: str) -> None:
    nodes = [helper.make_node("MatMul", ["x", "x"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    model = model_of(nodes, {"x": (np.float32, [2, 2])}, {"y": (np.float32, [2, 2])})
    (tmp_path / "model.onnx").write_bytes(model)
    check = "import numpy as np\nprint(session.run(None, {'x': np.array([[1, -2], [0, 1]], np.float32)})[0].tolist())"
    done = subprocess.run(
        [sys.executable, "-c", block + check], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[[1.0, 0.0], [0.0, 1.0]]\n"), done.stderr
