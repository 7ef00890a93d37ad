// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "light/cancellation.h"
#include "light/tensor.h"
#include "light/value.h"

namespace light {

/// The boundary of one run of a Program: where its inputs come from and its outputs go. Used from the running thread.
class BoundaryIo {
 public:
  virtual ~BoundaryIo() = default;
  /// Input `i`: first the graph's inputs (Graph::inputs()), then its captures (Graph::captures()). None where the
  /// caller leaves a default in place. Must stay valid and unchanged until the run returns.
  virtual const Value& Input(std::size_t i) = 0;
  /// Makes the memory of graph output `i`, of `bytes` bytes (sub-byte types packed), not initialised; strings are
  /// constructed. The returned tensor is kept by the boundary and stays where it is until the run returns.
  virtual Tensor& CreateOutput(std::size_t i, ElementType type, std::span<const int64_t> dims) = 0;
  /// Takes an output that is no tensor.
  virtual void SetOutput(std::size_t i, Value value) = 0;
  /// What may end the run early; nullptr: nothing. Must live until the run returns.
  virtual Cancellation* cancellation() noexcept { return nullptr; }
};

}  // namespace light
