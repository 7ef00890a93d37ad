// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "adapters/allocator.h"

namespace ort_host::abi {

/// A copy of a text in memory of the allocator; null if the allocator gives up.
inline char* CopyText(OrtAllocator* allocator, const std::string& text) {
  auto* block = static_cast<char*>(AllocateWith(allocator, text.size() + 1));
  if (block != nullptr) std::memcpy(block, text.c_str(), text.size() + 1);
  return block;
}

/// Blocks of an array of strings under construction, freed unless kept.
class StringBlocks {
 public:
  StringBlocks(OrtAllocator* allocator, std::size_t count) : allocator_(allocator), count_(count) {
    strings_ = static_cast<char**>(AllocateWith(allocator, count * sizeof(char*)));
  }
  StringBlocks(const StringBlocks&) = delete;
  ~StringBlocks() {
    if (strings_ == nullptr) return;
    for (std::size_t i = 0; i < filled_; ++i) FreeWith(allocator_, strings_[i]);
    FreeWith(allocator_, strings_);
  }
  /// False if the allocator gives up.
  bool Fill(const std::vector<std::string>& values) {
    if (strings_ == nullptr) return false;
    for (; filled_ < count_; ++filled_) {
      char* block = CopyText(allocator_, values[filled_]);
      if (block == nullptr) return false;
      strings_[filled_] = block;
    }
    return true;
  }
  char** Keep() noexcept { return std::exchange(strings_, nullptr); }

 private:
  OrtAllocator* allocator_;
  std::size_t count_;
  std::size_t filled_ = 0;
  char** strings_ = nullptr;
};

}  // namespace ort_host::abi
