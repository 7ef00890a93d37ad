// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "conversions/element_type.h"

namespace conversions {

/// Packs `count` elements of a sub-byte type, one per byte in `unpacked` (the high bits are ignored), into ONNX's
/// layout: the first element in the low bits, unused bits of the last byte zero. Nothing happens for other types.
void PackSubByte(ElementType type, const uint8_t* unpacked, std::size_t count, uint8_t* packed) noexcept;

/// The reverse of PackSubByte. Signed integer types are sign-extended to the whole byte, others zero-extended.
void UnpackSubByte(ElementType type, const uint8_t* packed, std::size_t count, uint8_t* unpacked) noexcept;

}  // namespace conversions
