// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <span>

#include "adapters/guarded_tensors.h"
#include "adapters/kernel_info.h"
#include "light/runtime_context.h"

namespace ort_host {

/// The outputs of one call of a kernel that share the memory of an input, as its operator demands by GetAliasMap.
///
/// Where the plan lets the output take the input's buffer over, nothing is copied. Elsewhere both are one block of
/// scratch memory that starts as a copy of the input, so that neither a feed nor a constant nor a value that others
/// read is ever written. Used by one thread.
class AliasedOutputs {
 public:
  /// All outlive this; `guarded` is null in a normal run. Throws light::Error over the memory limit.
  AliasedOutputs(const KernelContent& content, light::RuntimeContext& context, GuardedTensors* guarded);
  AliasedOutputs(const AliasedOutputs&) = delete;

  /// What the kernel gets as input `i`; null if no output shares it.
  light::Tensor* Input(std::size_t i) noexcept;
  /// What the kernel gets as output `i`; null if it shares no input. Throws light::Error if the size is not the
  /// input's.
  light::Tensor* Output(std::size_t i, std::span<const int64_t> dims);
  /// Gives the outputs what the kernel wrote; guarded ones are given it by their guard.
  void Publish();

 private:
  struct Pair {
    std::size_t input;
    std::size_t output;
    light::Tensor input_view;   // of the shared memory
    light::Tensor output_view;  // likewise, once the kernel has asked for it
    light::Tensor* target = nullptr;
  };
  void Open(std::size_t input, std::size_t output);

  light::RuntimeContext& context_;
  GuardedTensors* guarded_;
  std::deque<Pair> pairs_;  // those whose input is there
};

}  // namespace ort_host
