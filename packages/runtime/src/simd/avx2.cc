// SPDX-License-Identifier: Apache-2.0
#define LIGHT_SIMD_NAME "avx2"
#define LIGHT_SIMD_TABLE light_simd_avx2
#define LIGHT_SIMD_BYTES 32
#define LIGHT_SIMD_MR 6
#include "level.inc"
