// SPDX-License-Identifier: Apache-2.0
#include "adapters/type_and_shape.h"

#include <algorithm>

namespace ort_host {

TensorTypeAndShapeAdapter::TensorTypeAndShapeAdapter(const light::ValueType& type, Place place)
    : TensorTypeAndShapeAdapter(place) {
  element_ = conversions::ToOrt(type.element);
  if (!type.shape.has_rank()) return;
  Own& own = MakeOwn();
  for (const light::Dim& dim : type.shape.dims()) {
    own.dims.push_back(dim.extent());
    own.symbols.push_back(dim.symbol());
  }
  has_shape_ = true;
  dims_ = own.dims.data();
  rank_ = own.dims.size();
}

TensorTypeAndShapeAdapter::TensorTypeAndShapeAdapter(const TensorTypeAndShapeAdapter& other)
    : AdapterBase(kTypeAndShapeKind), element_(other.element()), has_shape_(other.has_shape_) {
  if (other.rank_ == 0) return;
  Own& own = MakeOwn();
  own.dims.assign(other.dims_, other.dims_ + other.rank_);
  if (other.own_ != nullptr) own.symbols = other.own_->symbols;
  dims_ = own.dims.data();
  rank_ = own.dims.size();
}

std::unique_ptr<TensorTypeAndShapeAdapter> TensorTypeAndShapeAdapter::CopyOf(const light::Tensor& tensor) {
  auto copy = std::make_unique<TensorTypeAndShapeAdapter>();
  copy->element_ = conversions::ToOrt(tensor.type());
  copy->SetDims(tensor.dims());
  return copy;
}

TensorTypeAndShapeAdapter::Own& TensorTypeAndShapeAdapter::MakeOwn() {
  if (own_ == nullptr) {
    auto own = std::make_unique<Own>();
    own->dims.assign(dims_, dims_ + rank_);
    own_ = std::move(own);
    dims_ = own_->dims.data();
  }
  return *own_;
}

void TensorTypeAndShapeAdapter::SetDims(std::span<const int64_t> dims) {
  Own& own = MakeOwn();
  own.dims.resize(std::max(own.dims.size(), dims.size()));
  std::copy(dims.begin(), dims.end(), own.dims.begin());
  std::fill(own.dims.begin() + static_cast<std::ptrdiff_t>(dims.size()), own.dims.end(), -1);
  has_shape_ = true;
  dims_ = own.dims.data();
  rank_ = own.dims.size();
}

void TensorTypeAndShapeAdapter::SetSymbols(std::span<const char* const> names) {
  Own& own = MakeOwn();
  std::vector<std::string> symbols;
  symbols.reserve(names.size());
  for (const char* name : names) symbols.emplace_back(name == nullptr ? "" : name);
  own.dims.resize(std::max(own.dims.size(), names.size()), -1);
  own.symbols = std::move(symbols);
  has_shape_ = true;
  dims_ = own.dims.data();
  rank_ = own.dims.size();
}

light::Shape TensorTypeAndShapeAdapter::ToShape() const {
  if (!has_shape_) return {};
  std::vector<light::Dim> dims;
  dims.reserve(rank_);
  for (std::size_t i = 0; i < rank_; ++i) {
    const std::string name = symbol(i);
    dims.push_back(name.empty() ? light::Dim(dims_[i]) : light::Dim::Symbolic(name));
  }
  return light::Shape(std::move(dims));
}

}  // namespace ort_host
