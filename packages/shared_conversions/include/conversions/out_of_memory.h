// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <new>

namespace conversions {

/// The failure to allocate memory that can say how much was asked for. Takes no memory itself.
class OutOfMemory final : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t bytes) noexcept {
    std::snprintf(message_, sizeof(message_), "out of memory: needs %zu bytes", bytes);
  }
  const char* what() const noexcept override { return message_; }

 private:
  char message_[64];
};

}  // namespace conversions
