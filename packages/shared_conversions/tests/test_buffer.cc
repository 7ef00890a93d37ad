// SPDX-License-Identifier: Apache-2.0
#include "conversions/buffer.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "check.h"
#include "conversions/packing.h"

using namespace conversions;
using Extents = std::vector<int64_t>;

static void BuffersAreAligned() {
  for (const std::size_t bytes : {1u, 63u, 64u, 65u, 4097u}) {
    const OwnedBuffer buffer = AllocateBuffer(bytes);
    CHECK(buffer.bytes == bytes && buffer.owner.get() == buffer.data);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data) % kBufferAlignment == 0);
    std::memset(buffer.data, 0xAB, bytes);
  }
  const OwnedBuffer nothing = AllocateBuffer(0);
  CHECK(nothing.data == nullptr && nothing.bytes == 0 && !nothing.owner);
}

template <class Function>
static bool ThrowsBadAlloc(Function&& function) {
  try {
    function();
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

static void SizesThatCannotBeAreBadAlloc() {
  constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {kMax, kMax - 1, kMax - kBufferAlignment + 1, kMax / 2}) {
    CHECK(ThrowsBadAlloc([&] { AllocateBuffer(bytes); }));
  }
  CHECK(ThrowsBadAlloc([&] { AllocateStrings(kMax); }));
  CHECK(ThrowsBadAlloc([&] { AllocateStrings(kMax / sizeof(std::string) + 2); }));
}

static void StringsAreConstructed() {
  OwnedBuffer buffer = AllocateStrings(3);
  auto* strings = static_cast<std::string*>(buffer.data);
  CHECK(strings[0].empty() && strings[2].empty() && buffer.bytes == 3 * sizeof(std::string));
  strings[1].assign(1000, 'x');
  CHECK(AllocateStrings(0).data == nullptr);
}

static void ViewsAreCheckedBeforeAnythingIsRead() {
  alignas(8) unsigned char bytes[16] = {};
  const auto check = [&](const void* data, std::size_t size, ElementType type, Extents extents) {
    return CheckView({data, size}, type, extents);
  };
  CHECK(check(bytes, 16, ElementType::kFloat, {2, 2}) == "");
  CHECK(check(bytes, 16, ElementType::kFloat, {3}) == "");
  CHECK(check(bytes, 15, ElementType::kFloat, {2, 2}) == "float[2, 2] needs 16 bytes, got 15");
  CHECK(check(nullptr, 16, ElementType::kFloat, {4}) == "float[4] needs 16 bytes, got a null pointer");
  CHECK(check(nullptr, 0, ElementType::kFloat, {0}) == "");
  CHECK(check(bytes + 1, 15, ElementType::kFloat, {1}) == "float[1] needs an address aligned to 4 bytes");
  CHECK(check(bytes + 1, 15, ElementType::kUint8, {15}) == "");
  CHECK(check(bytes, 1, ElementType::kInt4, {2}) == "");
  CHECK(check(bytes, 1, ElementType::kInt4, {3}) == "int4[3] needs 2 bytes, got 1");
  CHECK(check(bytes, 16, ElementType::kFloat, {-1}) == "float[-1] has no size that fits in memory");
  CHECK(check(bytes, 16, ElementType::kFloat, {INT64_MAX, 2}) != "");
  CHECK(check(bytes, 16, ElementType::kUndefined, {1}) != "");
}

static void PacksTheFirstElementIntoTheLowBits() {
  const uint8_t four[] = {0xFF, 0x01, 0x08};  // -1, 1, -8 as int4; the high bits are not part of the element
  uint8_t packed[2] = {0xEE, 0xEE};
  PackSubByte(ElementType::kInt4, four, 3, packed);
  CHECK(packed[0] == 0x1F && packed[1] == 0x08);
  uint8_t unpacked[3];
  UnpackSubByte(ElementType::kInt4, packed, 3, unpacked);
  CHECK(unpacked[0] == 0xFF && unpacked[1] == 0x01 && unpacked[2] == 0xF8);
  UnpackSubByte(ElementType::kUint4, packed, 3, unpacked);
  CHECK(unpacked[0] == 0x0F && unpacked[1] == 0x01 && unpacked[2] == 0x08);
  UnpackSubByte(ElementType::kFloat4E2M1, packed, 3, unpacked);
  CHECK(unpacked[0] == 0x0F && unpacked[2] == 0x08);

  const uint8_t two[] = {3, 0, 2, 1, 2};
  PackSubByte(ElementType::kUint2, two, 5, packed);
  CHECK(packed[0] == 0b01'10'00'11 && packed[1] == 0b10);
  uint8_t five[5];
  UnpackSubByte(ElementType::kUint2, packed, 5, five);
  CHECK(std::memcmp(five, two, 5) == 0);
  UnpackSubByte(ElementType::kInt2, packed, 5, five);
  CHECK(five[0] == 0xFF && five[1] == 0 && five[2] == 0xFE && five[3] == 1 && five[4] == 0xFE);
}

// onnx.proto: byte0 = x0 | (x1 & 3) << 6; byte1 = x1 >> 2 | (x2 & 15) << 4; byte2 = x2 >> 4 | x3 << 2.
static void SixBitElementsLieAcrossBytes() {
  const uint8_t codes[] = {0x3F, 0x15, 0x22, 0x01, 0xFF};  // of the last only the low 6 bits belong to the element
  uint8_t packed[5] = {0, 0, 0, 0, 0xEE};
  PackSubByte(ElementType::kFloat6E2M3, codes, 5, packed);
  CHECK(packed[0] == (0x3F | (0x15 & 3) << 6) && packed[1] == (0x15 >> 2 | (0x22 & 15) << 4));
  CHECK(packed[2] == (0x22 >> 4 | 0x01 << 2) && packed[3] == 0x3F && packed[4] == 0xEE);
  uint8_t unpacked[5];
  UnpackSubByte(ElementType::kFloat6E3M2, packed, 5, unpacked);
  CHECK(std::memcmp(unpacked, codes, 4) == 0 && unpacked[4] == 0x3F);
}

int main() {
  BuffersAreAligned();
  SizesThatCannotBeAreBadAlloc();
  StringsAreConstructed();
  ViewsAreCheckedBeforeAnythingIsRead();
  PacksTheFirstElementIntoTheLowBits();
  SixBitElementsLieAcrossBytes();
}
