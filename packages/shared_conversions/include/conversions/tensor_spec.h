// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conversions/element_type.h"
#include "conversions/shape.h"

namespace conversions {

/// What a tensor that comes from outside has to be.
struct TensorSpec {
  std::string where;  ///< for messages: `input 'x'`
  ElementType type = ElementType::kUndefined;
  Shape shape;
};

/// Makes a shape of its parts as a model's interface lists them: an extent of -1 is symbolic where `symbols` has a
/// name, else unknown. `symbols` may be shorter than `extents`.
Shape ShapeFromParts(bool has_rank, std::span<const int64_t> extents, std::span<const std::string> symbols);

/// The numpy name of an element type (`float32`, `bfloat16`), `string` for strings, the ONNX name if numpy has none.
const char* DisplayName(ElementType type) noexcept;

/// As `input 'x': expected float32 [2, n], got float64 [2, 3]`. `given_type` is in the caller's words.
std::string Mismatch(const TensorSpec& spec, std::string_view given_type, std::span<const int64_t> given_extents);

}  // namespace conversions
