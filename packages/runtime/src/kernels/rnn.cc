// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.h"
#include "kernels/recurrent.h"

namespace light {
namespace {

/// Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)
class Rnn {
 public:
  static constexpr int64_t kGates = 1;
  static constexpr bool kHasCell = false;
  static std::vector<std::string> DefaultActivations() { return {"Tanh"}; }

  explicit Rnn(const KernelInfo& info) : recurrent_(info, 2, kGates, 0, kGates) {}

  void Check(RuntimeContext&, const RecurrentAttributes&, const RecurrentExtents&) const {}
  bool AddsRecurrentBias(int64_t) const { return true; }

  template <class C>
  struct InRun {
    const RecurrentAttributes& attributes;
    RecurrentWeights::InRun<C> weights;
    C* sums;  // [batch, hidden]

    void Step(RecurrentStep<C>& s) const {
      weights.Multiply(s.context, s.direction, s.h, s.hidden, s.batch, sums);
      ForEachSequence(s, 4, [&](int64_t b) {
        C* h = s.h + b * s.hidden;
        for (int64_t i = 0; i < s.hidden; ++i) h[i] = s.gates[b][i] + sums[b * s.hidden + i];
        attributes.Clip(h, s.hidden);
        s.activations[0].Apply(h, s.hidden);
      });
    }
  };

  template <class C>
  InRun<C> Prepare(RuntimeContext& context, const RecurrentAttributes& attributes, const RecurrentExtents& e) const {
    const bool packed = recurrent_.is_packed() && std::is_same_v<C, float>;
    return {attributes,
            recurrent_.Prepare<C>(context, packed ? nullptr : RecurrentInput<C>(context, 2), attributes.directions,
                                  e.hidden, e.hidden),
            Scratch<C>(context, e.batch * e.hidden)};
  }

 private:
  RecurrentWeights recurrent_;
};

}  // namespace

void RegisterRnn(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("RNN", 1, 22, {{"T", SetOf(FloatTypes{})}}), MakeKernel<RecurrentKernel<Rnn>>);
}

}  // namespace light
