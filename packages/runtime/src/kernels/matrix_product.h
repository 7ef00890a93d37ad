// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "kernels/element.h"
#include "kernels/held_weights.h"
#include "kernels/scratch.h"
#include "kernels/simd_dispatch.h"
#include "kernels/small_floats.h"
#include "light/kernel_info.h"
#include "light/runtime_context.h"

namespace light {

/// A matrix as it lies in memory: element (i, j) at data[i * row + j * column].
template <class T>
struct MatrixView {
  const T* data = nullptr;
  int64_t row = 0;
  int64_t column = 1;
};

/// Matrices of equal extents packed for the float product, for as long as a kernel lives.
class PackedMatrices {
 public:
  bool empty() const noexcept { return held_.empty(); }
  /// True at every other call. Few rows walk through the matrix back and forth: what the caches still have of the walk
  /// before is where the next one begins. A matrix larger than the cache would never be found in it otherwise.
  bool WalkBack(RuntimeContext& context, int64_t rows) const noexcept {
    // Several threads find their own parts in their own caches, as long as the parts come in the same order.
    if (rows > static_cast<int64_t>(Simd().mr) || context.parallel().thread_count() > 1) return false;
    const bool back = back_.load(std::memory_order_relaxed);
    back_.store(!back, std::memory_order_relaxed);  // of runs at the same time, some may walk as others do
    return back;
  }
  /// Packs `count` matrices [k, n], `pitch` elements apart.
  void Pack(MatrixView<float> b, int64_t pitch, int64_t count, int64_t k, int64_t n);
  /// Lets `pack`, which calls Pack, run for the constant argument `i`: now or at the first use, as HeldWeights does.
  void Prepare(const KernelInfo& info, std::size_t i, std::function<void()> pack) {
    held_.Make(info, i, std::move(pack));
  }

  const float* matrix(int64_t i) const {
    const auto* first = static_cast<const float*>(held_.data());  // which may set the size
    return first + i * size_;
  }

 private:
  HeldWeights held_;
  int64_t size_ = 0;
  mutable std::atomic<bool> back_{false};
};

/// Panels that a matrix of n columns is packed to.
std::size_t PanelCount(int64_t n);
/// Floats that a packed matrix [k, n] fills.
int64_t PackedSize(int64_t k, int64_t n);

/// As PackedMatrices::Pack, into scratch memory and on the threads of the run. Matrices lie PackedSize(k, n) apart.
float* PackForRun(RuntimeContext& context, MatrixView<float> b, int64_t pitch, int64_t count, int64_t k, int64_t n);

/// Computes `count` products of `m` rows; `args(i)` describes number i, and all have the extents of the first.
void RunProducts(RuntimeContext& context, int64_t count, int64_t m, FunctionRef<simd::GemmArgs(int64_t)> args);

/// C = alpha * A * B + bias for one packed B [k, n] and a dense C [m, n]; `bias` is a row, or null.
void MultiplyPacked(RuntimeContext& context, MatrixView<float> a, const float* packed, int64_t m, int64_t n, int64_t k,
                    float* c, float alpha, const float* bias);

/// C = A * B of doubles, C dense [m, n].
void MultiplyDoubles(RuntimeContext& context, MatrixView<double> a, MatrixView<double> b, int64_t m, int64_t n,
                     int64_t k, double* c);

/// C = A * B, C dense [m, n], for types without packed panels. Integers wrap.
template <class T>
void MultiplyPlain(RuntimeContext& context, MatrixView<T> a, MatrixView<T> b, int64_t m, int64_t n, int64_t k, T* c) {
  if constexpr (std::is_same_v<T, double>) {
    if (m > 2) return MultiplyDoubles(context, a, b, m, n, k, c);  // fewer rows are not worth their panels
  }
  // The low bits of a sum are those of the low bits of its terms.
  using U = std::conditional_t<!std::is_integral_v<T>, T, std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>>;
  constexpr int64_t kBlock = 128;
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  const double cost = 0.6 * static_cast<double>(k) * static_cast<double>(std::min(n, kBlock)) + 5;
  context.ParallelFor(m * blocks, cost, [&](int64_t begin, int64_t end) {
    U sums[kBlock];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t i = unit / blocks, first = unit % blocks * kBlock, width = std::min(kBlock, n - first);
      std::fill_n(sums, width, U{0});
      for (int64_t p = 0; p < k; ++p) {
        const U factor = static_cast<U>(a.data[i * a.row + p * a.column]);
        const T* line = b.data + p * b.row + first * b.column;
        if (b.column == 1) {
          for (int64_t j = 0; j < width; ++j) sums[j] += factor * static_cast<U>(line[j]);
        } else {
          for (int64_t j = 0; j < width; ++j) sums[j] += factor * static_cast<U>(line[j * b.column]);
        }
      }
      for (int64_t j = 0; j < width; ++j) c[i * n + first + j] = static_cast<T>(sums[j]);
    }
  });
}

/// Copies 16-bit floats to scratch memory as floats.
template <class T>
float* WidenForRun(RuntimeContext& context, const T* from, int64_t n) {
  auto* to = Scratch<float>(context, n);
  context.ParallelFor(n, 1, [&](int64_t begin, int64_t end) { WidenElements(from + begin, end - begin, to + begin); });
  return to;
}

/// Rounds floats to a 16-bit type.
template <class T>
void NarrowTo(RuntimeContext& context, const float* from, int64_t n, T* to) {
  context.ParallelFor(n, 1, [&](int64_t begin, int64_t end) { NarrowElements(from + begin, end - begin, to + begin); });
}

}  // namespace light
