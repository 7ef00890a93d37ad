// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.h"
#include "kernels/recurrent.h"

namespace light {
namespace {

/// Gates i (input), o (output), f (forget), c (cell), in this order in the weights:
///   Ct = ft (.) Ct-1 + it (.) ct and Ht = ot (.) h(Ct), with peepholes of i and f to Ct-1 and of o to Ct.
class Lstm {
 public:
  static constexpr int64_t kGates = 4;
  static constexpr bool kHasCell = true;
  static std::vector<std::string> DefaultActivations() { return {"Sigmoid", "Tanh", "Tanh"}; }

  explicit Lstm(const KernelInfo& info)
      : coupled_(info.Int("input_forget", 0) != 0), recurrent_(info, 2, kGates, 0, kGates) {}

  void Check(RuntimeContext& context, const RecurrentAttributes& attributes, const RecurrentExtents& e) const {
    const int64_t d = attributes.directions;
    if (const Tensor* c = context.Input(6)) {
      const int64_t extents[] = {attributes.batch_first ? e.batch : d, attributes.batch_first ? d : e.batch, e.hidden};
      CheckRecurrentExtents(*c, 6, "initial_c", extents);
    }
    if (const Tensor* p = context.Input(7)) {
      const int64_t extents[] = {d, 3 * e.hidden};
      CheckRecurrentExtents(*p, 7, "P", extents);
    }
  }
  bool AddsRecurrentBias(int64_t) const { return true; }

  template <class C>
  struct InRun {
    const RecurrentAttributes& attributes;
    RecurrentWeights::InRun<C> weights;
    C* sums;             // [batch, 4 * hidden]
    const C* peepholes;  // [directions, 3 * hidden] of i, o, f, or null
    bool coupled;

    void Step(RecurrentStep<C>& s) const {
      weights.Multiply(s.context, s.direction, s.h, s.hidden, s.batch, sums);
      ForEachSequence(s, 16, [&](int64_t b) { Sequence(s, b); });
    }

    void Sequence(const RecurrentStep<C>& s, int64_t b) const {
      const int64_t n = s.hidden;
      C *h = s.h + b * n, *cell = s.c + b * n;
      C *input = s.gates[b], *output = input + n, *forget = output + n, *candidate = forget + n;
      for (int64_t i = 0; i < 4 * n; ++i) input[i] += sums[b * 4 * n + i];
      const C* peephole = peepholes ? peepholes + s.direction * 3 * n : nullptr;
      if (peephole) AddProduct(peephole, cell, n, input);
      Activate(s.activations[0], n, input);
      if (coupled) {
        for (int64_t i = 0; i < n; ++i) forget[i] = 1 - input[i];
      } else {
        if (peephole) AddProduct(peephole + 2 * n, cell, n, forget);
        Activate(s.activations[0], n, forget);
      }
      Activate(s.activations[1], n, candidate);
      for (int64_t i = 0; i < n; ++i) cell[i] = forget[i] * cell[i] + input[i] * candidate[i];
      if (peephole) AddProduct(peephole + n, cell, n, output);
      Activate(s.activations[0], n, output);
      std::copy_n(cell, n, h);
      Activate(s.activations[2], n, h);
      for (int64_t i = 0; i < n; ++i) h[i] *= output[i];
    }

    void Activate(const RecurrentActivation& activation, int64_t n, C* x) const {
      attributes.Clip(x, n);
      activation.Apply(x, n);
    }
    static void AddProduct(const C* a, const C* b, int64_t n, C* to) {
      for (int64_t i = 0; i < n; ++i) to[i] += a[i] * b[i];
    }
  };

  template <class C>
  InRun<C> Prepare(RuntimeContext& context, const RecurrentAttributes& attributes, const RecurrentExtents& e) const {
    const bool packed = recurrent_.is_packed() && std::is_same_v<C, float>;
    return {attributes,
            recurrent_.Prepare<C>(context, packed ? nullptr : RecurrentInput<C>(context, 2), attributes.directions,
                                  e.hidden, e.hidden),
            Scratch<C>(context, e.batch * kGates * e.hidden), RecurrentInput<C>(context, 7), coupled_};
  }

 private:
  bool coupled_;
  RecurrentWeights recurrent_;
};

}  // namespace

void RegisterLstm(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("LSTM", 1, 22, {{"T", SetOf(FloatTypes{})}}),
                            MakeKernel<RecurrentKernel<Lstm>>);
}

}  // namespace light
