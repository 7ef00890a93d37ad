// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "conversions/element_type.h"

namespace conversions {

/// Returns the product of `dims` (1 for a scalar), or nothing if an extent is negative or the product does not
/// fit. An extent of 0 anywhere makes the product 0, whatever the other extents are.
std::optional<int64_t> CheckedElementCount(std::span<const int64_t> dims) noexcept;

/// Returns the bytes that `count` elements of `type` fill (sub-byte types are packed, rounded up to a whole byte;
/// a string counts as one std::string), or nothing on overflow, a negative count or an undefined type.
std::optional<std::size_t> CheckedByteSize(ElementType type, int64_t count) noexcept;

/// CheckedByteSize of CheckedElementCount.
std::optional<std::size_t> CheckedByteSize(ElementType type, std::span<const int64_t> dims) noexcept;

}  // namespace conversions
