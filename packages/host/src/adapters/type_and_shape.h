// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adapters/kinds.h"
#include "light/tensor.h"
#include "light/value_type.h"

namespace ort_host {

/// Behind OrtTensorTypeAndShapeInfo. Either a view of a tensor of the current run, which allocates nothing, or an
/// object with extents and names of its own. It is changed by its owner alone; a change turns a view into an object.
///
/// A view that is handed out (`Open`) belongs to the library until it is released (`Close`), which must happen before
/// the value it came from ends.
class TensorTypeAndShapeAdapter final : public AdapterBase {
 public:
  /// Whose the object is: one of its own, which a release ends, or part of another one, which it does not.
  enum class Place : bool { kAlone, kPart };

  /// No shape, float: what CreateTensorTypeAndShapeInfo gives.
  explicit TensorTypeAndShapeAdapter(Place place = Place::kAlone) noexcept
      : AdapterBase(kTypeAndShapeKind), place_(place) {}
  explicit TensorTypeAndShapeAdapter(const light::ValueType& type, Place place = Place::kAlone);
  TensorTypeAndShapeAdapter(const TensorTypeAndShapeAdapter& other);
  TensorTypeAndShapeAdapter& operator=(const TensorTypeAndShapeAdapter&) = delete;

  /// A copy of a tensor's type and extents.
  static std::unique_ptr<TensorTypeAndShapeAdapter> CopyOf(const light::Tensor& tensor);

  /// Makes this a view of the tensor and marks it as handed out.
  void Open(const light::Tensor& tensor) noexcept {
    view_ = &tensor;
    has_shape_ = true;
    dims_ = tensor.dims().data();
    rank_ = tensor.rank();
    is_open_ = true;
  }
  bool is_part() const noexcept { return place_ == Place::kPart; }
  bool is_open() const noexcept { return is_open_; }
  void Close() noexcept {
    is_open_ = false;
    if (own_ != nullptr) [[unlikely]]
      own_.reset();
  }

  /// ONNXTensorElementDataType, also a number that it does not list.
  int element() const noexcept { return view_ != nullptr ? conversions::ToOrt(view_->type()) : element_; }
  void set_element(int element) noexcept {
    view_ = nullptr;
    element_ = element;
  }
  bool has_shape() const noexcept { return has_shape_; }
  std::size_t rank() const noexcept { return rank_; }
  /// -1 where an extent is not known.
  std::span<const int64_t> dims() const noexcept { return {dims_, rank_}; }
  /// The name of dimension `i`, "" if it has none. Valid until the next change.
  const char* symbol(std::size_t i) const noexcept {
    return own_ != nullptr && i < own_->symbols.size() ? own_->symbols[i].c_str() : "";
  }

  /// Never shrinks the rank: what `dims` does not cover becomes -1. Names survive.
  void SetDims(std::span<const int64_t> dims);
  /// Replaces all names; new extents are -1. Null counts as "".
  void SetSymbols(std::span<const char* const> names);

  /// As the runtime's shape: a name wins over -1; -1 is unknown.
  light::Shape ToShape() const;

 private:
  struct Own {
    std::vector<int64_t> dims;
    std::vector<std::string> symbols;
  };
  Own& MakeOwn();

  int element_ = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  bool has_shape_ = false;
  bool is_open_ = false;
  Place place_ = Place::kAlone;
  const light::Tensor* view_ = nullptr;  // whose element type this has
  const int64_t* dims_ = nullptr;
  std::size_t rank_ = 0;
  std::unique_ptr<Own> own_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtTensorTypeAndShapeInfo, TensorTypeAndShapeAdapter, kTypeAndShapeKind, "type and shape info");
