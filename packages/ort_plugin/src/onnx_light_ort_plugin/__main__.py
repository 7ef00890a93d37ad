# SPDX-License-Identifier: Apache-2.0
"""Lets ``python -m onnx_light_ort_plugin`` be the command."""

import sys

from onnx_light_ort_plugin.cli import main

if __name__ == "__main__":
    sys.exit(main())
