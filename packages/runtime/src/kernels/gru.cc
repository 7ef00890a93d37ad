// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.h"
#include "kernels/recurrent.h"

namespace light {
namespace {

/// Gates z (update), r (reset), h (hidden):
///   Ht = (1 - zt) (.) ht + zt (.) Ht-1, with the reset before or behind the recurrent product of ht.
class Gru {
 public:
  static constexpr int64_t kGates = 3;
  static constexpr bool kHasCell = false;
  static std::vector<std::string> DefaultActivations() { return {"Sigmoid", "Tanh"}; }

  explicit Gru(const KernelInfo& info)
      : linear_before_reset_(info.Int("linear_before_reset", 0) != 0),
        update_and_reset_(info, 2, kGates, 0, 2),
        hidden_(info, 2, kGates, 2, 1) {}

  void Check(RuntimeContext&, const RecurrentAttributes&, const RecurrentExtents&) const {}
  bool AddsRecurrentBias(int64_t gate) const { return gate < 2 || !linear_before_reset_; }

  template <class C>
  struct InRun {
    const RecurrentAttributes& attributes;
    RecurrentWeights::InRun<C> update_and_reset, hidden;
    C* sums;         // [batch, 2 * hidden]
    C* hidden_sums;  // [batch, hidden]
    C* reset;        // [batch, hidden]: rt (.) Ht-1
    const C* bias;   // of all gates, or null
    bool linear;

    void Step(RecurrentStep<C>& s) const {
      const int64_t n = s.hidden;
      update_and_reset.Multiply(s.context, s.direction, s.h, n, s.batch, sums);
      if (linear) hidden.Multiply(s.context, s.direction, s.h, n, s.batch, hidden_sums);
      ForEachSequence(s, 8, [&](int64_t b) {
        C* gates = s.gates[b];
        for (int64_t i = 0; i < 2 * n; ++i) gates[i] += sums[b * 2 * n + i];
        attributes.Clip(gates, 2 * n);
        s.activations[0].Apply(gates, 2 * n);
        if (!linear)
          for (int64_t i = 0; i < n; ++i) reset[b * n + i] = gates[n + i] * s.h[b * n + i];
      });
      if (!linear) hidden.Multiply(s.context, s.direction, reset, n, s.batch, hidden_sums);
      const C* recurrent_bias = bias ? bias + (s.direction * 2 * kGates + kGates + 2) * n : nullptr;
      ForEachSequence(s, 8, [&](int64_t b) {
        const C* gates = s.gates[b];
        C* candidate = s.gates[b] + 2 * n;
        const C* sum = hidden_sums + b * n;
        for (int64_t i = 0; i < n; ++i)
          candidate[i] += linear ? gates[n + i] * (sum[i] + (recurrent_bias ? recurrent_bias[i] : C{0})) : sum[i];
        attributes.Clip(candidate, n);
        s.activations[1].Apply(candidate, n);
        C* h = s.h + b * n;
        for (int64_t i = 0; i < n; ++i) h[i] = (1 - gates[i]) * candidate[i] + gates[i] * h[i];
      });
    }
  };

  template <class C>
  InRun<C> Prepare(RuntimeContext& context, const RecurrentAttributes& attributes, const RecurrentExtents& e) const {
    const bool packed = hidden_.is_packed() && std::is_same_v<C, float>;
    const C* weights = packed ? nullptr : RecurrentInput<C>(context, 2);
    auto* reset = Scratch<C>(context, e.batch * e.hidden);
    std::fill_n(reset, e.batch * e.hidden, C{0});  // rows of sequences that have ended are multiplied, too
    return {attributes,
            update_and_reset_.Prepare<C>(context, weights, attributes.directions, e.hidden, e.hidden),
            hidden_.Prepare<C>(context, weights, attributes.directions, e.hidden, e.hidden),
            Scratch<C>(context, e.batch * 2 * e.hidden),
            Scratch<C>(context, e.batch * e.hidden),
            reset,
            linear_before_reset_ ? RecurrentInput<C>(context, 3) : nullptr,
            linear_before_reset_};
  }

 private:
  bool linear_before_reset_;
  RecurrentWeights update_and_reset_, hidden_;
};

}  // namespace

void RegisterGru(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("GRU", 1, 22, {{"T", SetOf(FloatTypes{})}}), MakeKernel<RecurrentKernel<Gru>>);
}

}  // namespace light
