// SPDX-License-Identifier: Apache-2.0
#include "exec/step_context.h"

#include "light/error.h"

namespace light {
namespace {

constexpr const char* kOutputBuffer = "output buffer";

/// Never destroyed: a library's static destructors may still run kernels.
const Value& NoneValue() {
  static const Value* none = new Value();
  return *none;
}

}  // namespace

const Tensor* StepContext::NotATensor(std::size_t i, const Value& value) const {
  if (value.is_none()) return nullptr;
  throw Error(ErrorCode::kInvalidArgument, "input " + std::to_string(i) + ": expected a tensor, got a " +
                                               (value.kind() == Value::Kind::kSequence ? "sequence" : "optional"));
}

const Value& StepContext::InputValue(std::size_t i) {
  if (i >= step_->input_count || step_->inputs[i] == kNoValue) return NoneValue();
  return *frame_.values[step_->inputs[i]];
}

void StepContext::Charge(std::size_t bytes, const char* what) {
  if (budget_ == nullptr) return;
  budget_->Charge(bytes, what);
  charged_ += bytes;
}

void StepContext::RunMakingText(KernelBase& kernel) {
  const std::size_t metered = Metered([&] { kernel.Run(*this); });
  if (!IsLimited()) return;
  std::size_t made = 0;
  for (std::size_t i = 0; i < step_->output_count; ++i) {
    const StepOutput& output = step_->outputs[i];
    if (output.type != ElementType::kString || output.value == kNoValue) continue;
    const Value& value = frame_.own[output.value];
    if (output.placement.kind != Placement::Kind::kView && value.is_tensor()) made += TextBytes(value.tensor());
  }
  // The meter sees neither what strings kept from an earlier run nor what the kernel threw away again.
  if (made > metered) {
    Charge(made - metered, "text of strings");
  } else {
    budget_->Release(metered - made);
    charged_ -= metered - made;
  }
}

void StepContext::MeteredParallelFor(int64_t total, double cost_per_unit, RangeFn body) {
  parallel_.ParallelFor(total, cost_per_unit, [&](int64_t begin, int64_t end) {
    TextScope scope(*text_);
    body(begin, end);
    scope.Settle();
  });
}

Tensor& StepContext::OutputElsewhere(std::size_t i, std::span<const int64_t> dims) {
  if (i >= step_->typed_outputs) {
    throw Error(ErrorCode::kInvalidArgument,
                "output " + std::to_string(i) + ": the node has " + std::to_string(step_->output_count) + " outputs");
  }
  const ElementType type = step_->outputs[i].type;
  if (!OutputRequested(i)) {
    unrequested_.push_back(std::make_unique<Tensor>());
    Tensor& tensor = *unrequested_.back();
    const std::size_t bytes = tensor.Reshape(type, dims);
    if (type == ElementType::kString) {
      Charge(bytes, kOutputBuffer);
      return tensor = Tensor::Allocate(type, dims);
    }
    tensor.set_data(frame_.scratch.Take(bytes, budget_));
    return tensor;
  }
  const Placement& placement = step_->outputs[i].placement;
  Tensor& tensor = frame_.own[step_->outputs[i].value].MakeTensor();
  switch (placement.kind) {
    case Placement::Kind::kOutput: {
      // CreateOutput charges and checks; the tensor here is a view for the steps that read the output.
      Tensor& made = boundary_.CreateOutput(placement.index, type, dims);
      tensor.Reshape(type, dims);
      tensor.set_data(made.data());
      return tensor;
    }
    case Placement::Kind::kInplace: {
      const std::size_t bytes = tensor.Reshape(type, dims);
      const Tensor& source = frame_.values[placement.source]->tensor();
      if (source.byte_size() == bytes) {
        tensor.set_owner(nullptr);
        tensor.set_data(frame_.slots[placement.index].data());
        return tensor;
      }
      // The extents that were known ahead turned out wrong: growing the slot would pull the input away.
      Charge(bytes, kOutputBuffer);
      return tensor = Tensor::Allocate(type, dims);
    }
    default:
      // Storage of its own; reused when the extents are the same, as in a warmed-up run.
      Charge(Tensor(tensor).Reshape(type, dims), kOutputBuffer);
      if (tensor.owner() == nullptr || tensor.type() != type || !tensor.dims().Equals(dims)) {
        tensor = Tensor::Allocate(type, dims);
      }
      return tensor;
  }
}

void StepContext::SetOutputValue(std::size_t i, Value value) {
  if (!OutputRequested(i)) return;
  frame_.own[step_->outputs[i].value] = std::move(value);
}

void StepContext::OutputView(std::size_t i, std::size_t input, std::span<const int64_t> dims) {
  const Value& source = InputValue(input);
  if (!source.is_tensor()) {
    SetOutputValue(i, source);
    return;
  }
  const Tensor& from = source.tensor();
  if (OutputRequested(i) && step_->outputs[i].placement.kind == Placement::Kind::kView) {
    Tensor& tensor = frame_.own[step_->outputs[i].value].MakeTensor();
    if (tensor.Reshape(from.type(), dims) != from.byte_size()) {
      throw Error(ErrorCode::kFail, "output " + std::to_string(i) + ": a view of " + Describe(from) +
                                        " cannot have another size, got " + Describe(tensor));
    }
    tensor.set_data(const_cast<void*>(from.data()));
    return;
  }
  Tensor& to = Output(i, dims);
  CopyElements(from, to);
}

}  // namespace light
