// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/runtime_context.h"

namespace light {

/// The context of a node that runs inside a larger step: one output, no memory taken over, views are copied; threads,
/// scratch memory and cancellation are the step's.
class InnerContext : public RuntimeContext {
 public:
  explicit InnerContext(RuntimeContext& outer) : outer_(outer) {}

  std::size_t output_count() const noexcept override { return 1; }
  const Value& CaptureValue(std::size_t i) override { return outer_.CaptureValue(i); }
  bool OutputRequested(std::size_t i) const noexcept override { return i == 0; }
  bool TakesOver(std::size_t, std::size_t) const noexcept override { return false; }
  void OutputView(std::size_t i, std::size_t input, std::span<const int64_t> dims) override {
    CopyElements(*Input(input), Output(i, dims));
  }
  void* TemporaryBuffer(std::size_t bytes) override { return outer_.TemporaryBuffer(bytes); }
  void ParallelFor(int64_t total, double cost, RangeFn body) override { outer_.ParallelFor(total, cost, body); }
  ParallelBackend& parallel() noexcept override { return outer_.parallel(); }
  Cancellation* cancellation() noexcept override { return outer_.cancellation(); }

 protected:
  RuntimeContext& outer() const noexcept { return outer_; }

 private:
  RuntimeContext& outer_;
};

}  // namespace light
