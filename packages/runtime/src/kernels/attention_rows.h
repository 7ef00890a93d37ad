// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "light/kernel_info.h"
#include "light/runtime_context.h"

namespace light {

/// Where the rows of a head lie: row `i` of head `h` of sample `b` at b * batch + h * head + i * row.
struct HeadLayout {
  int64_t batch, head, row;
  int64_t At(int64_t b, int64_t h) const noexcept { return b * batch + h * head; }
};

/// Attention of queries to keys, elements in float or double.
template <class C>
struct AttentionArguments {
  int64_t batch, heads, key_heads, queries, keys, head_size, value_size;
  const C* q;
  const C* k;
  const C* v;
  C* y;
  HeadLayout q_layout, k_layout, v_layout, y_layout;

  C scale;
  C softcap;  ///< 0: none

  /// Added to the scores, -infinity where nothing may be seen; or null. Keys from `bias_keys` on are not seen.
  const C* bias;
  HeadLayout bias_layout;
  int64_t bias_keys;

  // A query at position p = offset + index sees the keys from p - left to p + right; -1: all on that side.
  int64_t left, right;
  int64_t offset;
  const int64_t* valid_keys;  ///< per sample, or null: keys behind are not seen, and the offset is valid - queries

  ElementType softmax_type;  ///< what the softmax is rounded to
  C* scores;                 ///< [batch, heads, queries, keys] of what `scores_mode` says, or null
  int64_t scores_mode;       ///< 0: the product, 1: behind softcap, 2: with the bias, 3: behind the softmax
};

void ComputeAttention(RuntimeContext& context, const AttentionArguments<float>& arguments);
void ComputeAttention(RuntimeContext& context, const AttentionArguments<double>& arguments);

}  // namespace light
