// SPDX-License-Identifier: Apache-2.0
#include "conversions/buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

#include "conversions/checked_size.h"
#include "conversions/out_of_memory.h"
#include "conversions/shape.h"
#include "spare_blocks.h"

namespace conversions {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLargeBuffer = 2 * kHugePage;

/// Asks for huge pages in a large block: whoever walks through one is slowed down by the translation of addresses
/// otherwise. Nothing depends on getting them.
void AdviseHugePages(void* data, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = (begin + bytes) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kSpareBlock = std::numeric_limits<std::size_t>::max();  // it would not see who comes too late
#else
constexpr std::size_t kSpareBlock = std::size_t{1} << 20;
#endif

/// Never destroyed: buffers may be freed by static destructors of somebody else.
SpareBlocks& Spare() {
  static auto* blocks = new SpareBlocks;
  return *blocks;
}

OwnedBuffer AllocateSpare(std::size_t bytes) {
  SpareBlocks::Block block = Spare().Take(bytes);
  if (block.data == nullptr) block = {AllocateBytes(bytes), bytes};
  if (block.data == nullptr) throw OutOfMemory(bytes);
  return {block.data, bytes, std::shared_ptr<void>(block.data, [block](void*) { Spare().Keep(block); })};
}

}  // namespace

void* AllocateBytes(std::size_t bytes) noexcept {
  if (bytes > std::numeric_limits<std::size_t>::max() - kHugePage) return nullptr;
  const bool is_large = bytes >= kLargeBuffer;
  // Not aligned_alloc: it takes multiples of the alignment only, and a sanitizer would not see the real end.
  void* data = nullptr;
  if (posix_memalign(&data, is_large ? kHugePage : kBufferAlignment, bytes) != 0) return nullptr;
  if (is_large) AdviseHugePages(data, bytes);
  return data;
}

OwnedBuffer AllocateBuffer(std::size_t bytes) {
  if (bytes == 0) return {};
  if (bytes >= kSpareBlock) return AllocateSpare(bytes);
  void* const data = AllocateBytes(bytes);
  if (data == nullptr) throw OutOfMemory(bytes);
  return {data, bytes, std::shared_ptr<void>(data, std::free)};
}

OwnedBuffer AllocateStrings(std::size_t count) {
  if (count == 0) return {};
  if (count > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(std::string)) {
    throw OutOfMemory(std::numeric_limits<std::size_t>::max());
  }
  const std::size_t bytes = count * sizeof(std::string);
  auto* const made = new (std::nothrow) std::string[count];
  if (made == nullptr) throw OutOfMemory(bytes);
  std::shared_ptr<std::string[]> strings(made);
  return {made, bytes, strings};
}

std::string CheckView(const BufferView& view, ElementType type, std::span<const int64_t> extents) {
  const auto needed = CheckedByteSize(type, extents);
  const std::string what = std::string(Name(type)) + FormatExtents(extents);
  if (!needed) return what + " has no size that fits in memory";
  if (*needed == 0) return "";
  if (view.data == nullptr) return what + " needs " + std::to_string(*needed) + " bytes, got a null pointer";
  if (view.bytes < *needed) {
    return what + " needs " + std::to_string(*needed) + " bytes, got " + std::to_string(view.bytes);
  }
  if (!IsAlignedFor(type, view.data)) {
    return what + " needs an address aligned to " + std::to_string(Info(type).alignment) + " bytes";
  }
  return "";
}

}  // namespace conversions
