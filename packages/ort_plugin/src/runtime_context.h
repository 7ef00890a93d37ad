// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <ort_abi/ort_c_api.h>

#include "call_memory.h"
#include "context_threads.h"
#include "light/runtime_context.h"

namespace ort_plugin {

/// What all calls of one kernel have in common.
struct CallSignature {
  const OrtApi& api;
  std::vector<bool> has_input;                  ///< that changes from call to call
  std::vector<const light::Tensor*> constants;  ///< inputs that do not, and null for the others
  std::vector<light::ElementType> outputs;      ///< with those that the node leaves out at its end
  std::vector<bool> has_output;
  std::size_t output_count = 0;  ///< of the node
  std::shared_ptr<ArenaPool> arenas;
  int threads = 1;
};

/// The values of one call of one kernel; used again by later calls of it.
struct CallFrame {
  struct Output {
    enum class Where : uint8_t { kNowhere, kHost, kOurs };
    light::Tensor tensor;
    OrtValue* value = nullptr;
    Where where = Where::kNowhere;  ///< kOurs: copied to the host's memory when the kernel returns
  };
  explicit CallFrame(const CallSignature& signature)
      : inputs(signature.has_input.size()), outputs(signature.outputs.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (signature.constants[i] != nullptr) inputs[i] = light::Value(*signature.constants[i]);
    }
  }

  std::vector<light::Value> inputs;
  std::vector<Output> outputs;
};

/// Keeps the frame of a call that ended for the next one; calls at the same time make more.
class SpareFrame {
 public:
  SpareFrame() = default;
  SpareFrame(const SpareFrame&) = delete;
  ~SpareFrame() { delete spare_.load(); }

  std::unique_ptr<CallFrame> Take(const CallSignature& signature) {
    std::unique_ptr<CallFrame> frame(spare_.exchange(nullptr, std::memory_order_acquire));
    return frame != nullptr ? std::move(frame) : std::make_unique<CallFrame>(signature);
  }
  /// The frame of a call that failed is to be dropped instead: there may be anything in it.
  void GiveBack(std::unique_ptr<CallFrame> frame) {
    delete spare_.exchange(frame.release(), std::memory_order_acq_rel);
  }

 private:
  std::atomic<CallFrame*> spare_{nullptr};
};

/// The RuntimeContext over an OrtKernelContext. Inputs are views and are never written; outputs are the host's buffers.
class OrtRuntimeContext final : public light::RuntimeContext {
 public:
  OrtRuntimeContext(const CallSignature& signature, CallFrame& frame, OrtKernelContext* context);
  ~OrtRuntimeContext() override;

  /// To be called when the kernel has returned: copies what it made elsewhere. Throws light::Error (kFail) for an
  /// output that the node has and the kernel did not make.
  void Finish();

  std::size_t input_count() const noexcept override { return frame_.inputs.size(); }
  std::size_t output_count() const noexcept override { return signature_.output_count; }
  const light::Tensor* Input(std::size_t i) override {
    if (i >= frame_.inputs.size() || frame_.inputs[i].is_none()) return nullptr;
    return &frame_.inputs[i].tensor();
  }
  const light::Value& InputValue(std::size_t i) override;
  const light::Value& CaptureValue(std::size_t i) override;
  bool OutputRequested(std::size_t i) const noexcept override {
    return i < signature_.output_count && signature_.has_output[i];
  }
  light::Tensor& Output(std::size_t i, std::span<const int64_t> dims) override;
  /// Never: no input is written.
  bool TakesOver(std::size_t, std::size_t) const noexcept override { return false; }
  void SetOutputValue(std::size_t i, light::Value value) override;
  void OutputView(std::size_t i, std::size_t input, std::span<const int64_t> dims) override;
  void* TemporaryBuffer(std::size_t bytes) override;
  void ParallelFor(int64_t total, double cost_per_unit, light::RangeFn body) override {
    threads_.ParallelFor(total, cost_per_unit, body);
  }
  light::ParallelBackend& parallel() noexcept override { return threads_; }

 private:
  void ReadInput(std::size_t i);
  OrtValue* HostOutput(std::size_t i, std::span<const int64_t> dims);
  light::Tensor& OwnOutput(std::size_t i, std::span<const int64_t> dims);

  const CallSignature& signature_;
  CallFrame& frame_;
  OrtKernelContext* context_;
  ContextThreads threads_;
  std::unique_ptr<Arena> arena_;  // taken when it is first needed
};

}  // namespace ort_plugin
