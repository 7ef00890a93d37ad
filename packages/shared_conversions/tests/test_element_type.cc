// SPDX-License-Identifier: Apache-2.0
#include "conversions/element_type.h"

#include <cstring>
#include <set>
#include <string>

#include "check.h"

using namespace conversions;

// The two numberings agree up to 23 and differ from there on: a cast from one to the other would turn UINT2 into
// FLOAT8E8M0. The 6-bit floats have no number in the pinned ABI.
static void NumberingsOfTheNewestTypes() {
  CHECK(ToOnnx(ElementType::kFloat8E8M0) == 24 && ToOrt(ElementType::kFloat8E8M0) == 26);
  CHECK(ToOnnx(ElementType::kUint2) == 25 && ToOrt(ElementType::kUint2) == 24);
  CHECK(ToOnnx(ElementType::kInt2) == 26 && ToOrt(ElementType::kInt2) == 25);
  CHECK(FromOrt(24) == ElementType::kUint2);
  CHECK(FromOrt(25) == ElementType::kInt2);
  CHECK(FromOrt(26) == ElementType::kFloat8E8M0);
  CHECK(FromOnnx(24) == ElementType::kFloat8E8M0);
  CHECK(FromOnnx(27) == ElementType::kFloat6E2M3 && ToOrt(ElementType::kFloat6E2M3) == 0);
  CHECK(FromOnnx(28) == ElementType::kFloat6E3M2 && ToOrt(ElementType::kFloat6E3M2) == 0);
  for (int i = 0; i <= 23; ++i) CHECK(ToOrt(*FromOnnx(i)) == i);
}

static void EveryNumberAndNameIsUsedOnce() {
  std::set<int> ort;
  std::set<std::string> names;
  for (int i = 0; i < kElementTypeCount; ++i) {
    const auto type = FromOnnx(i);
    CHECK(type && ToOnnx(*type) == i);
    if (i < 27) CHECK(FromOrt(ToOrt(*type)) == type);
    CHECK(FromName(Name(*type)) == type);
    ort.insert(ToOrt(*type));
    names.insert(Name(*type));
  }
  CHECK(ort.size() == 27 && *ort.rbegin() == 26);
  CHECK(names.size() == kElementTypeCount);
}

static void NumbersAndNamesThatDoNotExist() {
  CHECK(!FromOnnx(-1) && !FromOnnx(29) && !FromOnnx(int64_t{1} << 32));
  CHECK(!FromOrt(-1) && !FromOrt(27) && !FromOrt((int64_t{1} << 32) + 1));
  CHECK(!FromName("") && !FromName("Float") && !FromName("float32") && !FromName("floa"));
  CHECK(Info(static_cast<ElementType>(99)).type == ElementType::kUndefined);
  CHECK(Info(static_cast<ElementType>(-1)).type == ElementType::kUndefined);
}

static void Widths() {
  CHECK(Info(ElementType::kComplex128).bits == 128 && Info(ElementType::kBool).bits == 8);
  CHECK(Info(ElementType::kString).bits == 0 && Info(ElementType::kUndefined).bits == 0);
  CHECK(IsSubByte(ElementType::kInt4) && IsSubByte(ElementType::kUint4) && IsSubByte(ElementType::kFloat4E2M1));
  CHECK(IsSubByte(ElementType::kInt2) && IsSubByte(ElementType::kUint2));
  CHECK(IsSubByte(ElementType::kFloat6E2M3) && IsSubByte(ElementType::kFloat6E3M2));
  CHECK(!IsSubByte(ElementType::kInt8) && !IsSubByte(ElementType::kFloat8E8M0) && !IsSubByte(ElementType::kString));
  CHECK(!IsSubByte(ElementType::kUndefined));
  for (int i = 0; i < kElementTypeCount; ++i) {
    const auto& info = Info(*FromOnnx(i));
    CHECK(info.alignment >= 1 && (info.alignment & (info.alignment - 1)) == 0);
  }
  CHECK(std::strcmp(Info(ElementType::kFloat8E8M0).numpy_name, "float8_e8m0fnu") == 0);
  CHECK(Info(ElementType::kUndefined).numpy_name == nullptr);
}

int main() {
  NumberingsOfTheNewestTypes();
  EveryNumberAndNameIsUsedOnce();
  NumbersAndNamesThatDoNotExist();
  Widths();
}
