# SPDX-License-Identifier: Apache-2.0
"""Names of ONNX Runtime's Python package that are not in this version: using one says so, and what there is instead."""

from __future__ import annotations

from .errors import NotImplemented as NotImplementedByHost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VALUES = "values outside a run (profile ort_values) are"
BINDING = "I/O binding (profile io_binding) is"
PROFILING = "profiling is"
PLUGIN_EPS = "plugin EPs (profile ep_factory_device) are"
TUNING = "tuning of kernels is"
INITIALIZERS = "replacing initializers is"
FREE_DIMENSIONS = "fixing symbolic dimensions is"
EP_CONTEXT = "EP context data (profile ep_context) is"
SELECTION = "choosing execution providers by policy is"
DEVICES = "devices other than the CPU are"
PACKAGES = "compiling and packing models is"
ADAPTERS = "adapters (LoRA) are"

SESSION = {
    "create_ortvalue_from_shape_and_type": VALUES,
    "enable_fallback": "another attempt with other execution providers is",
    "end_profiling": PROFILING,
    "get_input_epdevices": PLUGIN_EPS,
    "get_input_memory_infos": DEVICES,
    "get_output_epdevices": PLUGIN_EPS,
    "get_output_memory_infos": DEVICES,
    "get_profiling_start_time_ns": PROFILING,
    "get_provider_graph_assignment_info": "this form of the assignments (node_assignments has them) is",
    "get_tuning_results": TUNING,
    "io_binding": BINDING,
    "release_captured_graph": "graph capture is",
    "run_async": "running in the background (run may be called from a thread of your own) is",
    "run_with_iobinding": BINDING,
    "run_with_ort_values": VALUES,
    "run_with_ortvaluevector": VALUES,
    "set_tuning_results": TUNING,
}
SESSION_OPTIONS = {
    "add_external_initializers": INITIALIZERS,
    "add_external_initializers_from_files_in_memory": INITIALIZERS,
    "add_free_dimension_override_by_denotation": FREE_DIMENSIONS,
    "add_free_dimension_override_by_name": FREE_DIMENSIONS,
    "add_initializer": INITIALIZERS,
    "add_provider": PLUGIN_EPS,
    "clear_ep_context_data_read_func": EP_CONTEXT,
    "set_ep_context_data_read_func": EP_CONTEXT,
    "set_load_cancellation_flag": "cancelling the making of a session is",
    "set_provider_selection_policy": SELECTION,
    "set_provider_selection_policy_delegate": SELECTION,
}
RUN_OPTIONS = {"add_active_adapter": ADAPTERS}
MODULE = {
    **dict.fromkeys(["IOBinding", "SessionIOBinding"], BINDING),
    **dict.fromkeys(["OrtValue", "SparseTensor", "OrtSparseFormat", "copy_tensors"], VALUES),
    **dict.fromkeys(["OrtExternalInitializerInfo"], INITIALIZERS),
    **dict.fromkeys(["OrtEpAssignedNode", "OrtEpAssignedSubgraph"], SESSION["get_provider_graph_assignment_info"]),
    **dict.fromkeys(["OrtEpContextData", "OrtEpContextDataBuffer"], EP_CONTEXT),
    **dict.fromkeys(["OrtExecutionProviderDevicePolicy"], SELECTION),
    **dict.fromkeys(
        ["OrtDevice", "OrtDeviceMemoryType", "OrtDeviceVendorId", "OrtMemType", "OrtMemoryInfo", "OrtSyncStream"],
        DEVICES,
    ),
    **dict.fromkeys(
        ["OrtAllocatorType", "OrtArenaCfg", "OrtMemoryInfoDeviceType"], "registering allocators (profile allocators) is"
    ),
    **dict.fromkeys(["create_and_register_allocator", "create_and_register_allocator_v2"], "registering allocators is"),
    **dict.fromkeys(["ModelCompiler", "ModelPackage", "ModelPackageContext", "ModelPackageOptions"], PACKAGES),
    **dict.fromkeys(["ModelPackageComponentContext", "ModelPackageWriteMode", "OrtCompileApiFlags"], PACKAGES),
    **dict.fromkeys(["AdapterFormat", "LoraAdapter"], ADAPTERS),
    "set_default_logger_callback": "handing log lines to Python is",
    "set_default_logger_verbosity": "a level of verbosity is",
    "set_global_thread_pool_sizes": "a common thread pool (sessions with the same number of threads share theirs) is",
    "set_seed": "a seed is",
}


class AbsentName(NotImplementedByHost, AttributeError):
    """A name of ONNX Runtime's package that this one lacks. ``hasattr`` and ``getattr`` with a default work."""


def sentence(name: str, what: str) -> str:
    """Says what is missing."""
    return f"{name}: {what} not in this version"


def module_attribute(name: str) -> Any:
    """Raises the error of a name that the package does not have."""
    if name in MODULE:
        raise AbsentName(sentence(name, MODULE[name]))
    raise AttributeError(f"module {__package__!r} has no attribute {name!r}")


def absent_methods(name: str, methods: Mapping[str, str]) -> type:
    """Returns a base class with methods that raise ``NotImplemented``."""

    def make(method: str, what: str) -> Any:
        def absent(self: object, *arguments: object, **options: object) -> None:
            raise NotImplementedByHost(sentence(method, what))

        absent.__name__ = method
        absent.__qualname__ = f"{name}.{method}"
        absent.__doc__ = "Not in this version: raises ``NotImplemented``."
        return absent

    return type(name, (), {"__slots__": (), **{method: make(method, what) for method, what in methods.items()}})
