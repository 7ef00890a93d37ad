// SPDX-License-Identifier: Apache-2.0
#include "conversions/checked_size.h"

#include <cstdint>
#include <string>
#include <vector>

#include "check.h"

using namespace conversions;

static constexpr int64_t kMax = INT64_MAX;
static constexpr int64_t kTwo32 = int64_t{1} << 32;

static std::optional<int64_t> Count(std::vector<int64_t> dims) { return CheckedElementCount(dims); }

static void Counts() {
  CHECK(Count({}) == 1);
  CHECK(Count({2, 3}) == 6);
  CHECK(Count({0}) == 0);
  CHECK(Count({kMax}) == kMax);
  CHECK(Count({kMax, 1}) == kMax);
}

static void OverflowAndNegativesAreNoCount() {
  CHECK(!Count({kMax, 2}));
  CHECK(!Count({kTwo32, kTwo32}));
  CHECK(!Count({kTwo32, kTwo32 / 2}));
  CHECK(!Count({-1}) && !Count({2, -1}) && !Count({INT64_MIN}));
  // A zero hides an overflow wherever it stands, and never a negative extent.
  CHECK(Count({kMax, kMax, 0}) == 0 && Count({0, kMax, kMax}) == 0);
  CHECK(!Count({0, -1}) && !Count({-1, 0}));
}

static void Bytes() {
  CHECK(CheckedByteSize(ElementType::kFloat, int64_t{3}) == 12u);
  CHECK(CheckedByteSize(ElementType::kComplex128, int64_t{2}) == 32u);
  CHECK(CheckedByteSize(ElementType::kString, int64_t{2}) == 2 * sizeof(std::string));
  CHECK(CheckedByteSize(ElementType::kFloat, std::vector<int64_t>{2, 3}) == 24u);
  CHECK(CheckedByteSize(ElementType::kFloat, std::vector<int64_t>{}) == 4u);
  CHECK(CheckedByteSize(ElementType::kFloat, std::vector<int64_t>{4, 0}) == 0u);
}

static void PackedTypesRoundUpToAByte() {
  const std::size_t four_bit[] = {0, 1, 1, 2, 2, 3};
  const std::size_t two_bit[] = {0, 1, 1, 1, 1, 2};
  const std::size_t six_bit[] = {0, 1, 2, 3, 3, 4};
  for (int64_t n = 0; n < 6; ++n) {
    CHECK(CheckedByteSize(ElementType::kInt4, n) == four_bit[n]);
    CHECK(CheckedByteSize(ElementType::kUint2, n) == two_bit[n]);
    CHECK(CheckedByteSize(ElementType::kFloat6E2M3, n) == six_bit[n]);
  }
  CHECK(CheckedByteSize(ElementType::kUint4, kMax) == std::size_t{1} << 62);
  // 6 * (2^63 - 1) / 8 rounded up; the product itself has 66 bits.
  CHECK(CheckedByteSize(ElementType::kFloat6E3M2, kMax) == std::size_t{3} << 61);
}

static void ByteSizesThatDoNotFit() {
  CHECK(!CheckedByteSize(ElementType::kFloat, kMax));
  CHECK(!CheckedByteSize(ElementType::kDouble, kMax / 8 + 1));
  CHECK(CheckedByteSize(ElementType::kDouble, kMax / 8) == static_cast<std::size_t>(kMax / 8 * 8));
  CHECK(CheckedByteSize(ElementType::kInt8, kMax) == static_cast<std::size_t>(kMax));
  CHECK(!CheckedByteSize(ElementType::kFloat, int64_t{-1}));
  CHECK(!CheckedByteSize(ElementType::kUndefined, int64_t{1}));
  CHECK(!CheckedByteSize(static_cast<ElementType>(99), int64_t{1}));
  CHECK(!CheckedByteSize(ElementType::kFloat, std::vector<int64_t>{kTwo32, kTwo32}));
}

int main() {
  Counts();
  OverflowAndNegativesAreNoCount();
  Bytes();
  PackedTypesRoundUpToAByte();
  ByteSizesThatDoNotFit();
}
