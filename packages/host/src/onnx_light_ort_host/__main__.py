# SPDX-License-Identifier: Apache-2.0
"""``python -m onnx_light_ort_host``."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
