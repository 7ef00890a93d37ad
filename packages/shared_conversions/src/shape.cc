// SPDX-License-Identifier: Apache-2.0
#include "conversions/shape.h"

namespace conversions {

bool Shape::is_static() const noexcept {
  if (!has_rank_) return false;
  for (const Dim& dim : dims_) {
    if (!dim.is_known()) return false;
  }
  return true;
}

std::optional<std::vector<int64_t>> Shape::extents() const {
  if (!is_static()) return std::nullopt;
  std::vector<int64_t> result;
  result.reserve(dims_.size());
  for (const Dim& dim : dims_) result.push_back(dim.extent());
  return result;
}

bool Shape::Admits(std::span<const int64_t> extents) const noexcept {
  if (!has_rank_) return true;
  if (extents.size() != dims_.size()) return false;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (dims_[i].is_known() && dims_[i].extent() != extents[i]) return false;
  }
  return true;
}

std::string Shape::ToString() const {
  if (!has_rank_) return "unranked";
  std::string text = "[";
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) text += ", ";
    text += dims_[i].is_known()      ? std::to_string(dims_[i].extent())
            : dims_[i].is_symbolic() ? dims_[i].symbol()
                                     : std::string("?");
  }
  return text + "]";
}

std::string FormatExtents(std::span<const int64_t> extents) {
  std::string text = "[";
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(extents[i]);
  }
  return text + "]";
}

}  // namespace conversions
