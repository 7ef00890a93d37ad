// SPDX-License-Identifier: Apache-2.0
#include "conversions/tensor_spec.h"

namespace conversions {

Shape ShapeFromParts(bool has_rank, std::span<const int64_t> extents, std::span<const std::string> symbols) {
  if (!has_rank) return {};
  std::vector<Dim> dims;
  dims.reserve(extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const bool named = extents[i] < 0 && i < symbols.size() && !symbols[i].empty();
    dims.push_back(named ? Dim::Symbolic(symbols[i]) : Dim(extents[i]));
  }
  return Shape(std::move(dims));
}

const char* DisplayName(ElementType type) noexcept {
  const ElementTypeInfo& info = Info(type);
  return type == ElementType::kString || info.numpy_name == nullptr ? info.name : info.numpy_name;
}

std::string Mismatch(const TensorSpec& spec, std::string_view given_type, std::span<const int64_t> given_extents) {
  std::string text = spec.where;
  text.append(": expected ").append(DisplayName(spec.type));
  if (spec.shape.has_rank()) text.append(" ").append(spec.shape.ToString());
  return text.append(", got ").append(given_type).append(" ").append(FormatExtents(given_extents));
}

}  // namespace conversions
