// SPDX-License-Identifier: Apache-2.0
#define LIGHT_SIMD_NAME "avx512"
#define LIGHT_SIMD_TABLE light_simd_avx512
#define LIGHT_SIMD_BYTES 64
#define LIGHT_SIMD_MR 12
#include "level.inc"
