// SPDX-License-Identifier: Apache-2.0
#define LIGHT_SIMD_NAME "baseline"
#define LIGHT_SIMD_TABLE light_simd_baseline
#define LIGHT_SIMD_BYTES 16
#define LIGHT_SIMD_MR 4
#include "level.inc"
