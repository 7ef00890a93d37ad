// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of the instruction-set libraries share.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check.h"
#include "kernels/simd_dispatch.h"

extern "C" const light::simd::SimdTable light_simd_wide;

namespace light {

inline void CheckThat(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline const std::size_t kLengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257};

inline std::mt19937& Random() {
  static std::mt19937 engine(7);
  return engine;
}

inline std::vector<float> Uniform(std::size_t n, float low, float high) {
  std::uniform_real_distribution<float> value(low, high);
  std::vector<float> result(n);
  for (float& v : result) v = value(Random());
  return result;
}

// Distance in units of the last place of the reference, where a denormal counts as the smallest normal's place.
inline double UlpError(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  if (std::isinf(static_cast<float>(want))) return got == static_cast<float>(want) ? 0 : 1e30;
  const double place = std::ldexp(1.0, std::max(std::ilogb(want == 0 ? 1e-300 : want), -126) - 23);
  return std::isfinite(got) ? std::abs(got - want) / place : 1e30;
}

/// Runs a test on every level that this machine has, and on the one of any machine.
inline void OnEveryLevel(void (*test)(const simd::SimdTable&)) {
  for (const simd::SimdTable* level : SupportedSimdLevels()) test(*level);
  test(light_simd_wide);
}

}  // namespace light
