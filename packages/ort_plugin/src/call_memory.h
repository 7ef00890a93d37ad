// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "conversions/buffer.h"

namespace ort_plugin {

/// Scratch memory of one call after another: one block that is as large as the largest call needed.
class Arena {
 public:
  /// Memory aligned to conversions::kBufferAlignment until Reset. Throws std::bad_alloc.
  void* Take(std::size_t bytes);
  void Reset() noexcept;

 private:
  conversions::OwnedBuffer block_;
  std::vector<conversions::OwnedBuffer> overflow_;  // of a call that needed more than `block_`
  std::size_t used_ = 0;
  std::size_t wanted_ = 0;  // by this call so far
  std::size_t target_ = 0;  // by the call that wanted most
};

/// Arenas that are not in use. All kernels of the process share them, as long as there is one.
class ArenaPool {
 public:
  static std::shared_ptr<ArenaPool> Shared();
  std::unique_ptr<Arena> Take();
  void GiveBack(std::unique_ptr<Arena> arena);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> idle_;
};

}  // namespace ort_plugin
