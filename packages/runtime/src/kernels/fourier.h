// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "kernels/scratch.h"
#include "kernels/thread_scratch.h"
#include "light/runtime_context.h"

namespace light {

/// The prime factors of a positive number, 4 in the place of two 2s; none if one is larger than kLargest.
class FourierFactors {
 public:
  static constexpr int kLargest = 31;

  explicit FourierFactors(int64_t n);
  std::span<const int> all() const noexcept { return {values_.data(), count_}; }

 private:
  std::array<int, 40> values_;  // 3^40 needs more than 63 bits, and of 2 there are pairs
  std::size_t count_ = 0;
};

/// The discrete Fourier transform of lines of one length, any length, in double precision. Lines are transformed a few
/// at a time, side by side, so that the processor's vectors are filled. For one run of a kernel.
class FourierTransform {
 public:
  /// @param lines  how many there will be
  /// @param inverse  the other sign in the exponent; nothing is scaled
  FourierTransform(RuntimeContext& context, int64_t length, int64_t lines, bool inverse);

  /// Calls `load(line, re, im, step)`, which writes `length` numbers `step` apart, for each line, and
  /// `store(line, re, im, step)`, which reads as many, when it is transformed.
  template <class Load, class Store>
  void Run(Load load, Store store) {
    const int64_t groups = (lines_ + lanes_ - 1) / lanes_, size = padded_ * lanes_;
    ThreadScratch scratch(context_, static_cast<std::size_t>(4 * size) * 2);
    context_.ParallelFor(groups, Cost(), [&](int64_t begin, int64_t end) {
      const ThreadScratch::Lease lease(scratch);
      auto* re = reinterpret_cast<double*>(lease.data());
      for (int64_t group = begin; group < end; ++group) {
        Planes planes{re, re + size, re + 2 * size, re + 3 * size};
        const int64_t first = group * lanes_, count = std::min(lanes_, lines_ - first);
        if (count < lanes_) std::fill_n(re, 2 * size, 0.);
        for (int64_t lane = 0; lane < count; ++lane) load(first + lane, planes.re + lane, planes.im + lane, lanes_);
        Transform(planes);
        for (int64_t lane = 0; lane < count; ++lane) store(first + lane, planes.re + lane, planes.im + lane, lanes_);
      }
    });
  }

 private:
  /// Real and imaginary parts, and as much room again.
  struct Planes {
    double *re, *im, *other_re, *other_im;
  };
  /// exp(-2 pi i t / n) for t < n.
  struct Roots {
    const double *re, *im;
    int64_t n;
  };

  Roots MakeRoots(int64_t n);
  void Transform(Planes& planes) const;
  void Stages(Planes& planes, const Roots& roots) const;
  void Chirp(Planes& planes) const;
  double Cost() const;

  RuntimeContext& context_;
  int64_t length_, lines_, lanes_;
  bool inverse_;
  bool by_chirp_ = false;   // the length has a large prime factor
  int64_t padded_;          // the length that the stages work on
  FourierFactors factors_;  // of padded_
  Roots roots_{};
  const double *chirp_re_ = nullptr, *chirp_im_ = nullptr;    // exp(-pi i t^2 / length), t < length
  const double *filter_re_ = nullptr, *filter_im_ = nullptr;  // the transform of its conjugate, scaled
};

}  // namespace light
