// SPDX-License-Identifier: Apache-2.0
// Layers over sequences: RNN, GRU, LSTM, Attention, TensorScatter.
#include "infer/hooks.h"

namespace light {
namespace {

void InferRecurrent(InferenceContext& context) {
  const Shape &x = InputShape(context, 0), &r = InputShape(context, 2);
  if (x.rank() != 3) return;
  const bool batch_first = context.Int("layout", 0) != 0;
  const Dim steps = x[batch_first ? 1 : 0], batch = x[batch_first ? 0 : 1];
  const Dim directions(StringAttribute(context, "direction") == "bidirectional" ? 2 : 1);
  Dim hidden;
  if (const int64_t given = context.Int("hidden_size", 0); given > 0)
    hidden = Dim(given);
  else if (r.rank() == 3)
    hidden = r[2];
  context.SetOutputShape(
      0, batch_first ? Shape({batch, steps, directions, hidden}) : Shape({steps, directions, batch, hidden}));
  for (std::size_t i = 1; i < context.output_count(); ++i)
    context.SetOutputShape(i, batch_first ? Shape({batch, directions, hidden}) : Shape({directions, batch, hidden}));
}

Dim Quotient(const Dim& extent, int64_t divisor) {
  return extent.is_known() && divisor > 0 && extent.extent() % divisor == 0 ? Dim(extent.extent() / divisor) : Dim();
}

void InferAttention(InferenceContext& context) {
  const Shape &q = InputShape(context, 0), &k = InputShape(context, 1), &v = InputShape(context, 2);
  if ((q.rank() != 3 && q.rank() != 4) || k.rank() != q.rank() || v.rank() != q.rank()) return;
  const bool flat = q.rank() == 3;
  const int64_t heads = context.Int("q_num_heads", 0), key_heads = context.Int("kv_num_heads", 0);
  const Dim rows = q[flat ? 1 : 2], size = flat ? Quotient(v[2], key_heads) : v[3];
  context.SetOutputShape(0, flat ? Shape({q[0], rows, size.is_known() ? Dim(size.extent() * heads) : Dim()})
                                 : Shape({q[0], q[1], rows, size}));
  Dim keys = k[flat ? 1 : 2];
  if (context.Input(4) != nullptr) {
    const Shape& past = InputShape(context, 4);
    keys = past.rank() == 4 ? Sum(context, past[2], keys) : Dim();
  }
  const Dim of_keys = flat ? (key_heads > 0 ? Dim(key_heads) : Dim()) : k[1];
  context.SetOutputShape(1, Shape({q[0], of_keys, keys, flat ? Quotient(k[2], key_heads) : k[3]}));
  context.SetOutputShape(2, Shape({q[0], of_keys, keys, size}));
  context.SetOutputShape(3, Shape({q[0], flat ? (heads > 0 ? Dim(heads) : Dim()) : q[1], rows, keys}));
}

constexpr InferenceHook kHooks[] = {
    {"Attention", InferAttention}, {"GRU", InferRecurrent},      {"LSTM", InferRecurrent},
    {"RNN", InferRecurrent},       {"TensorScatter", KeepShape},
};

}  // namespace

std::span<const InferenceHook> RecurrentHooks() { return kHooks; }

}  // namespace light
