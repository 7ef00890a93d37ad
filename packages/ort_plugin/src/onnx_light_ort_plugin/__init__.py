# SPDX-License-Identifier: Apache-2.0
"""The kernels of onnx-light-ort for ONNX Runtime.

The library holds an execution provider, which ONNX Runtime asks about each node of a model.
"""

from importlib.resources import files

from onnx_light_ort_plugin._version import __version__

__all__ = ["__version__", "get_ep_name", "get_ep_names", "get_library_path", "list_custom_ops"]


def get_library_path() -> str:
    """Return the absolute path of the native library, as ONNX Runtime wants it for registration."""
    # Not __file__: in an editable install the library lies in the build directory, which only the loader knows.
    return str(files(__name__) / "libonnx_light_ort_plugin.so")


def get_ep_name() -> str:
    """Return the name of the execution provider that this package is for."""
    return "OnnxLightExecutionProvider"


def get_ep_names() -> list[str]:
    """Return the names of the execution providers in the library."""
    return [get_ep_name()]


def list_custom_ops() -> list[str]:
    """Return the custom operators that the library registers.

    Returns
    -------
    list[str]
        Empty in this version: the library registers no custom operator yet.
    """
    return []
