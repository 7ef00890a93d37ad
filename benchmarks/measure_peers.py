# SPDX-License-Identifier: Apache-2.0
"""Take one measurement of a run on another engine in a fresh process: measure_peers.py PEER MODEL THREADS.

PEER is `onnx.reference` or `tract`. Prints microseconds, or `UNSUPPORTED` and why the peer does not run the model.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from timing import load_feeds, model_file, repeat

Runner = Callable[[dict[str, Any]], list[Any]]


def reference(name: str) -> Runner:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(model_file(name))
    return lambda inputs: evaluator.run(None, inputs)


def tract(name: str) -> Runner:
    """Its Python interface has no number of threads: it runs on one."""
    import tract

    loaded = tract.onnx().load(model_file(name))
    names = [loaded.input_name(index) for index in range(loaded.input_count())]
    runnable = loaded.into_model().into_runnable()
    return lambda inputs: [output.to_numpy() for output in runnable.run([inputs[one] for one in names])]


PEERS: dict[str, Callable[[str], Runner]] = {"onnx.reference": reference, "tract": tract}


def main(peer: str, name: str) -> str:
    inputs = load_feeds(name)
    try:
        run = PEERS[peer](name)
        run(inputs)
    except Exception as error:  # whatever it is, it belongs into the table
        return f"UNSUPPORTED {type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0]}"
    return f"MEASURED {repeat(lambda: run(inputs))}"


if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2]))
