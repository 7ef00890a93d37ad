# SPDX-License-Identifier: Apache-2.0
"""The page of the benchmarks: what a run writes, and that it writes all of it or nothing."""

from __future__ import annotations

from pathlib import Path

import page
import pytest
from page import Result, magnitude, ratio, table, write_page
from quantities import QUANTITIES

T1, T2 = QUANTITIES["softmax_t1"], QUANTITIES["softmax_t2"]
TRACT = QUANTITIES["tract_cnn_t1"]


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "version", lambda package: "1.2")


def test_threads_stand_side_by_side() -> None:
    one = Result(T1, ratios=[0.5, 2, 0.25], values=(150, 300))
    two = Result(T2, ratios=[0.012], values=(0.5, 2500))
    head, line, row = table([one, two])
    assert head == "| quantity | wanted | ratio, 1 thread | ours, theirs | ratio, 2 threads | ours, theirs |"
    assert line.count("---") == 6
    assert row == "| Softmax 512x1024 | 1 | 0.50 (0.25 to 2.00) | 150 us, 300 us | 0.012 | 500 ns, 2.50 ms |"


def test_what_a_peer_does_not_run_is_said() -> None:
    assert "| not run by tract | Error: no \\| such |" in table([Result(TRACT, why_not="Error: no | such")])[-1]


def test_numbers_have_units_of_their_size() -> None:
    assert [magnitude(value, "us") for value in (0.0221, 7.51, 75.1, 751, 7510, 2.6e6)] == [
        "22.1 ns", "7.51 us", "75.1 us", "751 us", "7.51 ms", "2.60 s",
    ]  # fmt: skip
    assert magnitude(1034.2, "MiB") == "1034 MiB"
    assert [ratio(value) for value in (1.5, 0.1, 0.05, 0.0003)] == ["1.50", "0.10", "0.050", "0.0003"]


def test_the_size_of_the_wheel_is_checked() -> None:
    quantity = QUANTITIES["wheel_size_wanted"]
    ours, wanted = quantity.sides
    assert (ours.number, wanted.number, quantity.wanted, quantity.unit) == (None, 3, 1, "MB")
    row = table([Result(quantity, ratios=[2.9 / wanted.number], values=(2.9, wanted.number))])[-1]
    assert row == "| wheel, compressed, against 3 MB | 1 | 0.97 | 2.90 MB, 3.00 MB |"


def test_peak_memory_is_a_ratio_of_the_live_tensors() -> None:
    found = {name: quantity.sides[1].number for name, quantity in QUANTITIES.items() if name.endswith("_live")}
    assert found == {"peak_large_chain_live": 32, "peak_large_diamonds_live": 48}


def test_an_interrupted_run_keeps_the_old_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "benchmarks.md"
    results = [Result(T1, ratios=[1.0], values=(1, 1))]
    write_page(path, results, 5)
    assert f"## {T1.section}" in path.read_text()
    before = path.read_text()

    def interrupted(_: Path, __: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_page(path, [*results, Result(T2, ratios=[1.0], values=(1, 1))], 5)
    assert path.read_text() == before
