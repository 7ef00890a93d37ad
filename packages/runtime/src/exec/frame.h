// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "exec/growing_buffer.h"
#include "exec/plan.h"

namespace light {

/// Scratch memory of one step after another: bump allocation in one block that is as large as the largest step needed.
class ScratchArena {
 public:
  void* Take(std::size_t bytes, MemoryBudget* budget);
  /// Everything taken is free again.
  void Reset() noexcept {
    if (used_ != 0 || !overflow_.empty()) [[unlikely]]
      ResetSlow();
  }

 private:
  void ResetSlow() noexcept;

  GrowingBuffer block_;
  std::vector<GrowingBuffer> overflow_;  // of a step that needed more than `block_`
  std::size_t used_ = 0;
  std::size_t wanted_ = 0;  // size of the block that would have been enough
};

/// The memory of one run of a Program. Reused by later runs.
struct Frame {
  Frame(std::size_t value_count, uint32_t slot_count)
      : values(value_count, nullptr), own(value_count), slots(slot_count) {}

  std::vector<const Value*> values;  ///< by ValueId: what steps read
  std::vector<Value> own;            ///< by ValueId: values that steps make
  std::vector<GrowingBuffer> slots;
  ScratchArena scratch;
};

}  // namespace light
