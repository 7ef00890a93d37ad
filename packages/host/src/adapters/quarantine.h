// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>

#include "adapters/checked.h"

namespace ort_host {

/// For containers whose elements are adapters: in checked mode their memory is kept for a while, as that of adapters
/// that are made one by one, so that a handle that is used too late is known.
template <class T>
struct QuarantineAllocator {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  QuarantineAllocator() = default;
  template <class U>
  QuarantineAllocator(const QuarantineAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (checked::enabled()) [[unlikely]]
      return checked::Bury(memory, count * sizeof(T), 0, [](void* block) { ::operator delete(block); });
    ::operator delete(memory, count * sizeof(T));
  }
  friend bool operator==(QuarantineAllocator, QuarantineAllocator) noexcept { return true; }
};

}  // namespace ort_host
