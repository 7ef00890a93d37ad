// SPDX-License-Identifier: Apache-2.0
#include "reader/wire_writer.h"

#include <bit>

#include "reader/wire.h"

namespace light {
namespace {

uint32_t Number(WireCursor::WireType type) { return static_cast<uint32_t>(type); }

}  // namespace

void WireWriter::RawVarint(uint64_t value) {
  while (value >= 0x80) {
    bytes_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes_ += static_cast<char>(value);
}

void WireWriter::Varint(uint32_t field, int64_t value) {
  Tag(field, Number(WireCursor::WireType::kVarint));
  RawVarint(static_cast<uint64_t>(value));
}

void WireWriter::Float(uint32_t field, float value) {
  Tag(field, Number(WireCursor::WireType::kFixed32));
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift);
}

void WireWriter::Bytes(uint32_t field, std::string_view bytes) {
  Tag(field, Number(WireCursor::WireType::kBytes));
  RawVarint(bytes.size());
  bytes_ += bytes;
}

}  // namespace light
