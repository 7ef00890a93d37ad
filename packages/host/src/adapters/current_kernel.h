// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "adapters/kernel_info.h"

namespace ort_host {

/// While it lives, this thread runs library code of one kernel. The default allocator belongs to no session: it asks
/// here whose limit a block counts against. (Threads that a library brings are nobody's.)
class CurrentKernel {
 public:
  explicit CurrentKernel(const KernelContent& kernel) noexcept : outer_(current_) { current_ = &kernel; }
  ~CurrentKernel() { current_ = outer_; }
  CurrentKernel(const CurrentKernel&) = delete;

  /// Null outside of a library's kernel.
  static const KernelContent* Get() noexcept { return current_; }

 private:
  // Read by an offset, without a call into the loader: this is on the path of every node.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local const KernelContent* current_ = nullptr;

  const KernelContent* outer_;
};

}  // namespace ort_host
