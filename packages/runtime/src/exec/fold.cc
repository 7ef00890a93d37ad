// SPDX-License-Identifier: Apache-2.0
#include "exec/fold.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "exec/text_meter.h"
#include "light/error.h"
#include "light/parallel.h"

namespace light {
namespace {

/// Larger results cost more memory than computing them costs time.
constexpr std::size_t kLargestResult = std::size_t{1} << 20;

/// Whether a node draws random numbers: others in each run, as many as its attributes say.
bool IsRandom(const Node& node) {
  constexpr std::string_view kRandom[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                          "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
  return node.domain.empty() && std::find(std::begin(kRandom), std::end(kRandom), node.op_type) != std::end(kRandom);
}

class FoldContext final : public RuntimeContext {
 public:
  FoldContext(const Step& step, const ConstantTable& constants, std::size_t largest)
      : step_(step), constants_(constants), largest_(largest), outputs_(step.outputs.size()) {}

  std::size_t input_count() const noexcept override { return step_.inputs.size(); }
  std::size_t output_count() const noexcept override { return outputs_.size(); }
  const Tensor* Input(std::size_t i) override {
    const Value& value = InputValue(i);
    return value.is_tensor() ? &value.tensor() : nullptr;
  }
  const Value& InputValue(std::size_t i) override {
    if (i >= step_.inputs.size() || step_.inputs[i] == kNoValue) return none_;
    return *constants_[step_.inputs[i]];
  }
  const Value& CaptureValue(std::size_t) override { return none_; }
  bool OutputRequested(std::size_t i) const noexcept override {
    return i < step_.outputs.size() && step_.outputs[i] != kNoValue;
  }
  Tensor& Output(std::size_t i, std::span<const int64_t> dims) override {
    Tensor probe;
    if (probe.Reshape(step_.output_types.at(i), dims) > largest_) {
      throw Error(ErrorCode::kFail, "the result is too large to be folded");
    }
    outputs_[i] = Value(Tensor::Allocate(step_.output_types[i], dims));
    return outputs_[i].tensor();
  }
  bool TakesOver(std::size_t, std::size_t) const noexcept override { return false; }
  void SetOutputValue(std::size_t i, Value value) override { outputs_.at(i) = std::move(value); }
  void OutputView(std::size_t i, std::size_t input, std::span<const int64_t> dims) override {
    const Value& source = InputValue(input);
    if (!source.is_tensor()) return SetOutputValue(i, source);
    CopyElements(source.tensor(), Output(i, dims));
  }
  void* TemporaryBuffer(std::size_t bytes) override {
    scratch_.push_back(conversions::AllocateBuffer(bytes));
    return scratch_.back().data;
  }
  void ParallelFor(int64_t total, double cost, RangeFn body) override { serial_.ParallelFor(total, cost, body); }
  ParallelBackend& parallel() noexcept override { return serial_; }

  std::vector<Value>& outputs() { return outputs_; }

 private:
  const Step& step_;
  const ConstantTable& constants_;
  std::size_t largest_;
  std::vector<Value> outputs_;
  std::vector<conversions::OwnedBuffer> scratch_;
  SerialBackend serial_;
  const Value none_;
};

}  // namespace

bool FoldStep(const Graph& graph, const KernelRegistration& registration, Step& step, ConstantTable& constants) {
  if (registration.is_hosted || !step.captures.empty() || !graph.node(step.node).subgraphs.empty()) return false;
  if (IsRandom(graph.node(step.node))) return false;
  std::size_t input_bytes = 0;
  for (const ValueId id : step.inputs) {
    if (id == kNoValue) continue;
    if (constants[id] == nullptr) return false;
    if (constants[id]->is_tensor()) input_bytes += constants[id]->tensor().byte_size();
  }
  // A Constant node has no input: its result is as large as what the model file already holds.
  const bool holds_its_result = step.inputs.empty();
  FoldContext context(step, constants, holds_its_result ? ~std::size_t{0} : std::max(input_bytes, kLargestResult));
  MemoryBudget text_budget(holds_its_result ? MemoryBudget::kUnlimited : kLargestResult);
  TextMeter meter(text_budget);
  const TextScope scope(meter);
  try {
    step.kernel->Run(context);
  } catch (const Error&) {
    return false;
  }
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] != kNoValue && context.outputs()[i].is_none()) return false;
  }
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] != kNoValue) {
      constants[step.outputs[i]] = std::make_shared<Value>(std::move(context.outputs()[i]));
    }
  }
  return true;
}

}  // namespace light
