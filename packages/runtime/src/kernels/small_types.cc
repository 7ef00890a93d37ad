// SPDX-License-Identifier: Apache-2.0
#include "kernels/small_types.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "conversions/packing.h"

namespace light {
namespace {

/// A float with a sign; the exponent of its smallest normal number is 1 - bias.
struct Format {
  int mantissa_bits, bias;
  uint8_t sign;      ///< the bit
  uint8_t largest;   ///< code of the largest finite number
  uint8_t infinity;  ///< 0 if there is none
  uint8_t nan;       ///< 0 if there is none
  bool one_zero;     ///< the code of minus zero is the NaN
};

const Format* FindFormat(ElementType type) noexcept {
  static constexpr Format kE4M3Fn{3, 7, 0x80, 0x7e, 0, 0x7f, false}, kE4M3Fnuz{3, 8, 0x80, 0x7f, 0, 0x80, true},
      kE5M2{2, 15, 0x80, 0x7b, 0x7c, 0x7e, false}, kE5M2Fnuz{2, 16, 0x80, 0x7f, 0, 0x80, true},
      kE2M1{1, 1, 0x8, 0x7, 0, 0, false}, kE2M3{3, 1, 0x20, 0x1f, 0, 0, false}, kE3M2{2, 3, 0x20, 0x1f, 0, 0, false};
  switch (type) {
    case ElementType::kFloat8E4M3FN:
      return &kE4M3Fn;
    case ElementType::kFloat8E4M3FNUZ:
      return &kE4M3Fnuz;
    case ElementType::kFloat8E5M2:
      return &kE5M2;
    case ElementType::kFloat8E5M2FNUZ:
      return &kE5M2Fnuz;
    case ElementType::kFloat4E2M1:
      return &kE2M1;
    case ElementType::kFloat6E2M3:
      return &kE2M3;
    case ElementType::kFloat6E3M2:
      return &kE3M2;
    default:
      return nullptr;
  }
}

bool IsSigned(ElementType type) { return type == ElementType::kInt4 || type == ElementType::kInt2; }

constexpr uint8_t kExponentNan = 0xff;  // of float8e8m0, whose codes are exponents and nothing else
constexpr int kExponentBias = 127;

float Decode(const Format& format, unsigned code) {
  const unsigned magnitude = code & (format.sign - 1u);
  const float sign = code & format.sign ? -1.f : 1.f;
  if (format.one_zero ? code == format.nan : format.nan != 0 && magnitude > std::max(format.largest, format.infinity))
    return std::numeric_limits<float>::quiet_NaN();
  if (format.infinity != 0 && magnitude == format.infinity) return sign * std::numeric_limits<float>::infinity();
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const unsigned one = 1u << format.mantissa_bits, mantissa = magnitude & (one - 1);
  const int scale = std::max(exponent, 1) - format.bias - format.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(exponent == 0 ? mantissa : mantissa | one), scale);
}

}  // namespace

bool IsSmallInteger(ElementType type) noexcept {
  return type == ElementType::kInt4 || type == ElementType::kUint4 || type == ElementType::kInt2 ||
         type == ElementType::kUint2;
}

bool IsSmallType(ElementType type) noexcept {
  return IsSmallInteger(type) || type == ElementType::kFloat8E8M0 || FindFormat(type) != nullptr;
}

TypeSet SmallTypes() {
  TypeSet set;
  for (int32_t number = 0; number < conversions::kElementTypeCount; ++number)
    if (IsSmallType(static_cast<ElementType>(number))) set.tensors |= uint32_t{1} << number;
  return set;
}

SmallValues::SmallValues(ElementType type) {
  const Format* format = FindFormat(type);
  const int bits = conversions::Info(type).bits;
  for (int code = 0; code < 256; ++code) {
    if (format != nullptr) {
      values_[code] = Decode(*format, static_cast<unsigned>(code) & (2u * format->sign - 1));
    } else if (type == ElementType::kFloat8E8M0) {
      values_[code] =
          code == kExponentNan ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.f, code - kExponentBias);
    } else {
      const int low = code & ((1 << bits) - 1);
      values_[code] = static_cast<float>(IsSigned(type) && low >> (bits - 1) ? low - (1 << bits) : low);
    }
  }
}

uint8_t SmallEncoder::operator()(double value) const noexcept {
  if (IsSmallInteger(type_)) return EncodeInteger(value);
  return type_ == ElementType::kFloat8E8M0 ? EncodeExponent(value) : EncodeFloat(value);
}

uint8_t SmallEncoder::EncodeInteger(double value) const noexcept {
  const int bits = conversions::Info(type_).bits;
  if (value != value) return 0;
  // Far beyond any number of these types, and still one of an int64.
  const double low = IsSigned(type_) ? -(1 << (bits - 1)) : 0, high = low + (1 << bits) - 1;
  const auto number = static_cast<int64_t>(rounding_.clamp_integers ? std::clamp(value, low, high)
                                                                    : std::clamp(value, -0x1p62, 0x1p62));
  return static_cast<uint8_t>(number & ((1 << bits) - 1));
}

uint8_t SmallEncoder::EncodeExponent(double value) const noexcept {
  const double magnitude = std::fabs(value);  // there is no sign
  if (value != value) return kExponentNan;
  const auto beyond = [&](int code) { return rounding_.saturate ? static_cast<uint8_t>(code) : kExponentNan; };
  if (magnitude == 0) return beyond(0);
  if (std::isinf(magnitude)) return beyond(kExponentNan - 1);
  int exponent;
  const double fraction = 2 * std::frexp(magnitude, &exponent);  // in [1, 2)
  int code = exponent - 1 + kExponentBias;
  if (rounding_.mode == SmallRounding::Mode::kUp ? fraction > 1
                                                 : rounding_.mode == SmallRounding::Mode::kNearest && fraction >= 1.5)
    ++code;
  if (code < 0) return beyond(0);
  if (code >= kExponentNan) return beyond(kExponentNan - 1);
  return static_cast<uint8_t>(code);
}

uint8_t SmallEncoder::EncodeFloat(double value) const noexcept {
  const Format& format = *FindFormat(type_);
  const uint8_t sign = std::signbit(value) ? format.sign : 0;
  if (value != value) return format.one_zero || format.nan == 0 ? format.nan : sign | format.nan;
  const double magnitude = std::fabs(value);
  int code = format.largest + 1;  // beyond
  if (magnitude < 0x1p60) {
    const int least = 1 - format.bias;
    const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
    // The mantissa, with its leading 1 unless the number is smaller than all normal ones. Rounding up to a power of two
    // carries into the exponent.
    const double mantissa = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
    code = ((exponent - least) << format.mantissa_bits) + static_cast<int>(mantissa);
  }
  if (code > format.largest) {
    if (rounding_.saturate || (format.nan == 0 && format.infinity == 0)) return sign | format.largest;
    if (format.infinity != 0) return sign | format.infinity;
    return format.one_zero ? format.nan : sign | format.nan;
  }
  if (code == 0 && format.one_zero) return 0;
  return static_cast<uint8_t>(sign | code);
}

void ReadCodes(const Tensor& tensor, int64_t first, int64_t n, uint8_t* codes) noexcept {
  const int bits = conversions::Info(tensor.type()).bits;
  const auto* from = static_cast<const uint8_t*>(tensor.data()) + first / 8 * bits;
  if (bits == 8)
    std::memcpy(codes, from, static_cast<std::size_t>(n));
  else
    conversions::UnpackSubByte(tensor.type(), from, static_cast<std::size_t>(n), codes);
}

void WriteCodes(const uint8_t* codes, int64_t first, int64_t n, Tensor& tensor) noexcept {
  const int bits = conversions::Info(tensor.type()).bits;
  auto* to = static_cast<uint8_t*>(tensor.data()) + first / 8 * bits;
  if (bits == 8)
    std::memcpy(to, codes, static_cast<std::size_t>(n));
  else
    conversions::PackSubByte(tensor.type(), codes, static_cast<std::size_t>(n), to);
}

}  // namespace light
