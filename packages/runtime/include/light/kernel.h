// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "light/kernel_info.h"
#include "light/runtime_context.h"

namespace light {

/// One operator at one node: made once when a session is prepared, owned by its Program, run many times, possibly by
/// several threads at once. So it keeps nothing of a call; scratch comes from the context.
class KernelBase {
 public:
  virtual ~KernelBase() = default;
  /// Computes the outputs. Throws Error; outputs count only when it returns.
  virtual void Run(RuntimeContext& context) = 0;
};

/// Makes a kernel for one node. Validates attributes and prepares constants. Throws Error.
using NodeKernelFn = std::function<std::unique_ptr<KernelBase>(const KernelInfo&)>;

/// The usual NodeKernelFn: constructs Kernel from the KernelInfo.
template <class Kernel>
std::unique_ptr<KernelBase> MakeKernel(const KernelInfo& info) {
  return std::make_unique<Kernel>(info);
}

}  // namespace light
