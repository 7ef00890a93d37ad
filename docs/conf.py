# SPDX-License-Identifier: Apache-2.0
"""Configuration of Sphinx. The packages are found on PYTHONPATH, where `./dev docs` puts the built ones."""

import onnx_light_ort_host

project = "onnx-light-ort"
version = release = onnx_light_ort_host.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
exclude_patterns = ["examples"]
html_theme = "alabaster"
html_theme_options = {"page_width": "60rem", "sidebar_width": "14rem"}
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_member_order = "alphabetical"
autodoc_default_options = {"members": True, "show-inheritance": True}
nitpicky = False
