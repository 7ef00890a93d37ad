// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/arguments.h"
#include "kernels/matrix_product.h"

namespace light {

// What RNN, GRU and LSTM have in common.

/// A function of the gates, with its parameters.
struct RecurrentActivation {
  enum class Kind : uint8_t {
    kAffine,
    kElu,
    kHardSigmoid,
    kLeakyRelu,
    kRelu,
    kScaledTanh,
    kSigmoid,
    kSoftplus,
    kSoftsign,
    kTanh,
    kThresholdedRelu,
  };
  Kind kind;
  float alpha;
  float beta;

  /// In place.
  void Apply(float* x, int64_t n) const;
  void Apply(double* x, int64_t n) const;
};

/// The attributes that all have. Throws Error if one is wrong.
struct RecurrentAttributes {
  /// @param defaults  the functions of one direction
  RecurrentAttributes(const KernelInfo& info, const std::vector<std::string>& defaults);

  int64_t directions;
  bool first_is_reverse;
  bool batch_first;
  bool has_clip;
  float clip;
  int64_t hidden_size;                           ///< 0: as the weights say
  std::vector<RecurrentActivation> activations;  ///< [direction][function]

  template <class C>
  void Clip(C* x, int64_t n) const {
    if (!has_clip) return;
    const C limit = clip;
    for (int64_t i = 0; i < n; ++i) x[i] = x[i] > limit ? limit : x[i] < -limit ? -limit : x[i];
  }
};

struct RecurrentExtents {
  int64_t steps, batch, input, hidden;
};

/// Checks the inputs X, W, R, B, sequence_lens and initial_h.
RecurrentExtents CheckRecurrentInputs(RuntimeContext& context, const RecurrentAttributes& attributes, int64_t gates);

/// Checks an optional input that holds a vector or a matrix per direction.
void CheckRecurrentExtents(const Tensor& tensor, std::size_t i, const char* name, std::span<const int64_t> extents);

/// Weights [directions, rows, k] of a layer, of which a product takes the rows [first, first + n), transposed. Constant
/// ones are packed once.
class RecurrentWeights {
 public:
  RecurrentWeights(const KernelInfo& info, std::size_t input, int64_t gates, int64_t first_gate, int64_t gate_count);

  /// The weights in one run.
  template <class C>
  struct InRun {
    const C* data;  ///< packed if float
    int64_t k, n;
    int64_t pitch;  ///< between directions

    /// c[m, n] = a * weights of a direction; `bias` [n] or null.
    void Multiply(RuntimeContext& context, int64_t direction, const C* a, int64_t a_row, int64_t m, C* c,
                  const C* bias = nullptr) const {
      const C* b = data + direction * pitch;
      if (m == 0 || n == 0) return;
      if constexpr (std::is_same_v<C, float>) {
        MultiplyPacked(context, {a, a_row, 1}, b, m, n, k, c, 1.f, bias);
      } else {
        MultiplyPlain<C>(context, {a, a_row, 1}, {b, 1, k}, m, n, k, c);
        for (int64_t i = 0; bias && i < m * n; ++i) c[i] += bias[i % n];
      }
    }
  };

  /// @param weights  the argument as C
  template <class C>
  InRun<C> Prepare(RuntimeContext& context, const C* weights, int64_t directions, int64_t hidden, int64_t k) const {
    const int64_t n = gate_count_ * hidden, pitch = gates_ * hidden * k;
    const C* first = weights ? weights + first_gate_ * hidden * k : nullptr;
    if constexpr (std::is_same_v<C, float>) {
      if (!packed_.empty()) return {packed_.matrix(0), k, n, PackedSize(k, n)};
      return {PackForRun(context, {first, 1, k}, pitch, directions, k, n), k, n, PackedSize(k, n)};
    } else {
      return {first, k, n, pitch};
    }
  }
  bool is_packed() const noexcept { return !packed_.empty(); }

 private:
  int64_t gates_, first_gate_, gate_count_;
  PackedMatrices packed_;
};

/// An argument as C, widened into scratch memory if it has another type; null if it is omitted.
template <class C>
const C* RecurrentInput(RuntimeContext& context, std::size_t i) {
  const Tensor* tensor = context.Input(i);
  if (!tensor) return nullptr;
  if (tensor->type() == kElementOf<C>) return tensor->Data<C>();
  if constexpr (std::is_same_v<C, float>) {
    if (tensor->type() == ElementType::kFloat16)
      return WidenForRun(context, tensor->Data<Float16>(), tensor->element_count());
    return WidenForRun(context, tensor->Data<Bfloat16>(), tensor->element_count());
  } else {
    return nullptr;
  }
}

/// One step of one direction, for all sequences that have not ended.
template <class C>
struct RecurrentStep {
  RuntimeContext& context;
  int64_t batch, hidden, direction;
  const RecurrentActivation* activations;  ///< of the direction
  C* h;                                    ///< [batch, hidden], before the step and after it
  C* c;                                    ///< LSTM's cells
  C* const* gates;  ///< per sequence the products of the input with the biases; null where the sequence has ended
};

/// Runs `Layer`, which has
///   kGates, kHasCell, its part of the inputs and of the step:
///   `Prepare<C>(context, extents)`, which returns what it keeps for a run, with `Step(RecurrentStep<C>&)`;
///   `AddsRecurrentBias(gate)`: whether the bias of the recurrent product may be added with that of the input.
template <class Layer>
class RecurrentKernel final : public KernelBase {
 public:
  explicit RecurrentKernel(const KernelInfo& info)
      : attributes_(info, Layer::DefaultActivations()),
        inputs_(info, 1, Layer::kGates, 0, Layer::kGates),
        layer_(info) {}

  void Run(RuntimeContext& context) override {
    const RecurrentExtents e = CheckRecurrentInputs(context, attributes_, Layer::kGates);
    layer_.Check(context, attributes_, e);
    WithType(FloatTypes{}, Required(context, 0, "X").type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      Compute<T>(context, e);
    });
  }

 private:
  // Rows of an output tensor [directions, batch, hidden], or [batch, directions, hidden].
  int64_t StateRow(const RecurrentExtents& e, int64_t direction, int64_t b) const {
    return attributes_.batch_first ? b * attributes_.directions + direction : direction * e.batch + b;
  }
  int64_t OutputRow(const RecurrentExtents& e, int64_t t, int64_t direction, int64_t b) const {
    return attributes_.batch_first ? (b * e.steps + t) * attributes_.directions + direction
                                   : (t * attributes_.directions + direction) * e.batch + b;
  }

  template <class T>
  Tensor& StateOutput(RuntimeContext& context, std::size_t i, const RecurrentExtents& e) const {
    const int64_t d = attributes_.directions;
    const int64_t dims[] = {attributes_.batch_first ? e.batch : d, attributes_.batch_first ? d : e.batch, e.hidden};
    return context.Output(i, dims);
  }

  template <class T>
  void Compute(RuntimeContext& context, const RecurrentExtents& e) const {
    using C = ComputeType<T>;
    const int64_t directions = attributes_.directions, wide = Layer::kGates * e.hidden;
    const auto* lengths = context.Input(4) ? context.Input(4)->Data<int32_t>() : nullptr;
    T* y = nullptr;
    if (context.OutputRequested(0)) {
      const int64_t by_time[] = {e.steps, directions, e.batch, e.hidden};
      const int64_t by_batch[] = {e.batch, e.steps, directions, e.hidden};
      Tensor& out = attributes_.batch_first ? context.Output(0, by_batch) : context.Output(0, by_time);
      y = out.Data<T>();
      if (lengths) std::fill_n(y, out.element_count(), T(C{0}));  // behind the end of a sequence
    }
    T* last_h = context.OutputRequested(1) ? StateOutput<T>(context, 1, e).template Data<T>() : nullptr;
    T* last_c = nullptr;
    if (Layer::kHasCell && context.OutputRequested(2)) last_c = StateOutput<T>(context, 2, e).template Data<T>();
    if (e.batch == 0 || e.hidden == 0) return;

    const C* x = RecurrentInput<C>(context, 0);
    const C* biases = RecurrentInput<C>(context, 3);
    const C* first_h = RecurrentInput<C>(context, 5);
    const C* first_c = Layer::kHasCell ? RecurrentInput<C>(context, 6) : nullptr;
    const auto weights = inputs_.template Prepare<C>(
        context, inputs_.is_packed() && std::is_same_v<C, float> ? nullptr : RecurrentInput<C>(context, 1), directions,
        e.hidden, e.input);
    const auto layer = layer_.template Prepare<C>(context, attributes_, e);
    const int64_t rows = MultiplyExtents(e.steps, e.batch);
    auto* products = Scratch<C>(context, MultiplyExtents(rows, wide));
    auto* bias = Scratch<C>(context, wide);
    auto* h = Scratch<C>(context, e.batch * e.hidden);
    auto* c = Layer::kHasCell ? Scratch<C>(context, e.batch * e.hidden) : nullptr;
    auto* gates = Scratch<C*>(context, e.batch);

    for (int64_t d = 0; d < directions; ++d) {
      const bool reverse = d == 1 || attributes_.first_is_reverse;
      if (biases) AddBiases(biases + d * 2 * wide, e.hidden, bias);
      weights.Multiply(context, d, x, e.input, rows, products, biases ? bias : nullptr);
      for (int64_t b = 0; b < e.batch; ++b) {
        const int64_t row = StateRow(e, d, b) * e.hidden;
        SetState(first_h ? first_h + row : nullptr, e.hidden, h + b * e.hidden);
        if (c) SetState(first_c ? first_c + row : nullptr, e.hidden, c + b * e.hidden);
      }
      const std::size_t functions = attributes_.activations.size() / static_cast<std::size_t>(directions);
      RecurrentStep<C> step{
          context, e.batch, e.hidden, d, attributes_.activations.data() + static_cast<std::size_t>(d) * functions,
          h,       c,       gates};
      for (int64_t s = 0; s < e.steps; ++s) {
        const auto time = [&](int64_t b) {
          const int64_t length = lengths ? lengths[b] : e.steps;
          return s >= length ? -1 : reverse ? length - 1 - s : s;
        };
        bool any = false;
        for (int64_t b = 0; b < e.batch; ++b) {
          const int64_t t = time(b), row = attributes_.batch_first ? b * e.steps + t : t * e.batch + b;
          gates[b] = t < 0 ? nullptr : products + row * wide;
          any |= t >= 0;
        }
        if (!any) break;
        layer.Step(step);
        for (int64_t b = 0; y && b < e.batch; ++b)
          if (const int64_t t = time(b); t >= 0)
            StoreRow(h + b * e.hidden, e.hidden, y + OutputRow(e, t, d, b) * e.hidden);
      }
      for (int64_t b = 0; b < e.batch; ++b) {
        const int64_t row = StateRow(e, d, b) * e.hidden;
        if (lengths && lengths[b] == 0) {  // there is no last output, and ONNX Runtime gives zeros
          std::fill_n(h + b * e.hidden, e.hidden, C{0});
          if (c) std::fill_n(c + b * e.hidden, e.hidden, C{0});
        }
        if (last_h) StoreRow(h + b * e.hidden, e.hidden, last_h + row);
        if (last_c) StoreRow(c + b * e.hidden, e.hidden, last_c + row);
      }
    }
  }

  template <class C>
  void AddBiases(const C* of_input, int64_t hidden, C* bias) const {
    const C* recurrent = of_input + Layer::kGates * hidden;
    for (int64_t i = 0; i < Layer::kGates * hidden; ++i)
      bias[i] = layer_.AddsRecurrentBias(i / hidden) ? of_input[i] + recurrent[i] : of_input[i];
  }
  template <class C>
  static void SetState(const C* from, int64_t n, C* to) {
    if (from)
      std::copy_n(from, n, to);
    else
      std::fill_n(to, n, C{0});
  }
  template <class C, class T>
  static void StoreRow(const C* from, int64_t n, T* to) {
    for (int64_t i = 0; i < n; ++i) to[i] = T(from[i]);
  }

  RecurrentAttributes attributes_;
  RecurrentWeights inputs_;
  Layer layer_;
};

/// Calls `body(b)` for each sequence that has not ended.
template <class C, class F>
void ForEachSequence(const RecurrentStep<C>& step, int64_t gates, F&& body) {
  step.context.ParallelFor(step.batch, static_cast<double>(step.hidden * gates), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      if (step.gates[b]) body(b);
  });
}

}  // namespace light
