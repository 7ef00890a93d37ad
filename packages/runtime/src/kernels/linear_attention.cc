// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/scratch.h"
#include "kernels/token_mixing.h"

namespace light {
namespace {

using StateTypes = TypeList<float, Float16, Bfloat16>;

/// The inputs of one run as floats, and their extents.
struct Inputs {
  const float *query, *key, *value, *decay, *beta;
  int64_t batch, steps, key_size, value_size;
  int64_t decays, betas;  ///< numbers per step
};

class LinearAttention final : public KernelBase {
 public:
  explicit LinearAttention(const KernelInfo& info)
      : scale_(info.Float("scale", 0)),
        query_heads_(info.Int("q_num_heads", 0)),
        heads_(info.Int("kv_num_heads", 0)),
        rule_(info.String("update_rule", "gated_delta")) {
    if (rule_ != "linear" && rule_ != "gated" && rule_ != "delta" && rule_ != "gated_delta")
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute update_rule: must be linear, gated, delta or gated_delta, got " + rule_);
    if (heads_ < 1 || query_heads_ < 1 || query_heads_ % heads_ != 0)
      info.Fail(ErrorCode::kInvalidGraph, "attribute q_num_heads: must be a positive multiple of kv_num_heads, got " +
                                              std::to_string(query_heads_) + " and " + std::to_string(heads_));
    gates_ = rule_ == "gated" || rule_ == "gated_delta";
    corrects_ = rule_ == "delta" || rule_ == "gated_delta";
    const auto check = [&](std::size_t i, const char* name, bool wanted) {
      if (info.HasInput(i) != wanted)
        info.Fail(ErrorCode::kInvalidGraph, InputLabel(i, name) + (wanted ? ": must" : ": must not") +
                                                " be given for update_rule " + rule_ + ", got " +
                                                (wanted ? "none" : "one"));
    };
    check(4, "decay", gates_);
    check(5, "beta", corrects_);
  }

  void Run(RuntimeContext& context) override {
    const Tensor& query = Packed(context, 0, "query", query_heads_);
    const Tensor& key = Packed(context, 1, "key", heads_);
    const Tensor& value = Packed(context, 2, "value", heads_);
    Inputs in{};
    in.batch = query.dim(0);
    in.steps = query.dim(1);
    in.key_size = query.dim(2) / query_heads_;
    in.value_size = value.dim(2) / heads_;
    if (key.dim(2) != heads_ * in.key_size)
      FailArgument(InputLabel(1, "key") + ": must have " + std::to_string(heads_ * in.key_size) +
                   " numbers a step, got " + Describe(key));
    const auto steps_agree = [&](const Tensor& tensor, std::size_t i, const char* name) {
      if (tensor.rank() != 3 || tensor.dim(0) != in.batch || tensor.dim(1) != in.steps)
        FailArgument(InputLabel(i, name) + ": must be [" + std::to_string(in.batch) + ", " + std::to_string(in.steps) +
                     ", numbers], got " + Describe(tensor));
    };
    steps_agree(key, 1, "key");
    steps_agree(value, 2, "value");
    if (gates_) {
      const Tensor& decay = Required(context, 4, "decay");
      steps_agree(decay, 4, "decay");
      in.decays = decay.dim(2);
      if (in.decays != heads_ && in.decays != heads_ * in.key_size)
        FailArgument(InputLabel(4, "decay") + ": must have a number per head or per element of a key, got " +
                     Describe(decay));
      in.decay = Widen(context, decay);
    }
    if (corrects_) {
      const Tensor& beta = Required(context, 5, "beta");
      steps_agree(beta, 5, "beta");
      in.betas = beta.dim(2);
      if (in.betas != heads_ && in.betas != 1)
        FailArgument(InputLabel(5, "beta") + ": must have one number or one per head, got " + Describe(beta));
      in.beta = Widen(context, beta);
    }
    in.query = Widen(context, query);
    in.key = Widen(context, key);
    in.value = Widen(context, value);

    const int64_t state_dims[] = {in.batch, heads_, in.key_size, in.value_size};
    const int64_t size = MultiplyExtents(in.key_size, in.value_size), lines = MultiplyExtents(in.batch, heads_);
    auto* state = Scratch<float>(context, MultiplyExtents(lines, size));
    auto* corrected = Scratch<float>(context, lines * in.value_size);
    const Tensor* past = context.Input(3);
    if (past) {
      if (!past->dims().Equals(state_dims))
        FailArgument(InputLabel(3, "past_state") + ": must be [" + std::to_string(in.batch) + ", " +
                     std::to_string(heads_) + ", " + std::to_string(in.key_size) + ", " +
                     std::to_string(in.value_size) + "], got " + Describe(*past));
      WithType(StateTypes{}, past->type(), [&](auto tag) {
        const auto* from = past->Data<typename decltype(tag)::type>();
        for (int64_t i = 0; i < lines * size; ++i) state[i] = static_cast<float>(from[i]);
      });
    } else {
      std::fill_n(state, lines * size, 0.f);
    }

    const int64_t dims[] = {in.batch, in.steps, query_heads_ * in.value_size};
    Tensor& y = context.Output(0, dims);
    WithType(StateTypes{}, y.type(), [&](auto tag) {
      auto* to = y.Data<typename decltype(tag)::type>();
      const double cost = 3 * static_cast<double>(in.steps) * static_cast<double>(size) + 50;
      context.ParallelFor(lines, cost, [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line)
          for (int64_t step = 0; step < in.steps; ++step)
            Step(in, line, step, state + line * size, corrected + line * in.value_size, to);
      });
    });
    if (!context.OutputRequested(1)) return;
    Tensor& present = context.Output(1, state_dims);
    WithType(StateTypes{}, present.type(), [&](auto tag) {
      using S = typename decltype(tag)::type;
      for (int64_t i = 0; i < lines * size; ++i) present.Data<S>()[i] = S(state[i]);
    });
  }

 private:
  /// An input [batch, steps, heads * elements].
  static const Tensor& Packed(RuntimeContext& context, std::size_t i, const char* name, int64_t heads) {
    const Tensor& tensor = Required(context, i, name);
    if (tensor.rank() != 3 || tensor.dim(2) % heads != 0)
      FailArgument(InputLabel(i, name) + ": must be [batch, steps, numbers of " + std::to_string(heads) +
                   " heads], got " + Describe(tensor));
    return tensor;
  }

  static const float* Widen(RuntimeContext& context, const Tensor& tensor) {
    if (tensor.type() == ElementType::kFloat) return tensor.Data<float>();
    auto* wide = Scratch<float>(context, tensor.element_count());
    WithType(StateTypes{}, tensor.type(), [&](auto tag) {
      const auto* from = tensor.Data<typename decltype(tag)::type>();
      for (int64_t i = 0; i < tensor.element_count(); ++i) wide[i] = static_cast<float>(from[i]);
    });
    return wide;
  }

  /// One step of one head: the state, [key element, value element], takes the value in, and the queries read it.
  template <class T>
  void Step(const Inputs& in, int64_t line, int64_t step, float* state, float* corrected, T* y) const {
    const int64_t head = line % heads_, position = line / heads_ * in.steps + step;
    const int64_t key_size = in.key_size, value_size = in.value_size;
    const float* key = in.key + (position * heads_ + head) * key_size;
    const float* value = in.value + (position * heads_ + head) * value_size;
    if (gates_) {
      const bool per_head = in.decays == heads_;
      const float* decay = in.decay + position * in.decays + (per_head ? head : head * key_size);
      for (int64_t d = 0; d < key_size; ++d) {
        const float factor = std::exp(decay[per_head ? 0 : d]);
        for (int64_t m = 0; m < value_size; ++m) state[d * value_size + m] *= factor;
      }
    }
    std::copy_n(value, value_size, corrected);
    if (corrects_) {  // only what the state does not say of this key yet
      for (int64_t d = 0; d < key_size; ++d)
        for (int64_t m = 0; m < value_size; ++m) corrected[m] -= key[d] * state[d * value_size + m];
      const float beta = in.beta[position * in.betas + (in.betas == 1 ? 0 : head)];
      for (int64_t m = 0; m < value_size; ++m) corrected[m] *= beta;
    }
    for (int64_t d = 0; d < key_size; ++d)
      for (int64_t m = 0; m < value_size; ++m) state[d * value_size + m] += key[d] * corrected[m];
    const int64_t shared = query_heads_ / heads_;
    const float scale = scale_ != 0 ? scale_ : 1 / std::sqrt(static_cast<float>(key_size));
    for (int64_t i = 0; i < shared; ++i) {
      const int64_t reader = head * shared + i;
      const float* query = in.query + (position * query_heads_ + reader) * key_size;
      float* sums = corrected;
      std::fill_n(sums, value_size, 0.f);
      for (int64_t d = 0; d < key_size; ++d)
        for (int64_t m = 0; m < value_size; ++m) sums[m] += query[d] * state[d * value_size + m];
      for (int64_t m = 0; m < value_size; ++m)
        y[(position * query_heads_ + reader) * value_size + m] = T(scale * sums[m]);
    }
  }

  float scale_;
  int64_t query_heads_, heads_;
  std::string rule_;
  bool gates_, corrects_;
};

}  // namespace

void RegisterLinearAttention(KernelRegistry& registry) {
  const TypeSet types = SetOf(StateTypes{});
  registry.RegisterKernelFn(Registration("LinearAttention", 27, 27, {{"T", types}, {"S", types}}),
                            MakeKernel<LinearAttention>);
}

}  // namespace light
