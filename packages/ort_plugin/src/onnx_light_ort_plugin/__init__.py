# SPDX-License-Identifier: Apache-2.0
"""The kernels of onnx-light-ort for ONNX Runtime.

The native library is an execution provider, which ONNX Runtime asks about each node of a model, and a library of custom
operators in the domain ``onnx_light``. Registering the custom operators replaces no standard operator: a model is
rewritten for them, see `rewrite_model`.
"""

from onnx_light_ort_plugin._version import __version__
from onnx_light_ort_plugin.operators import (
    get_ep_name,
    get_ep_names,
    get_library_path,
    list_custom_ops,
    register,
)
from onnx_light_ort_plugin.rewrite import rewrite_model

__all__ = [
    "__version__",
    "get_ep_name",
    "get_ep_names",
    "get_library_path",
    "list_custom_ops",
    "register",
    "rewrite_model",
]
