// SPDX-License-Identifier: Apache-2.0
#include "light/memory_budget.h"

#include "light/error.h"

namespace light {

bool MemoryBudget::TryCharge(std::size_t bytes) noexcept {
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

void MemoryBudget::Charge(std::size_t bytes, const std::string& what) {
  if (TryCharge(bytes)) return;
  throw Error(ErrorCode::kFail, what + ": needs " + std::to_string(bytes) + " bytes, over the memory limit of " +
                                    std::to_string(limit_) + " bytes (" + std::to_string(used()) + " in use)");
}

}  // namespace light
