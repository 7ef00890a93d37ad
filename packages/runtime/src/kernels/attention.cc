// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/attention_rows.h"
#include "kernels/families.h"
#include "kernels/matrix_product.h"
#include "kernels/moved.h"

namespace light {
namespace {

/// Extents of a query, key or value as [batch, heads, rows, size], whether it is given so or as matrices that hold the
/// heads side by side.
struct Heads {
  int64_t batch, heads, rows, size;
  bool side_by_side;
  HeadLayout layout() const noexcept {
    if (side_by_side) return {rows * heads * size, size, heads * size};
    return {heads * rows * size, rows * size, size};
  }
};

template <class C>
const C* AsType(RuntimeContext& context, const Tensor& tensor) {
  if (tensor.type() == kElementOf<C>) return tensor.Data<C>();
  return WithType(FloatTypes{}, tensor.type(), [&](auto tag) -> const C* {
    using T = typename decltype(tag)::type;
    const T* from = tensor.Data<T>();
    auto* to = Scratch<C>(context, tensor.element_count());
    context.ParallelFor(tensor.element_count(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = static_cast<C>(static_cast<ComputeType<T>>(from[i]));
    });
    return to;
  });
}

/// Where the results for a tensor are computed: in it, or in scratch memory.
template <class C>
C* RoomFor(RuntimeContext& context, Tensor& tensor) {
  return tensor.type() == kElementOf<C> ? tensor.Data<C>() : Scratch<C>(context, tensor.element_count());
}

template <class C>
void Store(RuntimeContext& context, const C* from, Tensor& tensor) {
  if (tensor.type() == kElementOf<C>) return;
  WithType(FloatTypes{}, tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = tensor.Data<T>();
    context.ParallelFor(tensor.element_count(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = T(static_cast<ComputeType<T>>(from[i]));
    });
  });
}

class Attention final : public KernelBase {
 public:
  explicit Attention(const KernelInfo& info)
      : causal_(info.Int("is_causal", 0) != 0),
        query_heads_(info.Int("q_num_heads", 0)),
        key_heads_(info.Int("kv_num_heads", 0)),
        has_scale_(info.HasAttribute("scale")),
        scale_(info.Float("scale", 0)),
        softcap_(info.Float("softcap", 0)),
        left_(info.Int("left_window_size", -1)),
        right_(info.Int("right_window_size", -1)),
        scores_mode_(info.Int("qk_matmul_output_mode", 0)),
        softmax_type_(ElementType::kUndefined) {
    if (query_heads_ < 0 || key_heads_ < 0)
      info.Fail(ErrorCode::kInvalidGraph, "attributes q_num_heads and kv_num_heads: must not be negative, got " +
                                              std::to_string(query_heads_) + " and " + std::to_string(key_heads_));
    if (left_ < -1 || right_ < -1)
      info.Fail(ErrorCode::kInvalidGraph,
                "attributes left_window_size and right_window_size: must be at least -1, got " + std::to_string(left_) +
                    " and " + std::to_string(right_));
    if (scores_mode_ < 0 || scores_mode_ > 3)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute qk_matmul_output_mode: must be 0, 1, 2 or 3, got " + std::to_string(scores_mode_));
    if (has_scale_ && !(scale_ >= 0))
      info.Fail(ErrorCode::kInvalidGraph, "attribute scale: must not be negative, got " + std::to_string(scale_));
    if (info.HasAttribute("softmax_precision")) {
      const int64_t precision = info.Int("softmax_precision", 0);
      if (precision != 1 && precision != 10 && precision != 11 && precision != 16)
        info.Fail(ErrorCode::kInvalidGraph,
                  "attribute softmax_precision: must be 1, 10, 11 or 16, got " + std::to_string(precision));
      softmax_type_ = static_cast<ElementType>(*conversions::FromOnnx(precision));
    }
    if (causal_) right_ = 0;
  }

  void Run(RuntimeContext& context) override {
    const bool wide = Required(context, 0, "Q").type() == ElementType::kDouble ||
                      Required(context, 2, "V").type() == ElementType::kDouble;
    return wide ? Compute<double>(context) : Compute<float>(context);
  }

 private:
  template <class C>
  void Compute(RuntimeContext& context) const {
    const Tensor& query = Required(context, 0, "Q");
    const Tensor* key = &Required(context, 1, "K");
    const Tensor* value = &Required(context, 2, "V");
    const Heads q = Split(query, 0, "Q", query_heads_);
    Heads k = Split(*key, 1, "K", key_heads_), v = Split(*value, 2, "V", key_heads_);
    Check(query, q, *key, k, *value, v);
    const int64_t past = ExtendCache(context, key, k, value, v);

    AttentionArguments<C> a{};
    a.batch = q.batch;
    a.heads = q.heads;
    a.key_heads = k.heads;
    a.queries = q.rows;
    a.keys = k.rows;
    a.head_size = q.size;
    a.value_size = v.size;
    a.scale = has_scale_ ? C{scale_} : 1 / std::sqrt(static_cast<C>(q.size));
    a.softcap = softcap_ > 0 ? C{softcap_} : C{0};
    a.left = left_;
    a.right = right_;
    a.offset = past;
    a.valid_keys = ValidKeys(context, context.Input(4) != nullptr, q.batch, k.rows);
    a.softmax_type = softmax_type_;
    a.scores_mode = scores_mode_;

    Heads y = q;
    y.size = v.size;
    const int64_t flat[] = {y.batch, y.rows, y.heads * y.size}, full[] = {y.batch, y.heads, y.rows, y.size};
    Tensor& out = y.side_by_side ? context.Output(0, flat) : context.Output(0, full);
    Tensor* scores = nullptr;
    if (context.OutputRequested(3)) {
      const int64_t dims[] = {q.batch, q.heads, q.rows, k.rows};
      scores = &context.Output(3, dims);
    }
    // What is left then has extents that fit in memory.
    if (out.element_count() == 0 && (!scores || scores->element_count() == 0)) return;
    AddMask(context, a);
    a.q = AsType<C>(context, query);
    a.k = AsType<C>(context, *key);
    a.v = AsType<C>(context, *value);
    a.q_layout = q.layout();
    a.k_layout = k.layout();
    a.v_layout = v.layout();
    a.y_layout = y.layout();
    a.y = RoomFor<C>(context, out);
    if (scores) a.scores = RoomFor<C>(context, *scores);
    ComputeAttention(context, a);
    Store(context, a.y, out);
    if (scores) Store(context, a.scores, *scores);
  }

  static Heads Split(const Tensor& x, std::size_t i, const char* name, int64_t heads) {
    if (x.rank() == 4) return {x.dim(0), x.dim(1), x.dim(2), x.dim(3), false};
    if (x.rank() != 3) FailArgument(InputLabel(i, name) + ": must have rank 3 or 4, got " + Describe(x));
    if (heads == 0 || x.dim(2) % heads != 0)
      FailArgument(InputLabel(i, name) + ": must have a multiple of " + (i == 0 ? "q" : "kv") +
                   "_num_heads columns, got " + Describe(x) + " with " + std::to_string(heads) + " heads");
    return {x.dim(0), heads, x.dim(1), x.dim(2) / heads, true};
  }

  static void Check(const Tensor& query, const Heads& q, const Tensor& key, const Heads& k, const Tensor& value,
                    const Heads& v) {
    if (key.rank() != query.rank() || k.batch != q.batch || k.size != q.size)
      FailArgument(InputLabel(1, "K") + ": must have the rank, the batch and the head size of Q, got " + Describe(key) +
                   " for " + Describe(query));
    if (value.rank() != query.rank() || v.batch != q.batch || v.rows != k.rows || v.heads != k.heads)
      FailArgument(InputLabel(2, "V") + ": must have the rank, the batch, the heads and the rows of K, got " +
                   Describe(value) + " for " + Describe(key));
    if (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0)
      FailArgument(InputLabel(1, "K") + ": must have a number of heads that divides that of Q, got " +
                   std::to_string(k.heads) + " and " + std::to_string(q.heads));
  }

  /// Makes the present keys and values, where they are needed, and lets `key` and `value` be them. Returns how many
  /// keys precede the first query.
  static int64_t ExtendCache(RuntimeContext& context, const Tensor*& key, Heads& k, const Tensor*& value, Heads& v) {
    const Tensor *past_key = context.Input(4), *past_value = context.Input(5);
    if ((past_key == nullptr) != (past_value == nullptr))
      FailArgument(InputLabel(past_key ? 5 : 4, past_key ? "past_value" : "past_key") +
                   ": must be given, as the other one of past_key and past_value is");
    const int64_t past = past_key && past_key->rank() == 4 ? past_key->dim(2) : 0;
    if (past_key || context.OutputRequested(1)) key = Concatenate(context, past_key, 4, "past_key", past, *key, k, 1);
    if (past_value || context.OutputRequested(2))
      value = Concatenate(context, past_value, 5, "past_value", past, *value, v, 2);
    return past;
  }

  static const Tensor* Concatenate(RuntimeContext& context, const Tensor* cache, std::size_t input, const char* name,
                                   int64_t past, const Tensor& now, Heads& heads, std::size_t output) {
    const int64_t expected[] = {heads.batch, heads.heads, past, heads.size};
    if (cache && !cache->dims().Equals(expected))
      FailArgument(InputLabel(input, name) + ": must have extents " + conversions::FormatExtents(expected) + ", got " +
                   Describe(*cache));
    int64_t total;
    if (__builtin_add_overflow(past, heads.rows, &total))
      FailArgument(InputLabel(input, name) + ": past and present keys must fit in memory, got " + std::to_string(past) +
                   " and " + std::to_string(heads.rows));
    const int64_t dims[] = {heads.batch, heads.heads, total, heads.size};
    Tensor& present = context.Output(output, dims);
    CopyHeads(context, cache, past, now, heads, present);
    heads.rows = total;
    heads.side_by_side = false;
    return &present;
  }

  static void CopyHeads(RuntimeContext& context, const Tensor* cache, int64_t past, const Tensor& now,
                        const Heads& heads, Tensor& present) {
    if (present.element_count() == 0) return;
    const HeadLayout from = heads.layout();
    const int64_t size = (past + heads.rows) * heads.size;
    WithMoved(now.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = kMoveCost<T> * static_cast<double>(size) + 5;
      context.ParallelFor(heads.batch * heads.heads, cost, [&](int64_t begin, int64_t end) {
        for (int64_t unit = begin; unit < end; ++unit) {
          T* to = present.Data<T>() + unit * size;
          if (cache) CopyRun(cache->Data<T>() + unit * past * heads.size, past * heads.size, to);
          const T* source = now.Data<T>() + from.At(unit / heads.heads, unit % heads.heads);
          for (int64_t i = 0; i < heads.rows; ++i)
            CopyRun(source + i * from.row, heads.size, to + (past + i) * heads.size);
        }
      });
    });
  }

  static const int64_t* ValidKeys(RuntimeContext& context, bool has_past, int64_t batch, int64_t keys) {
    const Tensor* lengths = context.Input(6);
    if (!lengths) return nullptr;
    if (has_past)
      FailArgument(InputLabel(6, "nonpad_kv_seqlen") + ": must not be given together with past_key and past_value");
    if (lengths->rank() != 1 || lengths->dim(0) != batch)
      FailArgument(InputLabel(6, "nonpad_kv_seqlen") + ": must be a vector of " + std::to_string(batch) + ", got " +
                   Describe(*lengths));
    for (const int64_t length : lengths->Span<int64_t>())
      if (length < 0 || length > keys)
        FailArgument(InputLabel(6, "nonpad_kv_seqlen") + ": must be in [0, " + std::to_string(keys) + "], got " +
                     std::to_string(length));
    return lengths->Data<int64_t>();
  }

  template <class C>
  static void AddMask(RuntimeContext& context, AttentionArguments<C>& a) {
    const Tensor* mask = context.Input(3);
    if (!mask) return;
    const int64_t extents[] = {a.batch, a.heads, a.queries};
    const std::size_t rank = mask->rank();
    bool fits = rank >= 1 && rank <= 4 && mask->dim(rank - 1) <= a.keys;
    int64_t pitches[3] = {}, pitch = fits ? mask->dim(rank - 1) : 0;
    for (std::size_t d = 1; fits && d < rank; ++d) {
      const int64_t extent = mask->dim(rank - 1 - d);
      fits = extent == 1 || extent == extents[3 - d];
      pitches[3 - d] = extent == 1 ? 0 : pitch;
      pitch *= extent;
    }
    if (!fits)
      FailArgument(InputLabel(3, "attn_mask") + ": must broadcast to [" + std::to_string(a.batch) + ", " +
                   std::to_string(a.heads) + ", " + std::to_string(a.queries) + ", " + std::to_string(a.keys) +
                   "], or have fewer keys, got " + Describe(*mask));
    a.bias_layout = {pitches[0], pitches[1], pitches[2]};
    a.bias_keys = mask->dim(rank - 1);
    if (mask->type() == kElementOf<C>) {
      a.bias = mask->Data<C>();
      return;
    }
    const int64_t count = mask->element_count();
    auto* bias = Scratch<C>(context, std::max<int64_t>(count, 1));
    WithType(NumberAndBoolTypes{}, mask->type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = mask->Data<T>();
      for (int64_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<T, bool>)
          bias[i] = from[i] ? C{0} : -std::numeric_limits<C>::infinity();
        else
          bias[i] = static_cast<C>(static_cast<ComputeType<T>>(from[i]));
      }
    });
    a.bias = bias;
  }

  bool causal_;
  int64_t query_heads_, key_heads_;
  bool has_scale_;
  float scale_, softcap_;
  int64_t left_, right_, scores_mode_;
  ElementType softmax_type_;
};

}  // namespace

void RegisterAttention(KernelRegistry& registry) {
  const TypeSet floats = SetOf(FloatTypes{});
  registry.RegisterKernelFn(
      Registration("Attention", 23, 25, {{"T1", floats}, {"T2", floats}, {"U", SetOf(NumberAndBoolTypes{})}}),
      MakeKernel<Attention>);
}

}  // namespace light
