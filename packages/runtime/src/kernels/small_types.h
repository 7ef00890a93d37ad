// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "light/operator_schema.h"
#include "light/tensor.h"

namespace light {

// Numbers of at most 8 bits that no C++ type holds: floats of 8, 6 and 4 bits, integers of 4 and 2. A code is the bits
// of one number in the low end of a byte.

/// Whether elements of the type are such numbers.
bool IsSmallType(ElementType type) noexcept;
bool IsSmallInteger(ElementType type) noexcept;
/// All of them.
TypeSet SmallTypes();

/// What happens to numbers between those of a type, and beyond them.
struct SmallRounding {
  enum class Mode { kUp, kDown, kNearest };
  bool saturate = true;  ///< of floats of 8 bits: the largest number stands for all beyond it, else a NaN or infinity
  bool clamp_integers = false;  ///< else the low bits of a number beyond stay
  Mode mode = Mode::kUp;        ///< of float8e8m0; the other floats are rounded half to even, integers cut off
};

/// The value of each code of a type.
class SmallValues {
 public:
  explicit SmallValues(ElementType type);
  float operator[](uint8_t code) const noexcept { return values_[code]; }

 private:
  float values_[256];
};

/// Makes codes of a type from numbers.
class SmallEncoder {
 public:
  SmallEncoder(ElementType type, SmallRounding rounding) : type_(type), rounding_(rounding) {}
  uint8_t operator()(double value) const noexcept;

 private:
  uint8_t EncodeInteger(double value) const noexcept;
  uint8_t EncodeExponent(double value) const noexcept;
  uint8_t EncodeFloat(double value) const noexcept;

  ElementType type_;
  SmallRounding rounding_;
};

/// Reads `n` codes from element `first` on, which is a multiple of 8.
void ReadCodes(const Tensor& tensor, int64_t first, int64_t n, uint8_t* codes) noexcept;
/// Writes `n` codes from element `first` on, which is a multiple of 8; `n` is one too, or reaches to the end.
void WriteCodes(const uint8_t* codes, int64_t first, int64_t n, Tensor& tensor) noexcept;

}  // namespace light
