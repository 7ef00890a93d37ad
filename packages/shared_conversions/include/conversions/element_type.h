// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace conversions {

/// Element types of dense tensors, numbered as ONNX's TensorProto.DataType numbers them.
enum class ElementType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};

inline constexpr int32_t kElementTypeCount = 29;

/// One row of the element type table.
struct ElementTypeInfo {
  ElementType type;
  int32_t onnx;            ///< TensorProto.DataType
  int32_t ort;             ///< ONNXTensorElementDataType; differs from `onnx` from 24 on; 0 if it has none
  const char* name;        ///< lower-case name of the type in ONNX type strings, as in `tensor(float)`
  int bits;                ///< bits of one element; 0 for undefined and string
  const char* numpy_name;  ///< numpy dtype name, or the ml_dtypes name; nullptr if there is none
  std::size_t alignment;   ///< alignment in bytes that a kernel may rely on
};

/// Returns the row of `type`. A number outside the table gives the row of kUndefined.
const ElementTypeInfo& Info(ElementType type) noexcept;

/// Returns the type with that number of TensorProto.DataType, or nothing if ONNX has no such number.
std::optional<ElementType> FromOnnx(int64_t number) noexcept;

/// Returns the type with that number of ONNXTensorElementDataType, or nothing if there is no such number.
std::optional<ElementType> FromOrt(int64_t number) noexcept;

/// Returns the type of that ONNX name (`float`, `int64`, `float8e4m3fn`), or nothing.
std::optional<ElementType> FromName(std::string_view name) noexcept;

inline int32_t ToOnnx(ElementType type) noexcept { return Info(type).onnx; }
inline int32_t ToOrt(ElementType type) noexcept { return Info(type).ort; }
inline const char* Name(ElementType type) noexcept { return Info(type).name; }

/// True for types whose elements do not fill whole bytes (2-bit, 4-bit and 6-bit types), packed in memory.
inline bool IsSubByte(ElementType type) noexcept {
  const int bits = Info(type).bits;
  return bits > 0 && bits < 8;
}

}  // namespace conversions
