// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/simd_dispatch.h"
#include "kernels/small_floats.h"

namespace light {

/// A reduction by loops: over what is kept, over what is reduced, and along the innermost line, which is one or the
/// other.
struct ReducePlan {
  Dims out;
  Dims kept, kept_strides;
  Dims reduced, reduced_strides;
  int64_t line = 1;
  bool line_reduced = false;
  int64_t kept_count = 1;     ///< without the line
  int64_t reduced_count = 1;  ///< without the line

  /// True if each result is that of one line, and the lines lie one behind the other.
  bool has_rows() const noexcept {
    return line_reduced && reduced_count == 1 && (kept.rank() == 0 || (kept.rank() == 1 && kept_strides[0] == line));
  }
};

ReducePlan MakeReducePlan(const Dims& dims, const Dims& is_reduced, bool keep_dims);

/// Offset of combination `index`; the groups are stored from the inside out.
inline int64_t ReduceOffset(const Dims& extents, const Dims& strides, int64_t index) {
  int64_t offset = 0;
  for (std::size_t d = 0; d < extents.rank(); ++d) {
    offset += index % extents[d] * strides[d];
    index /= extents[d];
  }
  return offset;
}

/// The magnitude of an integer.
template <class T>
constexpr uint64_t Magnitude(T x) {
  const auto wide = static_cast<uint64_t>(x);
  return x < 0 ? 0 - wide : wide;
}

/// The number of T nearest to one that is not negative.
template <class T>
constexpr T NearestOf(uint64_t x) {
  return static_cast<T>(std::min(x, static_cast<uint64_t>(std::numeric_limits<T>::max())));
}

// A reduction is an Op of templates over the element type T: Acc<T> is what it accumulates in, Initial<T>() the value
// of no elements, Map<T>(x) that of one, Combine(a, b) joins two, and Finish<T>(value, count) makes the result. For
// float, kRow (of a row) and kLine (of two lines, element by element) name functions of the vector library that do the
// same; Row(x, n) is another way to do a row of floats. 16-bit floats are done as floats, block by block.

template <class Op, class T>
typename Op::template Acc<T> ReduceRow(const T* x, int64_t n) {
  if constexpr (std::is_same_v<T, float> && requires { Op::kRow; }) {
    return (Simd().*Op::kRow)(x, static_cast<std::size_t>(n));
  } else if constexpr (std::is_same_v<T, float> && requires { Op::Row(x, n); }) {
    return Op::Row(x, n);
  } else if constexpr (kIsSmallFloat<T>) {
    auto acc = Op::template Initial<T>();
    ForEachFloatBlock(x, n, [&](const float* block, std::size_t length) {
      acc = Op::Combine(ReduceRow<Op, float>(block, static_cast<int64_t>(length)), acc);
    });
    return acc;
  } else {
    using Acc = typename Op::template Acc<T>;
    Acc acc = Op::template Initial<T>();
    int64_t first = 0;
    if constexpr (std::is_floating_point_v<Acc>) {
      // Several chains, as one operation waits for the one before.
      constexpr int64_t kChains = 8;
      Acc chains[kChains];
      for (Acc& chain : chains) chain = acc;
      for (; first + kChains <= n; first += kChains)
        for (int64_t j = 0; j < kChains; ++j) chains[j] = Op::Combine(Op::template Map<T>(x[first + j]), chains[j]);
      for (const Acc& chain : chains) acc = Op::Combine(chain, acc);
    }
    for (int64_t i = first; i < n; ++i) acc = Op::Combine(Op::template Map<T>(x[i]), acc);
    return acc;
  }
}

template <class Op, class T>
void ReduceLines(RuntimeContext& context, const ReducePlan& plan, int64_t count, const T* from, T* to) {
  const double cost = 0.3 * static_cast<double>(plan.line * plan.reduced_count) + 5;
  if constexpr (std::is_same_v<T, float> && requires { Op::kRows; }) {
    if (plan.has_rows()) {
      context.ParallelFor(plan.kept_count, cost, [&](int64_t begin, int64_t end) {
        (Simd().*Op::kRows)(from + begin * plan.line, static_cast<std::size_t>(end - begin),
                            static_cast<std::size_t>(plan.line), to + begin);
        for (int64_t o = begin; o < end; ++o) to[o] = Op::template Finish<T>(to[o], count);
      });
      return;
    }
  }
  if constexpr (kIsSmallFloat<T>) {
    if (plan.has_rows() && plan.line < kFloatBlock) {
      const int64_t rows = kFloatBlock / plan.line;  // at once: most are too short for a call
      context.ParallelFor(plan.kept_count, cost, [&](int64_t begin, int64_t end) {
        float block[kFloatBlock];
        [[maybe_unused]] float results[kFloatBlock];
        for (int64_t o = begin; o < end; o += rows) {
          const int64_t some = std::min(rows, end - o);
          WidenElements(from + o * plan.line, some * plan.line, block);
          if constexpr (requires { Op::kRows; }) {
            (Simd().*Op::kRows)(block, static_cast<std::size_t>(some), static_cast<std::size_t>(plan.line), results);
            for (int64_t r = 0; r < some; ++r) to[o + r] = Op::template Finish<T>(results[r], count);
          } else {
            for (int64_t r = 0; r < some; ++r)
              to[o + r] = Op::template Finish<T>(ReduceRow<Op, float>(block + r * plan.line, plan.line), count);
          }
        }
      });
      return;
    }
  }
  context.ParallelFor(plan.kept_count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const T* x = from + ReduceOffset(plan.kept, plan.kept_strides, o);
      auto acc = ReduceRow<Op, T>(x, plan.line);
      for (int64_t r = 1; r < plan.reduced_count; ++r)
        acc = Op::Combine(ReduceRow<Op, T>(x + ReduceOffset(plan.reduced, plan.reduced_strides, r), plan.line), acc);
      to[o] = Op::template Finish<T>(acc, count);
    }
  });
}

template <class Op, class T>
void ReduceAcrossLines(RuntimeContext& context, const ReducePlan& plan, int64_t count, const T* from, T* to) {
  using Acc = typename Op::template Acc<T>;
  using C = ComputeType<T>;
  constexpr int64_t kBlock = kFloatBlock;
  const int64_t blocks = (plan.line + kBlock - 1) / kBlock;
  const double cost = 0.3 * static_cast<double>(std::min(kBlock, plan.line) * plan.reduced_count) + 5;
  context.ParallelFor(plan.kept_count * blocks, cost, [&](int64_t begin, int64_t end) {
    Acc acc[kBlock];
    [[maybe_unused]] float block[kIsSmallFloat<T> ? kBlock : 1];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t o = unit / blocks, first = unit % blocks * kBlock;
      const int64_t n = std::min(kBlock, plan.line - first);
      const T* x = from + ReduceOffset(plan.kept, plan.kept_strides, o) + first;
      for (int64_t i = 0; i < n; ++i) acc[i] = Op::template Initial<T>();
      for (int64_t r = 0; r < plan.reduced_count; ++r) {
        const T* from_line = x + ReduceOffset(plan.reduced, plan.reduced_strides, r);
        const C* line;
        if constexpr (kIsSmallFloat<T>) {
          WidenElements(from_line, n, block);
          line = block;
        } else {
          line = from_line;
        }
        if constexpr (std::is_same_v<C, float> && requires { Op::kLine; }) {
          (Simd().*Op::kLine)(line, acc, acc, static_cast<std::size_t>(n));
        } else {
          for (int64_t i = 0; i < n; ++i) acc[i] = Op::Combine(Op::template Map<T>(line[i]), acc[i]);
        }
      }
      T* out = to + o * plan.line + first;
      for (int64_t i = 0; i < n; ++i) out[i] = Op::template Finish<T>(acc[i], count);
    }
  });
}

template <class Op, class T>
void Reduce(RuntimeContext& context, const ReducePlan& plan, const Tensor& data, Tensor& out) {
  const int64_t results = out.element_count();
  if (results == 0) return;
  const int64_t count = data.element_count() / results;
  if (count == 0) {
    const T empty = Op::template Finish<T>(Op::template Initial<T>(), 0);
    std::fill_n(out.Data<T>(), results, empty);
  } else if (plan.line_reduced || plan.line == 1) {
    ReduceLines<Op, T>(context, plan, count, data.Data<T>(), out.Data<T>());
  } else {
    ReduceAcrossLines<Op, T>(context, plan, count, data.Data<T>(), out.Data<T>());
  }
}

using ReduceFn = void (*)(RuntimeContext&, const ReducePlan&, const Tensor&, Tensor&);

/// A reduction of its first input along axes that an attribute or, from `axes_input_since` on, the second input gives.
class ReduceKernel final : public KernelBase {
 public:
  ReduceKernel(const KernelInfo& info, ReduceFn reduce, int axes_input_since);
  void Run(RuntimeContext& context) override;

 private:
  ReduceFn reduce_;
  bool keep_dims_;
  bool noop_;
  bool from_attribute_;
  Dims axes_;
};

/// Registers the reduction for the T in `types`, versions 1 to `until`.
template <class Op, class Types>
void RegisterReduceKernel(KernelRegistry& registry, const char* op_type, int until, int axes_input_since, Types types) {
  registry.RegisterKernelFn(
      Registration(op_type, 1, until, {{"T", SetOf(types)}}), [types, axes_input_since](const KernelInfo& info) {
        return WithType(types, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
          return std::make_unique<ReduceKernel>(info, Reduce<Op, typename decltype(tag)::type>, axes_input_since);
        });
      });
}

}  // namespace light
