// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "light/cancellation.h"
#include "light/parallel.h"
#include "light/tensor.h"
#include "light/value.h"

namespace light {

/// One call of one kernel: its inputs, its outputs, scratch memory and threads. Never stored by a kernel. Used from the
/// thread that called Run, except that bodies of ParallelFor may read tensors obtained before.
class RuntimeContext {
 public:
  virtual ~RuntimeContext() = default;

  virtual std::size_t input_count() const noexcept = 0;
  virtual std::size_t output_count() const noexcept = 0;

  /// Argument `i` as a tensor; nullptr if the optional argument is omitted or `i` is beyond the node's arguments.
  /// Throws Error (kInvalidArgument) if the argument is no tensor.
  virtual const Tensor* Input(std::size_t i) = 0;
  /// Argument `i` whatever it is; none if omitted.
  virtual const Value& InputValue(std::size_t i) = 0;
  /// Value `i` of Node::captures().
  virtual const Value& CaptureValue(std::size_t i) = 0;

  /// False if the node omits output `i`: nothing needs to be computed for it.
  virtual bool OutputRequested(std::size_t i) const noexcept = 0;
  /// The tensor of output `i` with these extents, its elements not initialised. The element type is the node's resolved
  /// one. The plan picks the memory; it never overlaps an input unless the registration says may_inplace. May be
  /// called for an output that is not requested: scratch then.
  /// Throws Error (kInvalidArgument) on a negative extent or overflow, (kFail) over the memory limit.
  virtual Tensor& Output(std::size_t i, std::span<const int64_t> dims) = 0;
  /// True if the plan lets output `output` take the memory of input `input`, as long as their sizes are equal.
  virtual bool TakesOver(std::size_t output, std::size_t input) const noexcept = 0;
  /// Publishes a value that the kernel made itself (sequences, optionals).
  virtual void SetOutputValue(std::size_t i, Value value) = 0;
  /// Output `i` is input `input` with other extents: shared when the plan allows it, else copied.
  virtual void OutputView(std::size_t i, std::size_t input, std::span<const int64_t> dims) = 0;

  /// Scratch memory, 64-byte aligned, not initialised, valid until the kernel's Run returns.
  virtual void* TemporaryBuffer(std::size_t bytes) = 0;

  virtual void ParallelFor(int64_t total, double cost_per_unit, RangeFn body) = 0;
  /// What a hosted step needs to hand its host's threads on.
  virtual ParallelBackend& parallel() noexcept = 0;
  /// For a kernel that runs programs of its own: what may end the run early; nullptr: nothing.
  virtual Cancellation* cancellation() noexcept { return nullptr; }
};

}  // namespace light
