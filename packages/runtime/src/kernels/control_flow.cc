// SPDX-License-Identifier: Apache-2.0
// Operators that run a subgraph once or many times: If, Loop, SequenceMap. Scan is in a file of its own.
#include <limits>

#include "exec/spares.h"
#include "kernels/arguments.h"
#include "kernels/body.h"
#include "kernels/families.h"

namespace light {
namespace {

/// A boolean scalar, or a tensor with one element.
bool ReadCondition(const Tensor& tensor, std::string_view label) {
  if (tensor.type() != ElementType::kBool || tensor.element_count() != 1)
    FailArgument(std::string(label) + ": must be one bool, got " + Describe(tensor));
  return *tensor.Data<bool>();
}

/// Outputs of the body are those of the node.
class ForwardingIo final : public BodyIo {
 public:
  using BodyIo::BodyIo;
  Tensor& CreateOutput(std::size_t i, ElementType, std::span<const int64_t> dims) override {
    return context().Output(i, dims);
  }
  void SetOutput(std::size_t i, Value value) override { context().SetOutputValue(i, std::move(value)); }
};

class If final : public KernelBase {
 public:
  explicit If(const KernelInfo& info) : then_(info, "then_branch"), else_(info, "else_branch") {
    then_.ExpectArguments(0, info.output_count());
    else_.ExpectArguments(0, info.output_count());
  }

  void Run(RuntimeContext& context) override {
    const bool condition = ReadCondition(Required(context, 0, "cond"), "input 0 (cond)");
    ForwardingIo(condition ? then_ : else_).Run(context);
  }

 private:
  Body then_;
  Body else_;
};

/// Outputs of a loop's body: whether to go on, then the carried values, then what is collected.
class LoopIo final : public BodyIo {
 public:
  LoopIo(const Body& body, std::size_t carried_count, MemoryBudget* budget) : BodyIo(body) {
    carried.reserve(carried_count);
    for (std::size_t i = 0; i < carried_count; ++i) carried.emplace_back(budget);
    for (std::size_t i = carried_count + 1; i < body.output_count(); ++i)
      stacked.emplace_back("output " + std::to_string(i) + " of the body", budget);
  }

  Tensor& CreateOutput(std::size_t i, ElementType type, std::span<const int64_t> dims) override {
    if (i == 0) return condition.MakeNext(type, dims);
    if (i <= carried.size()) return carried[i - 1].MakeNext(type, dims);
    return stacked[i - 1 - carried.size()].Next(type, dims);
  }
  void SetOutput(std::size_t i, Value value) override {
    if (i == 0 || i > carried.size()) FailArgument("output " + std::to_string(i) + " of the body: must be a tensor");
    carried[i - 1].SetNext(std::move(value));
  }

  CarriedValue condition{nullptr};
  std::vector<CarriedValue> carried;
  std::vector<StackedOutput> stacked;
};

class Loop final : public KernelBase {
 public:
  explicit Loop(const KernelInfo& info)
      : body_(info, "body"),
        budget_(info.budget()),
        carried_(info.input_count() - std::min<std::size_t>(info.input_count(), 2)) {
    const std::size_t outputs = std::max(info.output_count(), carried_);
    body_.ExpectArguments(carried_ + 2, outputs + 1);
  }

  void Run(RuntimeContext& context) override {
    int64_t trips = std::numeric_limits<int64_t>::max();
    if (const Tensor* limit = context.Input(0)) {
      if (limit->element_count() != 1)
        FailArgument(InputLabel(0, "M") + ": must be one int64, got " + Describe(*limit));
      trips = *limit->Data<int64_t>();
    }
    const Tensor* first = context.Input(1);
    bool goes_on = first == nullptr || ReadCondition(*first, "input 1 (cond)");
    std::unique_ptr<LoopIo> kept = idle_.Take();
    if (kept == nullptr) kept = std::make_unique<LoopIo>(body_, carried_, budget_);
    LoopIo& io = *kept;
    for (std::size_t i = 0; i < carried_; ++i) io.carried[i].Begin(context.InputValue(i + 2));
    int64_t trip = 0;
    Value number(Tensor::Borrow(ElementType::kInt64, {}, &trip));
    Value condition(Tensor::Borrow(ElementType::kBool, {}, &goes_on));
    io.Bind(0, number);
    io.Bind(1, condition);
    for (std::size_t i = 0; i < carried_; ++i) io.Bind(i + 2, io.carried[i].current());
    for (; goes_on && trip < trips; ++trip) {
      io.Run(context);
      io.condition.Advance();
      goes_on = ReadCondition(io.condition.current().tensor(), "output 0 of the body");
      for (CarriedValue& value : io.carried) value.Advance();
    }
    for (std::size_t i = 0; i < carried_; ++i) io.carried[i].Finish(context, i);
    for (std::size_t i = 0; i < io.stacked.size(); ++i) {
      io.stacked[i].Finish(context, carried_ + i, body_.OutputType(carried_ + 1 + i), 0, false);
    }
    idle_.GiveBack(std::move(kept));
  }

 private:
  Body body_;
  MemoryBudget* budget_;
  std::size_t carried_;
  Spares<LoopIo> idle_;
};

/// Outputs of the body become elements of the node's sequences.
class MapIo final : public BodyIo {
 public:
  using BodyIo::BodyIo;
  Tensor& CreateOutput(std::size_t i, ElementType type, std::span<const int64_t> dims) override {
    tensors[i] = Tensor::Allocate(type, dims);
    return tensors[i];
  }
  void SetOutput(std::size_t i, Value) override {
    FailArgument("output " + std::to_string(i) + " of the body: must be a tensor");
  }
  std::vector<Tensor> tensors;
};

class SequenceMap final : public KernelBase {
 public:
  explicit SequenceMap(const KernelInfo& info) : body_(info, "body") {
    body_.ExpectArguments(info.input_count(), info.output_count());
  }

  void Run(RuntimeContext& context) override {
    const std::size_t count = context.InputValue(0).sequence().elements.size();
    for (std::size_t i = 1; i < context.input_count(); ++i) {
      const Value& input = context.InputValue(i);
      if (input.kind() == Value::Kind::kSequence && input.sequence().elements.size() != count)
        FailArgument(InputLabel(i, "additional_inputs") + ": must have as many elements as input 0, " +
                     std::to_string(count) + ", got " + std::to_string(input.sequence().elements.size()));
    }
    std::vector<Sequence> results(context.output_count());
    for (std::size_t i = 0; i < results.size(); ++i) results[i].element_type = body_.OutputType(i);
    MapIo io(body_);
    io.tensors.resize(results.size());
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < context.input_count(); ++i) {
        const Value& input = context.InputValue(i);
        io.Bind(i, input.kind() == Value::Kind::kSequence ? input.sequence().elements[k] : input);
      }
      io.Run(context);
      for (std::size_t i = 0; i < results.size(); ++i) results[i].elements.push_back(std::move(io.tensors[i]));
    }
    for (std::size_t i = 0; i < results.size(); ++i) context.SetOutputValue(i, Value(std::move(results[i])));
  }

 private:
  Body body_;
};

}  // namespace

void RegisterControlFlow(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("If", 1, 25, {}), MakeKernel<If>);
  registry.RegisterKernelFn(Registration("Loop", 1, 25, {}), MakeKernel<Loop>);
  registry.RegisterKernelFn(Registration("SequenceMap", 17, 17, {}), MakeKernel<SequenceMap>);
}

}  // namespace light
