// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd_dispatch.h"

#include <cstdlib>
#include <string>

#include "light/error.h"

namespace light {
namespace {

struct Level {
  const simd::SimdTable* table;
  bool supported;
};

std::vector<Level> Levels() {
  std::vector<Level> levels = {{&light_simd_baseline, true}};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  levels.push_back({&light_simd_avx2, avx2});
  levels.push_back({&light_simd_avx512, avx512});
#endif
  return levels;
}

}  // namespace

std::vector<const simd::SimdTable*> SupportedSimdLevels() {
  std::vector<const simd::SimdTable*> tables;
  for (const Level& level : Levels())
    if (level.supported) tables.push_back(level.table);
  return tables;
}

const simd::SimdTable& FindSimdLevel(std::string_view name) {
  std::string known;
  for (const Level& level : Levels()) {
    if (name == level.table->name) {
      if (level.supported) return *level.table;
      throw Error(ErrorCode::kInvalidArgument,
                  "ONNX_LIGHT_SIMD: this machine does not have the instruction set, got '" + std::string(name) + "'");
    }
    known += (known.empty() ? "" : ", ") + std::string(level.table->name);
  }
  if (name.empty()) return *SupportedSimdLevels().back();
  throw Error(ErrorCode::kInvalidArgument,
              "ONNX_LIGHT_SIMD: must be one of " + known + ", got '" + std::string(name) + "'");
}

const simd::SimdTable& Simd() {
  static const simd::SimdTable& table = [&]() -> const simd::SimdTable& {
    const char* name = std::getenv("ONNX_LIGHT_SIMD");
    return FindSimdLevel(name ? name : "");
  }();
  return table;
}

}  // namespace light
