// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "conversions/element_type.h"

namespace conversions {

/// Borrowed bytes. Whoever makes the view keeps the bytes alive.
struct BufferView {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// Bytes together with what keeps them alive.
struct OwnedBuffer {
  void* data = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<void> owner;
};

/// The alignment of every buffer that this project allocates, in bytes.
inline constexpr std::size_t kBufferAlignment = 64;

/// Memory aligned to kBufferAlignment, to be freed with std::free; null if there is none. Large blocks may get huge
/// pages.
/// @param bytes  more than 0
void* AllocateBytes(std::size_t bytes) noexcept;

/// Allocates `bytes` as AllocateBytes does. 0 bytes give a null pointer.
/// Throws std::bad_alloc.
OwnedBuffer AllocateBuffer(std::size_t bytes);

/// Allocates `count` empty std::string objects, destroyed with the last owner. Throws std::bad_alloc.
OwnedBuffer AllocateStrings(std::size_t count);

/// True if `pointer` is aligned for elements of `type`.
inline bool IsAlignedFor(ElementType type, const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer) % Info(type).alignment == 0;
}

/// Says what is wrong with taking `view` as a dense tensor of `type` and `extents`, or "" if nothing is: overflow,
/// a null pointer with a positive size, too few bytes, or a misaligned address. Nothing is read from the view.
std::string CheckView(const BufferView& view, ElementType type, std::span<const int64_t> extents);

}  // namespace conversions
