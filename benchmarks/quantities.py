# SPDX-License-Identifier: Apache-2.0
"""What is measured: every quantity with its two sides, and the ratio that is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memory_models import MEMORY, TENSOR_MIB


@dataclass(frozen=True)
class Side:
    """Who is measured: a script of this folder, and what it is told. Or a number, in the unit of the quantity."""

    title: str
    script: str = ""
    who: str = ""
    checked: bool = False
    number: float | None = None


HOST = "onnx_light_ort_host"
OURS = Side("host", "measure.py", HOST)
THEIRS = Side("ONNX Runtime", "measure.py", "onnxruntime")
OURS_ON_LIBRARY = Side("host", "measure_libraries.py", HOST)
THEIRS_ON_LIBRARY = Side("ONNX Runtime", "measure_libraries.py", "onnxruntime")
CHECKED = Side("host in checked mode", "measure_libraries.py", HOST, checked=True)
COMPILED = Side("our plugin, compile mode", "measure_reverse.py", "compile")
KERNELS = Side("our plugin, kernel mode", "measure_reverse.py", "kernel")
SAMPLE = Side("a minimal plugin", "measure_reverse.py", "sample")
PROVIDER = Side("ONNX Runtime's provider", "measure_reverse.py", "cpu")
REFERENCE = Side("onnx.reference", "measure_peers.py", "onnx.reference")
TRACT = Side("tract", "measure_peers.py", "tract")  # its Python interface runs on one thread


@dataclass(frozen=True)
class Quantity:
    """One line of the output: ours against theirs."""

    name: str
    section: str
    label: str
    benchmark: str
    """What the scripts are told: a benchmark of theirs, or a model."""
    wanted: float | None = None
    threads: int = 1
    sides: tuple[Side, Side] = (OURS, THEIRS)
    unit: str = "us"
    varies: bool = True
    """Whether it is measured in rounds."""


WHEEL = Side("what is wanted", number=3.0)  # MB
START = "Start-up, dispatch and size"
OPERATORS = "One operator, float32"
MODELS = "Models"
PEERS = "Models on other engines"
GROWTH = "Growth"
LIBRARIES = "Plugin libraries: the host against ONNX Runtime"
REVERSE = "Our plugin in ONNX Runtime"

WHOLE_MODELS = {
    "mlp_b1": ("MLP 784-512-512-10, batch 1", 0.8),
    "mlp_b64": ("MLP 784-512-512-10, batch 64", 1.03),
    "cnn": ("CNN with residuals, 3x64x64", 0.6),
    "transformer": ("transformer block, 128x256", 0.97),
    "elementwise_tree": ("tree of 10 elementwise operators, 1M elements", 0.35),
}
SINGLE = {
    "matmul_512": ("MatMul 512x512x512, constant B", 1.05),
    "matmul_1024": ("MatMul 1024x1024x1024, constant B", 1.05),
    "matmul_1x1024x1024": ("MatMul 1x1024x1024, constant B", 1.0),
    "matmul_8x512x512": ("MatMul 8x512x512, constant B", 1.0),
    "conv3x3": ("Conv 3x3, 64 to 64 channels, 56x56", 0.5),
    "conv1x1": ("Conv 1x1, 256 to 256 channels, 14x14", 1.05),
    "conv_depthwise": ("Conv 3x3 depthwise, 128 channels, 28x28", 0.7),
    "conv7x7s2": ("Conv 7x7 stride 2, 3 to 64 channels, 224x224", 1.1),
    "softmax": ("Softmax 512x1024", 1.0),
    "layer_normalization": ("LayerNormalization 512x768", 0.55),
    "reduce_mean": ("ReduceMean 1024x1024, axis 1", 0.7),
    "transpose": ("Transpose 1024x1024", 0.5),
    "exp": ("Exp, 1M elements", 1.0),
    "erf": ("Erf, 1M elements", 1.0),
    "tanh": ("Tanh, 1M elements", 1.0),
    "sigmoid": ("Sigmoid, 1M elements", 0.95),
    "add": ("Add, 1M elements", 1.0),
    "add_row": ("Add of a row, 1024x1024 and 1024", 0.65),
}
LENGTHS = (10, 100, 1000, 10000)


def start_up() -> Iterator[Quantity]:
    yield Quantity("import", START, "import", "import", 0.85)
    label = "import to the first result of a tiny model"
    yield Quantity("import_and_first_run", START, label, "import_and_first_run")
    for name, label, benchmark, wanted in (
        ("first_session", "first session, of one node", "first_session", 0.2),
        ("next_session", "next session, of one node", "next_session", 0.3),
        ("session_1000_nodes", "session of 1000 nodes, per node", "session_node_1000", 0.2),
        ("run_one_node", "`run()` of one node", "run_one_node", 0.25),
        ("custom_op_node", "one more custom-operator node, which takes memory for its extents", "custom_op_node", 0.2),
    ):
        for threads in (1, 2):
            yield Quantity(f"{name}_t{threads}", START, label, benchmark, wanted, threads)
    yield Quantity("fused_node", START, "one more node of an elementwise chain", "fused_node")
    for name, label, wanted in (
        ("memory_import", "memory of a process after the import", 0.65),
        ("memory_session", "memory of a process after a tiny session ran", 0.6),
    ):
        yield Quantity(name, START, label, name, wanted, unit="MiB")
    for name, label in (("wheel_size", "wheel, compressed"), ("installed_size", "wheel, installed")):
        yield Quantity(name, START, label, name, unit="MB", varies=False)
    label = f"wheel, compressed, against {WHEEL.number:g} MB"
    yield Quantity("wheel_size_wanted", START, label, "wheel_size", 1.0, sides=(OURS, WHEEL), unit="MB", varies=False)


def runs() -> Iterator[Quantity]:
    for section, models in ((OPERATORS, SINGLE), (MODELS, WHOLE_MODELS)):
        for name, (label, wanted) in models.items():
            for threads in (1, 2):
                yield Quantity(f"{name}_t{threads}", section, label, name, wanted, threads)


def peers() -> Iterator[Quantity]:
    for peer, prefix in ((REFERENCE, "reference"), (TRACT, "tract")):
        for name, (label, _) in WHOLE_MODELS.items():
            shown = f"{label}: {peer.title}" + (", which has one thread" if peer is TRACT else "")
            for threads in (1,) if peer is TRACT else (1, 2):
                yield Quantity(f"{prefix}_{name}_t{threads}", PEERS, shown, name, None, threads, (OURS, peer))


def growth() -> Iterator[Quantity]:
    for length in LENGTHS:
        label = f"run of {length} separate nodes, per node"
        yield Quantity(f"native_node_{length}", GROWTH, label, f"native_node_{length}")
    for length in LENGTHS:
        if length != 1000:
            label = f"session of {length} nodes, per node"
            yield Quantity(f"session_{length}_nodes", GROWTH, label, f"session_node_{length}")
    for name, (_, live) in MEMORY.items():
        label = f"peak memory of a run, {name.removeprefix('large_')}"
        yield Quantity(f"peak_{name}", GROWTH, label, f"peak_{name}", unit="MiB")
        tensors = Side("the live tensors", number=float(live * TENSOR_MIB))
        label += f", against the sum of the {live} tensors of {TENSOR_MIB} MiB that live at once"
        yield Quantity(f"peak_{name}_live", GROWTH, label, f"peak_{name}", sides=(OURS, tensors), unit="MiB")
    label = "1 GiB of external weights"
    yield Quantity("external_1gib_session", GROWTH, f"{label}: session", "external_session")
    yield Quantity(
        "external_1gib_memory", GROWTH, f"{label}: memory of the session before a run", "external_memory", unit="MiB"
    )


def libraries() -> Iterator[Quantity]:
    sides = (OURS_ON_LIBRARY, THEIRS_ON_LIBRARY)
    for kind, label, wanted in (
        ("dispatch", "one more custom-operator node that hardly does anything", 0.2),
        ("ep_dispatch", "one more node on a kernel of a provider", None),
        ("partition", "one more group that a provider compiled", None),
    ):
        for elements in (1, 4):
            name = f"{kind}_{elements}"
            shown = f"{label}, {elements} element{'s' * (elements > 1)}"
            yield Quantity(name, LIBRARIES, shown, name, wanted, sides=sides)
    label = "checked mode against a normal run: custom-operator node"
    yield Quantity("dispatch_checked", LIBRARIES, label, "dispatch_4", sides=(CHECKED, OURS_ON_LIBRARY))
    label = "session of 1000 groups that a provider compiles"
    yield Quantity("partition_session", LIBRARIES, label, "partition_session", sides=sides)
    for library in ("ggml", "openvino"):
        for model, (label, _) in list(WHOLE_MODELS.items())[:-1]:
            name = f"partition_{library}_{model}"
            taken = "takes nothing of it" if f"{library}_{model}" in NOT_TAKEN else "as a provider"
            yield Quantity(name, LIBRARIES, f"{label}: {library}, {taken}", name, sides=sides)


# ggml has no GlobalAveragePool and wants what is around it as one group, which ONNX Runtime drops, and the host does so
# too when told: what is measured then is a session with the library that took nothing.
NOT_TAKEN = {"ggml_cnn"}


REVERSE_WANTED = {"mlp_b1": 1.0, "mlp_b64": 1.05, "cnn": 0.7, "transformer": 1.0, "elementwise_tree": 0.5}


def reverse() -> Iterator[Quantity]:
    sides = (COMPILED, PROVIDER)
    for name, (label, _) in WHOLE_MODELS.items():
        for threads in (1, 2):
            yield Quantity(f"reverse_{name}_t{threads}", REVERSE, label, name, REVERSE_WANTED[name], threads, sides)
    yield Quantity("reverse_chain", REVERSE, "chain of 1000 Relu", "relu_1000", 0.5, sides=sides)
    label = "one more node in kernel mode"
    for name, other in (("reverse_kernel_node", SAMPLE), ("reverse_kernel_node_cpu", PROVIDER)):
        yield Quantity(name, REVERSE, f"{label}, against {other.title}", "node", sides=(KERNELS, other))


QUANTITIES = {
    quantity.name: quantity for group in (start_up, runs, peers, growth, libraries, reverse) for quantity in group()
}


def chosen(names: list[str]) -> list[Quantity]:
    """Return the quantities with these names and those whose names begin so; of no names and of `all`, every one.

    Raises
    ------
    KeyError
        When there is nothing with a name.
    """
    found: dict[str, Quantity] = {}
    for name in names or ["all"]:
        wanted = name.replace("-", "_")
        matching = {
            one: quantity
            for one, quantity in QUANTITIES.items()
            if wanted == "all" or one == wanted or (wanted not in QUANTITIES and one.startswith(wanted))
        }
        if not matching:
            raise KeyError(name)
        found |= matching
    return list(found.values())
