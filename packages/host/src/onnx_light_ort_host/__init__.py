# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX models with native plugin libraries written for ONNX Runtime, without ONNX Runtime.

The names are those of ONNX Runtime's Python package, so that a script for this subset runs under either import.
"""

from __future__ import annotations

from . import terminal

# ruff: noqa: E402
terminal.leave_when_interrupted()  # before the imports that take time

from . import absent
from ._version import __version__
from .ep_devices import OrtEpDevice, OrtHardwareDevice, OrtHardwareDeviceType
from .errors import (
    DeviceReset,
    EngineError,
    EPFail,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    ModelLoadCanceled,
    ModelLoaded,
    ModelRequiresCompilation,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,
    OrtHostError,
    RuntimeException,
)
from .library_report import (
    ArgumentReport,
    KernelReport,
    LibraryReport,
    OperatorReport,
    ProviderReport,
    RegistrationReport,
)
from .options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, SessionOptions
from .process import (
    accepted_api_versions,
    add_synthetic_hardware_device,
    checked_findings,
    checked_rules,
    enable_checked_mode,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_ep_devices,
    get_include,
    get_load_policy,
    get_version_string,
    inspect_library,
    register_execution_provider_library,
    set_default_logger_severity,
    set_load_policy,
    support_matrix,
    tested_libraries,
    unregister_execution_provider_library,
)
from .records import Finding, LoadPolicy, ModelMetadata, NodeArg, NodeAssignment, Partition, SupportRow, TestedLibrary
from .run_options import RunOptions
from .session import InferenceSession

__all__ = [
    "ArgumentReport",
    "DeviceReset",
    "EPFail",
    "EngineError",
    "ExecutionMode",
    "ExecutionOrder",
    "Fail",
    "Finding",
    "GraphOptimizationLevel",
    "InferenceSession",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "KernelReport",
    "LibraryReport",
    "LoadPolicy",
    "ModelLoadCanceled",
    "ModelLoaded",
    "ModelMetadata",
    "ModelRequiresCompilation",
    "NoModel",
    "NoSuchFile",
    "NodeArg",
    "NodeAssignment",
    "NotFound",
    "NotImplemented",
    "OperatorReport",
    "OrtEpDevice",
    "OrtHardwareDevice",
    "OrtHardwareDeviceType",
    "OrtHostError",
    "Partition",
    "ProviderReport",
    "RegistrationReport",
    "RunOptions",
    "RuntimeException",
    "SessionOptions",
    "SupportRow",
    "TestedLibrary",
    "__version__",
    "accepted_api_versions",
    "add_synthetic_hardware_device",
    "checked_findings",
    "checked_rules",
    "enable_checked_mode",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_ep_devices",
    "get_include",
    "get_load_policy",
    "get_version_string",
    "inspect_library",
    "register_execution_provider_library",
    "set_default_logger_severity",
    "set_load_policy",
    "support_matrix",
    "tested_libraries",
    "unregister_execution_provider_library",
]

__getattr__ = absent.module_attribute
