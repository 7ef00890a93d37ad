# SPDX-License-Identifier: Apache-2.0
"""What a session is made with."""

from __future__ import annotations

from . import _host
from .absent import PROFILING, SESSION_OPTIONS, absent_methods, sentence
from .arguments import Option, flag, integer_within, one_of, text
from .errors import NotImplemented as NotImplementedByHost
from .providers import add_provider

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .ep_devices import OrtEpDevice


class GraphOptimizationLevel:
    """Whether nodes of our own kernels may run together: not at ``ORT_DISABLE_ALL``, at all other levels alike."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode:
    """Modes that scripts for ONNX Runtime set."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder:
    """Orders that scripts for ONNX Runtime set."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


def no_profiling(name: str, value: object) -> bool:
    """Returns False; True is not in this version."""
    if flag(name, value):
        raise NotImplementedByHost(f"{sentence(name, PROFILING)}, got True")
    return False


def no_saving(name: str, value: object) -> str:
    """Returns no path; another one is not in this version."""
    if text(name, value):
        raise NotImplementedByHost(f"{sentence(name, 'saving the model as it was rewritten is')}, got {value!r}")
    return ""


class SessionOptions(_host.SessionOptions, absent_methods("AbsentSessionOptions", SESSION_OPTIONS)):  # type: ignore[misc]
    """What a session is made with.

    Attributes
    ----------
    intra_op_num_threads : int
        Threads of the session; 0 means one per physical core.
    log_severity_level : int
        0 verbose to 4 fatal; -1 is the default logger's level.
    logid : str
        Shown in log lines of the session.
    memory_limit_bytes : int or None
        Most bytes that the session and its libraries may hold at once in a run; None means no limit.
    allow_onnx_domain_override : bool
        Lets custom ops in the ONNX domain replace our kernels, in sessions made with these options.
    broken_groups : str
        What becomes of a group of nodes that an execution provider wants to run as one step and that depends on itself
        through other nodes or groups, or shares nodes with a group before it: ``refuse`` fails the session and names
        the path or the nodes; ``split`` gives it the parts that can run; ``drop`` gives it none of them (ONNX Runtime
        drops all that the provider wants of the graph). ``auto``, the default, is what `tested_libraries` says of the
        provider's library, else ``refuse``.
    strict_layout : bool
        Refuses an execution provider that prefers another data layout than the model's; otherwise it is offered the
        model's all the same. False by default.
    reference_fallback : bool
        Runs nodes of standard operators that nothing else runs through ``onnx.reference``: right, and slow. Needs the
        package ``onnx`` (the extra ``reference``) when there is such a node. True by default.
    winograd : bool
        Computes 3 x 3 convolutions of stride 1 with constant weights by Winograd's transform where that is faster: in
        less than half the time, with errors of up to about 3e-6 of the largest output instead of less than 1e-6. True
        by default.
    graph_optimization_level : int
        ``ORT_DISABLE_ALL`` runs every node by itself; every other level lets neighbouring nodes of our own kernels run
        as one step. A library sees the model's nodes at every level. ``ORT_ENABLE_ALL`` by default.
    inter_op_num_threads, log_verbosity_level, execution_mode, execution_order : int
        Accepted for scripts written for ONNX Runtime, without effect: nodes run one after another.
    enable_cpu_mem_arena, enable_mem_pattern, enable_mem_reuse, use_per_session_threads : bool
        Accepted likewise, without effect.
    use_deterministic_compute : bool
        Accepted likewise, without effect: our kernels add up in an order that does not depend on timing.
    enable_profiling : bool
        Whether a profile is written; only False is in this version.
    profile_file_prefix : str
        Where it would be written.
    optimized_model_filepath : str
        Where the rewritten model is saved; only the empty path is in this version.

    Notes
    -----
    Sessions keep what they need, so the object may be used for several sessions, changed in between and dropped.
    """

    __slots__ = ("_values",)

    enable_cpu_mem_arena = Option(flag, True)
    enable_mem_pattern = Option(flag, True)
    enable_mem_reuse = Option(flag, True)
    enable_profiling = Option(no_profiling, False)
    execution_mode = Option(one_of(0, 1), ExecutionMode.ORT_SEQUENTIAL)
    execution_order = Option(one_of(0, 1, 2), ExecutionOrder.DEFAULT)
    inter_op_num_threads = Option(integer_within(0, _host.MAX_THREADS), 0)
    log_verbosity_level = Option(integer_within(0, 2**31 - 1), 0)
    optimized_model_filepath = Option(no_saving, "")
    profile_file_prefix = Option(text, "onnxruntime_profile_")
    use_deterministic_compute = Option(flag, False)
    use_per_session_threads = Option(flag, True)

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def add_provider_for_devices(self, devices: Sequence[OrtEpDevice], provider_options: Mapping[str, str]) -> None:
        """Puts an execution provider behind those that were added before, and before our kernels.

        Parameters
        ----------
        devices : sequence of OrtEpDevice
            Devices of one provider, from `get_ep_devices`.
        provider_options : mapping of str to str
            Options of the provider. It finds them as session config entries ``ep.<its name in lower case>.<key>``.

        Raises
        ------
        InvalidArgument
            If there are no devices, they belong to several providers, or their library is not registered any more.
        Fail
            If a provider of that name was added before, or the library breaks a rule.
        TypeError
            If an argument has another type.
        """
        add_provider(self, devices, provider_options)
