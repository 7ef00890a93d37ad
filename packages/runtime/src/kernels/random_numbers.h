// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "light/kernel_info.h"
#include "light/kernel_registry.h"

namespace light {

/// Random numbers, those of numpy.random.RandomState(seed).
class RandomNumbers {
 public:
  explicit RandomNumbers(uint32_t seed) : bits_(seed) {}

  /// In [0, 1).
  double Uniform() {
    const auto high = static_cast<double>(bits_() >> 5), low = static_cast<double>(bits_() >> 6);
    return (high * 0x1p26 + low) / 0x1p53;
  }

  /// Of mean 0 and deviation 1: two at a time, by the polar method.
  double Normal() {
    if (has_other_) {
      has_other_ = false;
      return other_;
    }
    double x, y, square;
    do {
      x = 2 * Uniform() - 1;
      y = 2 * Uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    other_ = factor * x;
    has_other_ = true;
    return factor * y;
  }

 private:
  std::mt19937 bits_;
  bool has_other_ = false;
  double other_ = 0;
};

/// The attribute `seed` of an operator that draws numbers.
class Seed {
 public:
  explicit Seed(const KernelInfo& info) : given_(info.HasAttribute("seed") && !std::isnan(info.Float("seed", 0))) {
    const float seed = info.Float("seed", 0);
    if (!given_) return;
    // Of a fraction the whole part counts.
    if (!(seed > -1 && seed < 0x1p32f))
      info.Fail(ErrorCode::kInvalidGraph, "attribute seed: must lie in [0, 2^32), got " + std::to_string(seed));
    seed_ = static_cast<uint32_t>(seed);
  }

  /// The same numbers in each run if there is a seed, else others.
  RandomNumbers Start() const { return RandomNumbers(given_ ? seed_ : std::random_device()()); }

 private:
  bool given_;
  uint32_t seed_ = 0;
};

// Operators that draw random numbers; NativeKernels() calls them all.
[[gnu::cold]] void RegisterBernoulli(KernelRegistry& registry);
[[gnu::cold]] void RegisterMultinomial(KernelRegistry& registry);
[[gnu::cold]] void RegisterRandom(KernelRegistry& registry);

}  // namespace light
