// SPDX-License-Identifier: Apache-2.0
#include "conversions/packing.h"

namespace conversions {

void PackSubByte(ElementType type, const uint8_t* unpacked, std::size_t count, uint8_t* packed) noexcept {
  if (!IsSubByte(type)) return;
  const unsigned bits = static_cast<unsigned>(Info(type).bits);
  const unsigned per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  for (std::size_t i = 0; i < count; i += per_byte) {
    unsigned byte = 0;
    for (unsigned j = 0; j < per_byte && i + j < count; ++j) byte |= (unpacked[i + j] & mask) << (j * bits);
    packed[i / per_byte] = static_cast<uint8_t>(byte);
  }
}

void UnpackSubByte(ElementType type, const uint8_t* packed, std::size_t count, uint8_t* unpacked) noexcept {
  if (!IsSubByte(type)) return;
  const unsigned bits = static_cast<unsigned>(Info(type).bits);
  const unsigned per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  const bool is_signed = type == ElementType::kInt4 || type == ElementType::kInt2;
  const unsigned sign = is_signed ? 1u << (bits - 1) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned value = (packed[i / per_byte] >> (i % per_byte * bits)) & mask;
    unpacked[i] = static_cast<uint8_t>((value ^ sign) - sign);
  }
}

}  // namespace conversions
