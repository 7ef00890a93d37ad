// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "light/error.h"
#include "light/operator_schema.h"

namespace light {

/// IEEE binary16, a storage type: kernels compute in float.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value) noexcept;
  explicit operator float() const noexcept;
};

/// The upper half of a float, a storage type.
struct Bfloat16 {
  uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(float value) noexcept {
    const auto u = std::bit_cast<uint32_t>(value);
    if ((u & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>((u >> 16) | 0x40u);  // rounding must not turn a NaN into an infinity
    } else {
      bits = static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }
  }
  explicit operator float() const noexcept { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

inline Float16::operator float() const noexcept {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float tiny = static_cast<float>(magnitude) * 0x1p-24f;
  return sign ? -tiny : tiny;
}

inline Float16::Float16(float value) noexcept {
  const auto u = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((u >> 16) & 0x8000u);
  const uint32_t magnitude = u & 0x7fffffffu;
  uint32_t result;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // rounds to 65536 or more
    result = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {
    result = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  } else {
    // Adding 0.5 leaves the rounded multiple of 2^-24 in the low bits.
    result = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  }
  bits = static_cast<uint16_t>(sign | result);
}

template <class T>
inline constexpr bool kIsSmallFloat = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

/// What a kernel computes in for elements of type T.
template <class T>
using ComputeType = std::conditional_t<kIsSmallFloat<T>, float, T>;

template <class T>
struct TypeTag {
  using type = T;
};

template <class... Ts>
struct TypeList {};

template <class T>
inline constexpr ElementType kElementOf = ElementType::kUndefined;
template <>
inline constexpr ElementType kElementOf<float> = ElementType::kFloat;
template <>
inline constexpr ElementType kElementOf<double> = ElementType::kDouble;
template <>
inline constexpr ElementType kElementOf<Float16> = ElementType::kFloat16;
template <>
inline constexpr ElementType kElementOf<Bfloat16> = ElementType::kBfloat16;
template <>
inline constexpr ElementType kElementOf<int8_t> = ElementType::kInt8;
template <>
inline constexpr ElementType kElementOf<int16_t> = ElementType::kInt16;
template <>
inline constexpr ElementType kElementOf<int32_t> = ElementType::kInt32;
template <>
inline constexpr ElementType kElementOf<int64_t> = ElementType::kInt64;
template <>
inline constexpr ElementType kElementOf<uint8_t> = ElementType::kUint8;
template <>
inline constexpr ElementType kElementOf<uint16_t> = ElementType::kUint16;
template <>
inline constexpr ElementType kElementOf<uint32_t> = ElementType::kUint32;
template <>
inline constexpr ElementType kElementOf<uint64_t> = ElementType::kUint64;
template <>
inline constexpr ElementType kElementOf<bool> = ElementType::kBool;
template <>
inline constexpr ElementType kElementOf<std::string> = ElementType::kString;

using FloatTypes = TypeList<float, double, Float16, Bfloat16>;
using SignedTypes = TypeList<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t>;
using NumberTypes = TypeList<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                             uint32_t, uint64_t>;
using NumberAndBoolTypes = TypeList<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                                    uint16_t, uint32_t, uint64_t, bool>;
using MatrixTypes = TypeList<float, double, Float16, Bfloat16, int32_t, int64_t, uint32_t, uint64_t>;

template <class... Ts>
TypeSet SetOf(TypeList<Ts...>) {
  return TypeSet::Tensors({kElementOf<Ts>...});
}

/// Calls `body(TypeTag<T>{})` for the T in the list whose element type is `type`, and returns what it returns.
/// Throws Error (kNotImplemented) if none is: a registration admits more than its kernel has.
template <class First, class... Rest, class F>
auto WithType(TypeList<First, Rest...>, ElementType type, F&& body) {
  if (type == kElementOf<First>) return body(TypeTag<First>{});
  if constexpr (sizeof...(Rest) > 0) {
    return WithType(TypeList<Rest...>{}, type, std::forward<F>(body));
  } else {
    throw Error(ErrorCode::kNotImplemented, std::string("no kernel for elements of type ") + conversions::Name(type));
  }
}

}  // namespace light
