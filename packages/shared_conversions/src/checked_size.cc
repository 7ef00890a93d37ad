// SPDX-License-Identifier: Apache-2.0
#include "conversions/checked_size.h"

#include <limits>
#include <string>

namespace conversions {

std::optional<int64_t> CheckedElementCount(std::span<const int64_t> dims) noexcept {
  bool has_zero = false;
  for (const int64_t extent : dims) {
    if (extent < 0) return std::nullopt;
    has_zero |= extent == 0;
  }
  if (has_zero) return 0;
  int64_t count = 1;
  for (const int64_t extent : dims) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return count;
}

std::optional<std::size_t> CheckedByteSize(ElementType type, int64_t count) noexcept {
  if (count < 0 || Info(type).type == ElementType::kUndefined) return std::nullopt;
  const auto elements = static_cast<uint64_t>(count);
  uint64_t bytes = 0;
  if (IsSubByte(type)) {
    const auto bits = static_cast<uint64_t>(Info(type).bits);  // eight elements fill as many bytes
    bytes = elements / 8 * bits + (elements % 8 * bits + 7) / 8;
  } else {
    const uint64_t width =
        type == ElementType::kString ? sizeof(std::string) : static_cast<uint64_t>(Info(type).bits) / 8;
    if (__builtin_mul_overflow(elements, width, &bytes)) return std::nullopt;
  }
  // No object may be larger than PTRDIFF_MAX: pointer differences inside it would overflow.
  if (bytes > static_cast<uint64_t>(std::numeric_limits<std::ptrdiff_t>::max())) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

std::optional<std::size_t> CheckedByteSize(ElementType type, std::span<const int64_t> dims) noexcept {
  const auto count = CheckedElementCount(dims);
  return count ? CheckedByteSize(type, *count) : std::nullopt;
}

}  // namespace conversions
