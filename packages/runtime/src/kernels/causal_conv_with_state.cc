// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/token_mixing.h"

namespace light {
namespace {

class CausalConvWithState final : public KernelBase {
 public:
  explicit CausalConvWithState(const KernelInfo& info) {
    const std::string activation = info.String("activation", "none");
    if (activation != "none" && activation != "silu" && activation != "swish")
      info.Fail(ErrorCode::kInvalidGraph, "attribute activation: must be none, silu or swish, got " + activation);
    swish_ = activation != "none";
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    const Tensor& weight = Required(context, 1, "weight");
    const Tensor* bias = context.Input(2);
    const Tensor* past = context.Input(3);
    if (x.rank() != 3) FailArgument(InputLabel(0, "input") + ": must be [batch, channels, length], got " + Describe(x));
    const int64_t batch = x.dim(0), channels = x.dim(1), length = x.dim(2);
    if (weight.rank() != 3 || weight.dim(0) != channels || weight.dim(1) != 1 || weight.dim(2) < 1)
      FailArgument(InputLabel(1, "weight") + ": must be [" + std::to_string(channels) + ", 1, taps], got " +
                   Describe(weight));
    const int64_t taps = weight.dim(2), kept = taps - 1;
    if (bias && (bias->rank() != 1 || bias->dim(0) != channels))
      FailArgument(InputLabel(2, "bias") + ": must be a vector of " + std::to_string(channels) + ", got " +
                   Describe(*bias));
    const int64_t state[] = {batch, channels, kept};
    if (past && !past->dims().Equals(state))
      FailArgument(InputLabel(3, "past_state") + ": must be [" + std::to_string(batch) + ", " +
                   std::to_string(channels) + ", " + std::to_string(kept) + "], got " + Describe(*past));
    Tensor& y = context.Output(0, x.dims());
    Tensor* present = context.OutputRequested(1) ? &context.Output(1, state) : nullptr;
    WithType(TypeList<float, Float16, Bfloat16>{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = static_cast<double>(length) * (static_cast<double>(taps) + (swish_ ? 12 : 1)) + 20;
      context.ParallelFor(batch * channels, cost, [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const int64_t channel = line % channels;
          // What came before, and then the input.
          const T* before = past ? past->Data<T>() + line * kept : nullptr;
          const T* from = x.Data<T>() + line * length;
          const T* factors = weight.Data<T>() + channel * taps;
          const float start = bias ? static_cast<float>(bias->Data<T>()[channel]) : 0.f;
          for (int64_t i = 0; i < length; ++i)
            y.Data<T>()[line * length + i] = Activate<T>(Sum(before, from, factors, i, taps, start));
          if (!present) continue;
          T* to = present->Data<T>() + line * kept;
          for (int64_t i = 0; i < kept; ++i) {
            const int64_t at = length + i - kept;
            to[i] = at >= 0 ? from[at] : before ? before[at + kept] : T(0.f);
          }
        }
      });
    });
  }

 private:
  template <class T>
  static float Sum(const T* before, const T* from, const T* factors, int64_t i, int64_t taps, float sum) {
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t at = i + k - (taps - 1);
      if (at >= 0)
        sum += static_cast<float>(factors[k]) * static_cast<float>(from[at]);
      else if (before)
        sum += static_cast<float>(factors[k]) * static_cast<float>(before[at + taps - 1]);
    }
    return sum;
  }

  template <class T>
  T Activate(float sum) const {
    return T(swish_ ? sum / (1 + std::exp(-sum)) : sum);
  }

  bool swish_;
};

}  // namespace

void RegisterCausalConvWithState(KernelRegistry& registry) {
  registry.RegisterKernelFn(
      Registration("CausalConvWithState", 27, 27, {{"T", SetOf(TypeList<float, Float16, Bfloat16>{})}}),
      MakeKernel<CausalConvWithState>);
}

}  // namespace light
