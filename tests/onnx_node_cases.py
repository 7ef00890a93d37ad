# SPDX-License-Identifier: Apache-2.0
"""The node tests of the onnx package through the host; as a program (``./dev node-tests``) how many of them pass."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import warnings
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx_light_ort_host import InferenceSession, SessionOptions


@dataclass
class Case:
    """A model with what it gives for each of its data sets."""

    name: str
    op_type: str  # what is tested: of a model that is the body of a function, that function
    domain: str
    model: bytes
    node_count: int
    input_names: list[str]
    data_sets: list[tuple[list[Any], list[Any]]]
    rtol: float
    atol: float


def as_array(value: Any) -> Any:
    """Return a value of a data set with arrays in the place of protos and of numpy's scalars."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, (list, tuple)):
        return [as_array(element) for element in value]
    return None if value is None else np.asarray(value)


def make_cases() -> list[Case]:
    """Return all cases. They compute what they expect while they are made, which takes many seconds."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some overflow on purpose
        made = node.collect_testcases(None)
    cases: list[Case] = []
    tested: dict[str, tuple[str, str]] = {}
    for case in made:
        nodes = case.model.graph.node
        base = case.name.split("_expanded")[0]
        op_type, domain = tested.setdefault(base, (nodes[0].op_type, nodes[0].domain))
        data_sets = [(as_array(inputs), as_array(outputs)) for inputs, outputs in case.data_sets]
        names = [value.name for value in case.model.graph.input]
        model = case.model.SerializeToString()
        cases.append(Case(case.name, op_type, domain, model, len(nodes), names, data_sets, case.rtol, case.atol))
    return cases


def load_cases() -> list[Case]:
    """Return all cases, kept in the build directory once they are made."""
    version = f"{onnx.__version__}_{zlib.crc32(Path(__file__).read_bytes()):08x}"
    kept = Path(os.environ["ONNX_LIGHT_ORT_BUILD"]) / f"onnx_node_cases_{version}.pickle"
    if not kept.exists():
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
            # As dicts: the class has another name when this module is the program.
            pickle.dump([vars(case) for case in make_cases()], file)
        os.replace(file.name, kept)  # another process may be making them too
    return [Case(**fields) for fields in pickle.loads(kept.read_bytes())]


def comparable(array: np.ndarray) -> np.ndarray:
    """Return an array of a type that numpy can compare with tolerances."""
    return array if array.dtype.isbuiltin == 1 else array.astype(np.float64)


# Cases whose values are drawn at random: only type and shape can be compared.
RANDOM = ("Bernoulli",)


def compare(got: Any, want: Any, rtol: float, atol: float) -> None:
    """Raise AssertionError unless a result is what a case expects."""
    if want is None:
        assert got is None, f"expected None, got {type(got).__name__}"
    elif isinstance(want, list):
        assert isinstance(got, list), f"expected a list, got {type(got).__name__}"
        assert len(got) == len(want), f"expected {len(want)} elements, got {len(got)}"
        for one, other in zip(got, want, strict=True):
            compare(one, other, rtol, atol)
    else:
        assert isinstance(got, np.ndarray), f"expected an array, got {type(got).__name__}"
        assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
        if want.dtype.kind in "OUS":
            assert got.tolist() == want.astype(object).tolist()
            return
        assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
        if np.isinf(rtol):
            return
        if want.dtype.name == "bfloat16":  # as the runner of onnx: its last two bits may differ
            rtol = max(rtol, 2**-6)
        np.testing.assert_allclose(comparable(got), comparable(want), rtol=rtol, atol=atol)


def run_case(case: Case, reference_fallback: bool) -> str:
    """Return why a case fails, in one line, or "" if it passes."""
    options = SessionOptions()
    options.reference_fallback = reference_fallback
    try:
        session = InferenceSession(case.model, options, providers=None)
        for inputs, outputs in case.data_sets:
            results = session.run(None, dict(zip(case.input_names, inputs, strict=True)))
            assert len(results) == len(outputs), f"expected {len(outputs)} outputs, got {len(results)}"
            for got, want in zip(results, outputs, strict=True):
                compare(got, want, np.inf if case.op_type in RANDOM else case.rtol, case.atol)
    except Exception as error:  # whatever it is, it belongs into the list
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return ""


def failures(cases: Iterable[Case], reference_fallback: bool) -> dict[str, str]:
    """Return the names of the cases that fail, each with its reason."""
    found = ((case.name, run_case(case, reference_fallback)) for case in cases)
    return {name: reason for name, reason in found if reason}


def by_operator(cases: Sequence[Case], failing: dict[str, str]) -> list[str]:
    """Return one line for each operator with failing cases, and one for each of these."""
    totals: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        totals[f"{case.domain}.{case.op_type}".lstrip(".")].append(case)
    lines = []
    for operator, of_operator in sorted(totals.items()):
        names = [case.name for case in of_operator if case.name in failing]
        if names:
            lines.append(f"{operator}: {len(names)} of {len(of_operator)} fail")
            lines += [f"    {name}: {failing[name][:300]}" for name in names]
    return lines


def main() -> int:
    """Print how many cases pass with native kernels alone and with the reference fallback, and which do not."""
    cases = load_cases()
    for title, reference_fallback in (("native kernels alone", False), ("with the reference fallback", True)):
        failing = failures(cases, reference_fallback)
        passed = len(cases) - len(failing)
        print(f"{title}: {passed} of {len(cases)} pass ({100 * passed / len(cases):.2f} %)")
        for line in by_operator(cases, failing):
            print(f"  {line}")
    print(f"of {', '.join(RANDOM)}, whose values are random, only types and shapes are compared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
