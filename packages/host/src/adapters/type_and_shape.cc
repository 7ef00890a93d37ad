// SPDX-License-Identifier: Apache-2.0
#include "adapters/type_and_shape.h"

#include <algorithm>

namespace ort_host {

TensorTypeAndShapeAdapter::TensorTypeAndShapeAdapter(const light::ValueType& type)
    : AdapterBase(kTypeAndShapeKind), element_(conversions::ToOrt(type.element)), has_shape_(type.shape.has_rank()) {
  if (!has_shape_) return;
  const auto& dims = type.shape.dims();
  dims_.Resize(dims.size());
  symbols_ = std::make_unique<std::vector<std::string>>();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    dims_[i] = dims[i].extent();
    symbols_->push_back(dims[i].symbol());
  }
}

void TensorTypeAndShapeAdapter::SetDims(std::span<const int64_t> dims) {
  dims_.Resize(std::max(dims_.rank(), dims.size()));
  std::copy(dims.begin(), dims.end(), dims_.data());
  std::fill(dims_.data() + dims.size(), dims_.data() + dims_.rank(), -1);
  has_shape_ = true;
}

void TensorTypeAndShapeAdapter::SetSymbols(std::span<const char* const> names) {
  auto symbols = std::make_unique<std::vector<std::string>>();
  for (const char* name : names) symbols->emplace_back(name == nullptr ? "" : name);
  const std::size_t before = dims_.rank();
  dims_.Resize(std::max(before, names.size()));
  std::fill(dims_.data() + before, dims_.data() + dims_.rank(), -1);
  symbols_ = std::move(symbols);
  has_shape_ = true;
}

light::Shape TensorTypeAndShapeAdapter::ToShape() const {
  if (!has_shape_) return {};
  std::vector<light::Dim> dims;
  dims.reserve(rank());
  for (std::size_t i = 0; i < rank(); ++i) {
    const std::string name = symbol(i);
    dims.push_back(name.empty() ? light::Dim(dims_[i]) : light::Dim::Symbolic(name));
  }
  return light::Shape(std::move(dims));
}

}  // namespace ort_host
