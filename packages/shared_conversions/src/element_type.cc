// SPDX-License-Identifier: Apache-2.0
#include "conversions/element_type.h"

#include <array>
#include <complex>
#include <string>

namespace conversions {
namespace {

// Source: onnx.proto3 TensorProto.DataType; ONNXTensorElementDataType of the pinned ABI.
constexpr std::array<ElementTypeInfo, kElementTypeCount> kTable = {{
    {ElementType::kUndefined, 0, 0, "undefined", 0, nullptr, 1},
    {ElementType::kFloat, 1, 1, "float", 32, "float32", 4},
    {ElementType::kUint8, 2, 2, "uint8", 8, "uint8", 1},
    {ElementType::kInt8, 3, 3, "int8", 8, "int8", 1},
    {ElementType::kUint16, 4, 4, "uint16", 16, "uint16", 2},
    {ElementType::kInt16, 5, 5, "int16", 16, "int16", 2},
    {ElementType::kInt32, 6, 6, "int32", 32, "int32", 4},
    {ElementType::kInt64, 7, 7, "int64", 64, "int64", 8},
    {ElementType::kString, 8, 8, "string", 0, "object", alignof(std::string)},
    {ElementType::kBool, 9, 9, "bool", 8, "bool", 1},
    {ElementType::kFloat16, 10, 10, "float16", 16, "float16", 2},
    {ElementType::kDouble, 11, 11, "double", 64, "float64", 8},
    {ElementType::kUint32, 12, 12, "uint32", 32, "uint32", 4},
    {ElementType::kUint64, 13, 13, "uint64", 64, "uint64", 8},
    {ElementType::kComplex64, 14, 14, "complex64", 64, "complex64", 4},
    {ElementType::kComplex128, 15, 15, "complex128", 128, "complex128", 8},
    {ElementType::kBfloat16, 16, 16, "bfloat16", 16, "bfloat16", 2},
    {ElementType::kFloat8E4M3FN, 17, 17, "float8e4m3fn", 8, "float8_e4m3fn", 1},
    {ElementType::kFloat8E4M3FNUZ, 18, 18, "float8e4m3fnuz", 8, "float8_e4m3fnuz", 1},
    {ElementType::kFloat8E5M2, 19, 19, "float8e5m2", 8, "float8_e5m2", 1},
    {ElementType::kFloat8E5M2FNUZ, 20, 20, "float8e5m2fnuz", 8, "float8_e5m2fnuz", 1},
    {ElementType::kUint4, 21, 21, "uint4", 4, "uint4", 1},
    {ElementType::kInt4, 22, 22, "int4", 4, "int4", 1},
    {ElementType::kFloat4E2M1, 23, 23, "float4e2m1", 4, "float4_e2m1fn", 1},
    {ElementType::kFloat8E8M0, 24, 26, "float8e8m0", 8, "float8_e8m0fnu", 1},
    {ElementType::kUint2, 25, 24, "uint2", 2, "uint2", 1},
    {ElementType::kInt2, 26, 25, "int2", 2, "int2", 1},
    // The pinned ABI has no number for these two: a plugin is told "undefined".
    {ElementType::kFloat6E2M3, 27, 0, "float6e2m3", 6, "float6_e2m3fn", 1},
    {ElementType::kFloat6E3M2, 28, 0, "float6e3m2", 6, "float6_e3m2fn", 1},
}};

constexpr bool RowsAreInOrder() {
  for (int32_t i = 0; i < kElementTypeCount; ++i) {
    if (kTable[i].onnx != i || static_cast<int32_t>(kTable[i].type) != i) return false;
  }
  return true;
}
static_assert(RowsAreInOrder(), "the table is indexed by the ONNX number");

}  // namespace

const ElementTypeInfo& Info(ElementType type) noexcept {
  const auto number = static_cast<uint32_t>(type);
  return kTable[number < kTable.size() ? number : 0];
}

std::optional<ElementType> FromOnnx(int64_t number) noexcept {
  if (number < 0 || number >= kElementTypeCount) return std::nullopt;
  return kTable[static_cast<std::size_t>(number)].type;
}

std::optional<ElementType> FromOrt(int64_t number) noexcept {
  for (const auto& row : kTable) {
    if (row.ort == number) return row.type;
  }
  return std::nullopt;
}

std::optional<ElementType> FromName(std::string_view name) noexcept {
  for (const auto& row : kTable) {
    if (name == row.name) return row.type;
  }
  return std::nullopt;
}

}  // namespace conversions
