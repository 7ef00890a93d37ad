// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent.h"

#include <cctype>
#include <cmath>

#include "conversions/shape.h"

namespace light {
namespace {

using Kind = RecurrentActivation::Kind;

struct KindInfo {
  std::string_view name;  // in lower case: ONNX Runtime does not mind it
  Kind kind;
  bool takes_alpha, takes_beta;
  float alpha, beta;  // defaults
};

constexpr KindInfo kKinds[] = {
    {"affine", Kind::kAffine, true, true, 1, 0},
    {"elu", Kind::kElu, true, false, 1, 0},
    {"hardsigmoid", Kind::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"leakyrelu", Kind::kLeakyRelu, true, false, 0.01f, 0},
    {"relu", Kind::kRelu, false, false, 0, 0},
    {"scaledtanh", Kind::kScaledTanh, true, true, 1, 1},
    {"sigmoid", Kind::kSigmoid, false, false, 0, 0},
    {"softplus", Kind::kSoftplus, false, false, 0, 0},
    {"softsign", Kind::kSoftsign, false, false, 0, 0},
    {"tanh", Kind::kTanh, false, false, 0, 0},
    {"thresholdedrelu", Kind::kThresholdedRelu, true, false, 1, 0},
};

const KindInfo& FindKind(const KernelInfo& info, const std::string& name) {
  std::string lower = name, known;
  for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const KindInfo& kind : kKinds) {
    if (kind.name == lower) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  info.Fail(ErrorCode::kInvalidGraph, "attribute activations: must be among " + known + ", got " + name);
}

std::vector<RecurrentActivation> ReadActivations(const KernelInfo& info, std::vector<std::string> defaults,
                                                 int64_t directions) {
  std::vector<std::string> names = info.HasAttribute("activations") ? info.Strings("activations") : defaults;
  const std::size_t wanted = defaults.size() * static_cast<std::size_t>(directions);
  if (names.empty()) names = defaults;
  if (names == defaults && wanted > names.size()) names.insert(names.end(), defaults.begin(), defaults.end());
  // The schema's default of RNN names two, one for each direction that there may be.
  if (defaults.size() == 1 && wanted == 1 && names.size() == 2) names.pop_back();
  if (names.size() != wanted)
    info.Fail(ErrorCode::kInvalidGraph, "attribute activations: must name " + std::to_string(wanted) +
                                            " functions, got " + std::to_string(names.size()));
  const std::vector<float> alphas = info.Floats("activation_alpha"), betas = info.Floats("activation_beta");
  // Those that have such a parameter take the next one of the list.
  std::size_t alpha = 0, beta = 0;
  std::vector<RecurrentActivation> activations;
  for (const std::string& name : names) {
    const KindInfo& kind = FindKind(info, name);
    RecurrentActivation activation{kind.kind, kind.alpha, kind.beta};
    if (kind.takes_alpha && alpha < alphas.size()) activation.alpha = alphas[alpha++];
    if (kind.takes_beta && beta < betas.size()) activation.beta = betas[beta++];
    activations.push_back(activation);
  }
  return activations;
}

template <class C>
C ApplyOne(const RecurrentActivation& f, C x) {
  const C alpha = f.alpha, beta = f.beta;
  switch (f.kind) {
    case Kind::kAffine:
      return alpha * x + beta;
    case Kind::kElu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case Kind::kHardSigmoid:
      return std::min(std::max(alpha * x + beta, C{0}), C{1});
    case Kind::kLeakyRelu:
      return x >= 0 ? x : alpha * x;
    case Kind::kRelu:
      return x < 0 ? C{0} : x;
    case Kind::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case Kind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::kSoftplus:
      return std::max(x, C{0}) + std::log1p(std::exp(-std::abs(x)));
    case Kind::kSoftsign:
      return x / (1 + std::abs(x));
    case Kind::kTanh:
      return std::tanh(x);
    case Kind::kThresholdedRelu:
      return x >= alpha ? x : C{0};
  }
  return x;
}

}  // namespace

void RecurrentActivation::Apply(float* x, int64_t n) const {
  const auto count = static_cast<std::size_t>(n);
  if (kind == Kind::kSigmoid) return Simd().sigmoid(x, x, count);
  if (kind == Kind::kTanh) return Simd().tanh(x, x, count);
  if (kind == Kind::kRelu) return Simd().relu(x, x, count);
  for (int64_t i = 0; i < n; ++i) x[i] = ApplyOne(*this, x[i]);
}

void RecurrentActivation::Apply(double* x, int64_t n) const {
  for (int64_t i = 0; i < n; ++i) x[i] = ApplyOne(*this, x[i]);
}

RecurrentAttributes::RecurrentAttributes(const KernelInfo& info, const std::vector<std::string>& defaults)
    : directions(1),
      first_is_reverse(false),
      batch_first(info.Int("layout", 0) != 0),
      has_clip(info.HasAttribute("clip")),
      clip(info.Float("clip", 0)),
      hidden_size(info.Int("hidden_size", 0)) {
  std::string direction = info.String("direction", "forward");
  if (direction == "foward") direction = "forward";  // the default of GRU's first version
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    info.Fail(ErrorCode::kInvalidGraph,
              "attribute direction: must be forward, reverse or bidirectional, got " + direction);
  if (direction == "bidirectional") directions = 2;
  first_is_reverse = direction == "reverse";
  if (has_clip && !(clip >= 0))
    info.Fail(ErrorCode::kInvalidGraph, "attribute clip: must not be negative, got " + std::to_string(clip));
  if (hidden_size < 0)
    info.Fail(ErrorCode::kInvalidGraph,
              "attribute hidden_size: must not be negative, got " + std::to_string(hidden_size));
  activations = ReadActivations(info, defaults, directions);
}

void CheckRecurrentExtents(const Tensor& tensor, std::size_t i, const char* name, std::span<const int64_t> extents) {
  if (!tensor.dims().Equals(extents))
    FailArgument(InputLabel(i, name) + ": must have extents " + conversions::FormatExtents(extents) + ", got " +
                 Describe(tensor));
}

RecurrentExtents CheckRecurrentInputs(RuntimeContext& context, const RecurrentAttributes& attributes, int64_t gates) {
  const Tensor& x = Required(context, 0, "X");
  const Tensor& w = Required(context, 1, "W");
  const Tensor& r = Required(context, 2, "R");
  if (x.rank() != 3) FailArgument(InputLabel(0, "X") + ": must have rank 3, got " + Describe(x));
  RecurrentExtents e{x.dim(0), x.dim(1), x.dim(2), attributes.hidden_size};
  if (attributes.batch_first) std::swap(e.steps, e.batch);
  if (e.hidden == 0 && r.rank() == 3) e.hidden = r.dim(2);
  const int64_t wide = MultiplyExtents(2 * gates, e.hidden) / 2;
  const int64_t of_input[] = {attributes.directions, wide, e.input};
  const int64_t recurrent[] = {attributes.directions, wide, e.hidden};
  CheckRecurrentExtents(w, 1, "W", of_input);
  CheckRecurrentExtents(r, 2, "R", recurrent);
  if (const Tensor* b = context.Input(3)) {
    const int64_t extents[] = {attributes.directions, 2 * wide};
    CheckRecurrentExtents(*b, 3, "B", extents);
  }
  if (const Tensor* lengths = context.Input(4)) {
    const int64_t extents[] = {e.batch};
    CheckRecurrentExtents(*lengths, 4, "sequence_lens", extents);
    for (const int32_t length : lengths->Span<int32_t>())
      if (length < 0 || length > e.steps)
        FailArgument(InputLabel(4, "sequence_lens") + ": must be in [0, " + std::to_string(e.steps) + "], got " +
                     std::to_string(length));
  }
  if (const Tensor* h = context.Input(5)) {
    const int64_t d = attributes.directions;
    const int64_t extents[] = {attributes.batch_first ? e.batch : d, attributes.batch_first ? d : e.batch, e.hidden};
    CheckRecurrentExtents(*h, 5, "initial_h", extents);
  }
  return e;
}

RecurrentWeights::RecurrentWeights(const KernelInfo& info, std::size_t input, int64_t gates, int64_t first_gate,
                                   int64_t gate_count)
    : gates_(gates), first_gate_(first_gate), gate_count_(gate_count) {
  const Tensor* weights = info.ConstantInput(input);
  if (!weights || weights->rank() != 3 || weights->element_count() == 0 || weights->dim(1) % gates != 0) return;
  const ElementType type = weights->type();
  if (type != ElementType::kFloat && type != ElementType::kFloat16 && type != ElementType::kBfloat16) return;
  const auto pack = [this, w = *weights] {
    const int64_t directions = w.dim(0), hidden = w.dim(1) / gates_, k = w.dim(2), count = w.element_count();
    std::vector<float> wide;
    const float* data = w.Data<float>();
    if (w.type() != ElementType::kFloat) {
      wide.resize(static_cast<std::size_t>(count));
      if (w.type() == ElementType::kFloat16) {
        WidenElements(w.Data<Float16>(), count, wide.data());
      } else {
        WidenElements(w.Data<Bfloat16>(), count, wide.data());
      }
      data = wide.data();
    }
    packed_.Pack({data + first_gate_ * hidden * k, 1, k}, gates_ * hidden * k, directions, k, gate_count_ * hidden);
  };
  packed_.Prepare(info, input, pack);
}

}  // namespace light
