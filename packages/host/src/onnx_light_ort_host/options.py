# SPDX-License-Identifier: Apache-2.0
"""What a session is made with."""

from __future__ import annotations

from . import _host
from .errors import NotImplemented as NotImplementedByHost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class GraphOptimizationLevel:
    """Levels that scripts for ONNX Runtime set."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode:
    """Modes that scripts for ONNX Runtime set."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions(_host.SessionOptions):
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
    reference_fallback : bool
        Runs nodes of standard operators that nothing else runs through ``onnx.reference``: right, and slow. Needs the
        package ``onnx`` (the extra ``reference``) when there is such a node. True by default.
    inter_op_num_threads, log_verbosity_level, graph_optimization_level, execution_mode : int
        Accepted for scripts written for ONNX Runtime, without effect: nodes run one after another, and our rewrites
        never change what a library sees.
    enable_cpu_mem_arena, enable_mem_pattern, enable_mem_reuse : bool
        Accepted likewise, without effect.

    Notes
    -----
    Sessions keep what they need, so the object may be used for several sessions, changed in between and dropped.
    """

    __slots__ = (
        "enable_cpu_mem_arena",
        "enable_mem_pattern",
        "enable_mem_reuse",
        "execution_mode",
        "graph_optimization_level",
        "inter_op_num_threads",
        "log_verbosity_level",
    )

    def __init__(self) -> None:
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.inter_op_num_threads = 0
        self.log_verbosity_level = 0

    @property
    def enable_profiling(self) -> bool:
        """Whether a profile is written; always False in this version."""
        return False

    @enable_profiling.setter
    def enable_profiling(self, value: bool) -> None:
        if value:
            raise NotImplementedByHost("enable_profiling: profiling is not in this version, got True")

    def add_provider_for_devices(self, devices: Sequence[object], options: Mapping[str, str]) -> None:
        """Puts an execution provider before our kernels. Not in this version.

        Parameters
        ----------
        devices : sequence
            Devices of one provider, from ``get_ep_devices``.
        options : mapping of str to str
            Options of the provider.

        Raises
        ------
        NotImplemented
            Always.
        """
        raise NotImplementedByHost(
            "add_provider_for_devices: plugin EPs (profile ep_factory_device) are not in this version"
        )
