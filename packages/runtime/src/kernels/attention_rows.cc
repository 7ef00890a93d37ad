// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/element.h"
#include "kernels/matrix_product.h"
#include "kernels/thread_scratch.h"

namespace light {
namespace {

// Queries that are computed together: fewer for many keys, so that their scores stay near.
constexpr int64_t kMostRows = 64, kLeastRows = 12, kScores = 1 << 18;
constexpr int64_t kFewRows = 2;  // so few are not worth packing the keys for

template <class C>
constexpr C kNothing = -std::numeric_limits<C>::infinity();

/// The sum of products, in as many chains as fill vectors.
template <class C>
C Dot(const C* a, const C* b, int64_t n) {
  constexpr int64_t kChains = 16;
  C sums[kChains] = {};
  int64_t i = 0;
  for (; i + kChains <= n; i += kChains)
    for (int64_t j = 0; j < kChains; ++j) sums[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  for (int64_t width = kChains / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; ++j) sums[j] += sums[j + width];
  return sums[0];
}

template <class C>
void AddScaled(C factor, const C* x, C* y, int64_t n) {
  if constexpr (std::is_same_v<C, float>) {
    Simd().axpy(factor, x, y, static_cast<std::size_t>(n));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
  }
}

template <class Small, class C>
void RoundTo(C* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<C>(static_cast<float>(Small(static_cast<float>(x[i]))));
}

/// Rounds to a type that is narrower than C.
template <class C>
void Round(ElementType type, C* x, int64_t n) {
  if (type == ElementType::kFloat16) return RoundTo<Float16>(x, n);
  if (type == ElementType::kBfloat16) return RoundTo<Bfloat16>(x, n);
  if (std::is_same_v<C, double> && type == ElementType::kFloat)
    for (int64_t i = 0; i < n; ++i) x[i] = static_cast<C>(static_cast<float>(x[i]));
}

/// exp(x - largest) / sum in type S.
template <class S, class C>
void PlainSoftmax(C* x, C largest, int64_t n) {
  S sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<S>(x[i]) - static_cast<S>(largest));
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<C>(std::exp(static_cast<S>(x[i]) - static_cast<S>(largest)) / sum);
}

/// In place. A row that sees nothing becomes zeros.
template <class C>
void Softmax(ElementType type, C* x, int64_t n) {
  C largest = kNothing<C>;
  if constexpr (std::is_same_v<C, float>) {
    largest = Simd().reduce_max(x, static_cast<std::size_t>(n));
  } else {
    for (int64_t i = 0; i < n; ++i) largest = x[i] > largest || x[i] != x[i] ? x[i] : largest;
  }
  if (largest == kNothing<C>) {
    std::fill_n(x, n, C{0});
    return;
  }
  Round(type, x, n);
  if (type == ElementType::kDouble) {
    PlainSoftmax<double>(x, largest, n);
  } else if constexpr (std::is_same_v<C, float>) {
    Simd().softmax(x, x, 1, static_cast<std::size_t>(n));
  } else {
    Round(type, &largest, 1);
    PlainSoftmax<C>(x, largest, n);
  }
  Round(type, x, n);
}

template <class C>
void Softcap(C cap, C* x, int64_t n) {
  if constexpr (std::is_same_v<C, float>) {
    const auto count = static_cast<std::size_t>(n);
    Simd().div_scalar(x, &cap, x, count);
    Simd().tanh(x, x, count);
    Simd().mul_scalar(x, &cap, x, count);
  } else {
    for (int64_t i = 0; i < n; ++i) x[i] = cap * std::tanh(x[i] / cap);
  }
}

/// Attention of some rows of one head.
template <class C>
class Rows {
 public:
  using Arguments = AttentionArguments<C>;

  /// @param keys, values  packed for the float product, all heads of keys; null: they are used where they are
  Rows(const Arguments& arguments, const float* keys, const float* values)
      : a_(arguments), keys_(keys), values_(values) {
    if (keys_) {
      key_pitch_ = PackedSize(a_.head_size, a_.keys);
      value_pitch_ = PackedSize(a_.keys, a_.value_size);
    }
  }

  void Run(int64_t b, int64_t h, int64_t begin, int64_t end, C* scores) const {
    const int64_t kh = h / (a_.heads / a_.key_heads), rows = end - begin;
    const int64_t offset = a_.valid_keys ? a_.valid_keys[b] - a_.queries : a_.offset;
    // Keys that none of the rows sees are left out, but for who wants to see all the scores.
    int64_t width = a_.keys;
    if (!a_.scores) {
      if (a_.valid_keys) width = std::min(width, a_.valid_keys[b]);
      if (a_.right >= 0) width = std::min(width, end + offset + a_.right);
      if (a_.bias) width = std::min(width, a_.bias_keys);
      width = std::max<int64_t>(width, 0);
    }
    Products(b, h, kh, begin, rows, width, scores);
    for (int64_t i = 0; i < rows; ++i) {
      C* row = scores + i * width;
      C* shown = a_.scores ? a_.scores + ((b * a_.heads + h) * a_.queries + begin + i) * a_.keys : nullptr;
      if (shown && a_.scores_mode == 0) std::copy_n(row, width, shown);
      if (a_.softcap != 0) Softcap(a_.softcap, row, width);
      if (shown && a_.scores_mode == 1) std::copy_n(row, width, shown);
      Mask(b, h, begin + i, offset, row, width);
      if (shown && a_.scores_mode == 2) std::copy_n(row, width, shown);
      Softmax(a_.softmax_type, row, width);
      if (shown && a_.scores_mode == 3) std::copy_n(row, width, shown);
    }
    Average(b, h, kh, begin, rows, width, scores);
  }

 private:
  void Products(int64_t b, int64_t h, int64_t kh, int64_t begin, int64_t rows, int64_t width, C* scores) const {
    if (width == 0) return;
    const C* q = a_.q + a_.q_layout.At(b, h) + begin * a_.q_layout.row;
    if constexpr (std::is_same_v<C, float>) {
      if (keys_) {
        const simd::SimdTable& simd = Simd();
        simd::GemmArgs args{};
        args.a = q;
        args.a_row = a_.q_layout.row;
        args.a_column = 1;
        args.b = keys_ + (b * a_.key_heads + kh) * key_pitch_;
        args.c = scores;
        args.c_row = width;
        args.n = static_cast<std::size_t>(width);
        args.k = static_cast<std::size_t>(a_.head_size);
        args.alpha = a_.scale;
        simd.gemm(&args, 0, static_cast<std::size_t>(rows), 0, (args.n + simd.nr - 1) / simd.nr);
        return;
      }
    }
    const C* k = a_.k + a_.k_layout.At(b, kh);
    for (int64_t j = 0; j < width; ++j)
      for (int64_t i = 0; i < rows; ++i)
        scores[i * width + j] = a_.scale * Dot(q + i * a_.q_layout.row, k + j * a_.k_layout.row, a_.head_size);
  }

  // Whatever the score is, a key that must not be seen is not: its score may be a NaN from memory never written.
  void Mask(int64_t b, int64_t h, int64_t query, int64_t offset, C* row, int64_t width) const {
    if (a_.bias) {
      const C* bias = a_.bias + a_.bias_layout.At(b, h) + query * a_.bias_layout.row;
      const int64_t known = std::min(width, a_.bias_keys);
      for (int64_t j = 0; j < known; ++j) row[j] = bias[j] == kNothing<C> ? kNothing<C> : row[j] + bias[j];
      std::fill(row + known, row + width, kNothing<C>);
    }
    const int64_t position = query + offset;
    int64_t first = 0, behind = width;
    if (a_.left >= 0) first = std::clamp<int64_t>(position - a_.left, 0, width);
    if (a_.right >= 0) behind = std::clamp<int64_t>(position + a_.right + 1, 0, width);
    if (a_.valid_keys) behind = std::clamp<int64_t>(behind, 0, std::max<int64_t>(a_.valid_keys[b], 0));
    std::fill(row, row + first, kNothing<C>);
    std::fill(row + behind, row + width, kNothing<C>);
  }

  void Average(int64_t b, int64_t h, int64_t kh, int64_t begin, int64_t rows, int64_t width, C* scores) const {
    C* y = a_.y + a_.y_layout.At(b, h) + begin * a_.y_layout.row;
    if constexpr (std::is_same_v<C, float>) {
      if (values_ && width > 0) {
        const simd::SimdTable& simd = Simd();
        const auto nr = static_cast<int64_t>(simd.nr);
        simd::GemmArgs args{};
        args.a = scores;
        args.a_row = width;
        args.a_column = 1;
        args.c_row = a_.y_layout.row;
        args.k = static_cast<std::size_t>(width);
        args.alpha = 1;
        // A panel at a time: they are packed for all keys, of which only the first may be needed.
        for (int64_t column = 0; column < a_.value_size; column += nr) {
          args.b = values_ + (b * a_.key_heads + kh) * value_pitch_ + column * a_.keys;
          args.c = y + column;
          args.n = static_cast<std::size_t>(std::min(nr, a_.value_size - column));
          simd.gemm(&args, 0, static_cast<std::size_t>(rows), 0, 1);
        }
        return;
      }
    }
    const C* v = a_.v + a_.v_layout.At(b, kh);
    for (int64_t i = 0; i < rows; ++i) {
      C* out = y + i * a_.y_layout.row;
      std::fill_n(out, a_.value_size, C{0});
      for (int64_t j = 0; j < width; ++j) AddScaled(scores[i * width + j], v + j * a_.v_layout.row, out, a_.value_size);
    }
  }

  const Arguments& a_;
  const float* keys_;
  const float* values_;
  int64_t key_pitch_ = 0, value_pitch_ = 0;
};

/// Packs the matrices of all heads of keys, one behind the other; `size` is that of one.
float* PackHeads(RuntimeContext& context, const AttentionArguments<float>& a, const float* data,
                 const HeadLayout& layout, bool transposed, int64_t k, int64_t n) {
  const simd::SimdTable& simd = Simd();
  const int64_t size = PackedSize(k, n), panels = k > 0 ? size / (k * static_cast<int64_t>(simd.nr)) : 0;
  auto* packed = Scratch<float>(context, a.batch * a.key_heads * size);
  const double cost = 0.4 * static_cast<double>(k) * static_cast<double>(simd.nr);
  context.ParallelFor(a.batch * a.key_heads * panels, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t head = unit / panels;
      const auto panel = static_cast<std::size_t>(unit % panels);
      simd.pack_b(data + layout.At(head / a.key_heads, head % a.key_heads), transposed ? 1 : layout.row,
                  transposed ? layout.row : 1, static_cast<std::size_t>(k), static_cast<std::size_t>(n), panel,
                  panel + 1, packed + head * size);
    }
  });
  return packed;
}

template <class C>
void Compute(RuntimeContext& context, const AttentionArguments<C>& a) {
  const float* keys = nullptr;
  const float* values = nullptr;
  if constexpr (std::is_same_v<C, float>) {
    if (a.queries > kFewRows && a.keys > 0) {
      keys = PackHeads(context, a, a.k, a.k_layout, true, a.head_size, a.keys);
      values = PackHeads(context, a, a.v, a.v_layout, false, a.keys, a.value_size);
    }
  }
  const Rows<C> rows(a, keys, values);
  const int64_t rows_for_keys = std::clamp(kScores / std::max<int64_t>(a.keys, 1), kLeastRows, kMostRows);
  const int64_t block = std::min(rows_for_keys, a.queries), blocks = (a.queries + block - 1) / block;
  ThreadScratch scratch(context, static_cast<std::size_t>(block * a.keys) * (sizeof(C) / sizeof(float)));
  const double cost = (static_cast<double>(a.head_size + a.value_size) / (keys ? 25 : 8) + 1) *
                      static_cast<double>(block) * static_cast<double>(a.keys);
  context.ParallelFor(a.batch * a.heads * blocks, cost + 20, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % blocks * block, head = unit / blocks;
      rows.Run(head / a.heads, head % a.heads, first, std::min(a.queries, first + block),
               reinterpret_cast<C*>(lease.data()));
    }
  });
}

}  // namespace

void ComputeAttention(RuntimeContext& context, const AttentionArguments<float>& arguments) {
  Compute(context, arguments);
}

void ComputeAttention(RuntimeContext& context, const AttentionArguments<double>& arguments) {
  Compute(context, arguments);
}

}  // namespace light
