// SPDX-License-Identifier: Apache-2.0
#include "conversions/packing.h"

namespace conversions {

// Both go through the elements as one stream of bits, lowest first: 6-bit elements lie across the border of two bytes.

void PackSubByte(ElementType type, const uint8_t* unpacked, std::size_t count, uint8_t* packed) noexcept {
  if (!IsSubByte(type)) return;
  const unsigned bits = static_cast<unsigned>(Info(type).bits);
  const unsigned mask = (1u << bits) - 1;
  unsigned pending = 0;
  unsigned pending_bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    pending |= (unpacked[i] & mask) << pending_bits;
    pending_bits += bits;
    if (pending_bits < 8) continue;
    *packed++ = static_cast<uint8_t>(pending);
    pending >>= 8;
    pending_bits -= 8;
  }
  if (pending_bits > 0) *packed = static_cast<uint8_t>(pending);
}

void UnpackSubByte(ElementType type, const uint8_t* packed, std::size_t count, uint8_t* unpacked) noexcept {
  if (!IsSubByte(type)) return;
  const unsigned bits = static_cast<unsigned>(Info(type).bits);
  const unsigned mask = (1u << bits) - 1;
  const bool is_signed = type == ElementType::kInt4 || type == ElementType::kInt2;
  const unsigned sign = is_signed ? 1u << (bits - 1) : 0;
  unsigned pending = 0;
  unsigned pending_bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (pending_bits < bits) {
      pending |= static_cast<unsigned>(*packed++) << pending_bits;
      pending_bits += 8;
    }
    unpacked[i] = static_cast<uint8_t>(((pending & mask) ^ sign) - sign);
    pending >>= bits;
    pending_bits -= bits;
  }
}

}  // namespace conversions
