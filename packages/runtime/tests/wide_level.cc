// SPDX-License-Identifier: Apache-2.0
// The source of the AVX-512 level with its width and tile, compiled for any machine: its logic is tested even where
// the instruction set is missing.
#pragma GCC diagnostic ignored "-Wpsabi"
#include "simd/simd.h"
extern "C" const light::simd::SimdTable light_simd_wide;
#define LIGHT_SIMD_NAME "wide"
#define LIGHT_SIMD_TABLE light_simd_wide
#define LIGHT_SIMD_BYTES 64
#define LIGHT_SIMD_MR 12
#include "simd/level.inc"
