// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exec/address_sanitizer.h"
#include "exec/frame.h"
#include "exec/run_steps.h"
#include "exec/text_meter.h"
#include "light/boundary_io.h"
#include "light/runtime_context.h"

namespace light {

/// The RuntimeContext of a Program's run. One object serves all steps of a run, one after another.
class StepContext final : public RuntimeContext {
 public:
  StepContext(Frame& frame, BoundaryIo& boundary, ParallelBackend& parallel, MemoryBudget* budget)
      : frame_(frame), boundary_(boundary), parallel_(parallel), budget_(budget) {}
  ~StepContext() override {
    if (charged_ > 0) [[unlikely]]
      budget_->Release(charged_);
  }

  void Begin(const RunStep& step) noexcept { step_ = &step; }
  /// Before a library's own threads may want the cores: ours stop looking for work. Once is enough until they work.
  void Quiesce() noexcept {
    if (!may_spin_) return;
    may_spin_ = false;
    parallel_.Quiesce();
  }
  const RunStep* step() const noexcept { return step_; }
  /// Runs the kernel of a step that makes strings: their elements are charged by Output, their text here.
  void RunMakingText(KernelBase& kernel);
  /// Runs `work` and charges the text of the strings that it copies, until the run ends. Returns the bytes.
  template <class Work>
  std::size_t Metered(Work&& work) {
    if (!IsLimited()) {
      work();
      return 0;
    }
    TextMeter meter(*budget_);
    TextScope scope(meter);
    text_ = &meter;
    work();
    text_ = nullptr;
    scope.Settle();
    const std::size_t bytes = meter.HandOver();
    charged_ += bytes;
    return bytes;
  }

  std::size_t input_count() const noexcept override { return step_->input_count; }
  std::size_t output_count() const noexcept override { return step_->output_count; }
  const Tensor* Input(std::size_t i) override {
    if (i >= step_->input_count || step_->inputs[i] == kNoValue) return nullptr;
    const Value& value = *frame_.values[step_->inputs[i]];
    if (!value.is_tensor()) [[unlikely]]
      return NotATensor(i, value);
    return &value.tensor();
  }
  const Value& InputValue(std::size_t i) override;
  const Value& CaptureValue(std::size_t i) override { return *frame_.values[step_->captures[i]]; }
  bool OutputRequested(std::size_t i) const noexcept override {
    return i < step_->output_count && step_->outputs[i].value != kNoValue;
  }
  Tensor& Output(std::size_t i, std::span<const int64_t> dims) override {
    // One that is not requested has no placement.
    if (i < step_->output_count && step_->outputs[i].placement.kind == Placement::Kind::kSlot) [[likely]] {
      const StepOutput& output = step_->outputs[i];
      Tensor& tensor = frame_.own[output.value].MakeTensor();
      const std::size_t bytes = tensor.Reshape(output.type, dims);
      GrowingBuffer& slot = frame_.slots[output.placement.index];
      slot.Reserve(bytes, budget_, "output buffer");
      MarkUsed(slot.data(), bytes, slot.capacity());
      tensor.set_data(slot.data());
      return tensor;
    }
    return OutputElsewhere(i, dims);
  }
  bool TakesOver(std::size_t output, std::size_t input) const noexcept override {
    if (!OutputRequested(output) || input >= step_->input_count) return false;
    const Placement& placement = step_->outputs[output].placement;
    return placement.kind == Placement::Kind::kInplace && placement.source == step_->inputs[input];
  }
  void SetOutputValue(std::size_t i, Value value) override;
  void OutputView(std::size_t i, std::size_t input, std::span<const int64_t> dims) override;
  void* TemporaryBuffer(std::size_t bytes) override { return frame_.scratch.Take(bytes, budget_); }
  void ParallelFor(int64_t total, double cost_per_unit, RangeFn body) override {
    may_spin_ = true;
    if (text_ != nullptr) [[unlikely]]
      return MeteredParallelFor(total, cost_per_unit, body);
    parallel_.ParallelFor(total, cost_per_unit, body);
  }
  ParallelBackend& parallel() noexcept override {
    may_spin_ = true;
    return parallel_;
  }
  Cancellation* cancellation() noexcept override { return boundary_.cancellation(); }

 private:
  const Tensor* NotATensor(std::size_t i, const Value& value) const;
  Tensor& OutputElsewhere(std::size_t i, std::span<const int64_t> dims);
  void Charge(std::size_t bytes, const char* what);
  bool IsLimited() const noexcept { return budget_ != nullptr && budget_->limit() != MemoryBudget::kUnlimited; }
  void MeteredParallelFor(int64_t total, double cost_per_unit, RangeFn body);

  Frame& frame_;
  BoundaryIo& boundary_;
  ParallelBackend& parallel_;
  MemoryBudget* budget_;
  std::size_t charged_ = 0;  // storage that is no slot, until the run ends
  const RunStep* step_ = nullptr;
  bool may_spin_ = true;                              // threads of ours may still look for work of the last loop
  TextMeter* text_ = nullptr;                         // of the step that runs, if it makes text and there is a limit
  std::vector<std::unique_ptr<Tensor>> unrequested_;  // outputs that the node omits and its kernel computes anyway
};

}  // namespace light
