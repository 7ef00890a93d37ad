// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "light/runtime_context.h"

namespace ort_host {

/// What tells whether the elements of a tensor were changed.
std::size_t HashOf(const light::Tensor& tensor);

/// Checked mode's watch over the tensors of one call of a kernel: outputs are made between guard bytes and copied to
/// their place afterwards, inputs are hashed before and after. Strings are left alone. Used by one thread.
class GuardedTensors {
 public:
  explicit GuardedTensors(light::RuntimeContext& context);
  GuardedTensors(const GuardedTensors&) = delete;

  /// What the kernel gets in place of output `i`, which outlives this.
  light::Tensor* Guard(std::size_t i, light::Tensor& output);
  /// `bytes` bytes between guards for what output `i` will be, as SetTarget says once its extents are known.
  void* Block(std::size_t i, std::size_t bytes);
  void SetTarget(std::size_t i, const light::Tensor& view, light::Tensor& output);

  /// Reports what the kernel did to the guards (`overrun`) and to its inputs (`input_written`) in `callback`. `label`
  /// is the kernel's. Returns "" or the first of it.
  std::string Judge(const std::string& label, const char* callback);
  /// Gives the outputs what the kernel wrote.
  void Publish();

 private:
  struct Output {
    std::size_t index;
    light::Tensor* target;  // null until it is known
    std::size_t bytes;      // of the elements
    light::Tensor block;    // guard bytes, elements, guard bytes
    light::Tensor view;     // the elements
  };
  std::size_t HashInput(std::size_t i);

  light::RuntimeContext& context_;
  std::vector<std::size_t> hashes_;
  std::deque<Output> outputs_;
};

}  // namespace ort_host
