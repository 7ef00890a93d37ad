// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adapters/kinds.h"
#include "adapters/shape_info_memory.h"
#include "light/tensor.h"
#include "light/value_type.h"

namespace ort_host {

/// Behind OrtTensorTypeAndShapeInfo: an element type, extents and their names, all its own. What a library is given
/// (is_owned) lives until ReleaseTensorTypeAndShapeInfo; what it is lent belongs to another adapter. Changed by its
/// owner alone. Up to Dims::kInline extents take no memory besides the object's, which is recycled.
class TensorTypeAndShapeAdapter final : public AdapterBase {
 public:
  /// No shape, float. Lent, as all that are not made by Make and CopyOf.
  TensorTypeAndShapeAdapter() noexcept : AdapterBase(kTypeAndShapeKind) {}
  explicit TensorTypeAndShapeAdapter(const light::ValueType& type);
  explicit TensorTypeAndShapeAdapter(const light::Tensor& tensor)
      : AdapterBase(kTypeAndShapeKind),
        element_(conversions::ToOrt(tensor.type())),
        has_shape_(true),
        dims_(tensor.dims()) {}
  TensorTypeAndShapeAdapter(const TensorTypeAndShapeAdapter&) = delete;

  /// Owned, with no shape and float: what CreateTensorTypeAndShapeInfo gives.
  static std::unique_ptr<TensorTypeAndShapeAdapter> Make() {
    return Owned(std::make_unique<TensorTypeAndShapeAdapter>());
  }
  /// Owned, with a tensor's type and extents.
  static std::unique_ptr<TensorTypeAndShapeAdapter> CopyOf(const light::Tensor& tensor) {
    return Owned(std::make_unique<TensorTypeAndShapeAdapter>(tensor));
  }

  static void* operator new(std::size_t size) { return ShapeInfoMemory::Take(size); }
  static void* operator new(std::size_t, void* place) noexcept { return place; }
  static void operator delete(void* memory, std::size_t size) noexcept {
    if (ort_abi::checked_hooks != nullptr) [[unlikely]]
      return AdapterBase::operator delete(memory, size);
    ShapeInfoMemory::Keep(memory);
  }
  static void operator delete(void*, void*) noexcept {}

  /// True for what a library must release.
  bool is_owned() const noexcept { return is_owned_; }

  /// ONNXTensorElementDataType, also a number that it does not list.
  int element() const noexcept { return element_; }
  void set_element(int element) noexcept { element_ = element; }
  bool has_shape() const noexcept { return has_shape_; }
  std::size_t rank() const noexcept { return dims_.rank(); }
  /// -1 where an extent is not known.
  std::span<const int64_t> dims() const noexcept { return dims_; }
  /// The name of dimension `i`, "" if it has none. Valid until the next change.
  const char* symbol(std::size_t i) const noexcept {
    return symbols_ != nullptr && i < symbols_->size() ? (*symbols_)[i].c_str() : "";
  }

  /// Never shrinks the rank: what `dims` does not cover becomes -1. Names survive.
  void SetDims(std::span<const int64_t> dims);
  /// Replaces all names; new extents are -1. Null counts as "".
  void SetSymbols(std::span<const char* const> names);

  /// As the runtime's shape: a name wins over -1; -1 is unknown.
  light::Shape ToShape() const;

 private:
  static std::unique_ptr<TensorTypeAndShapeAdapter> Owned(std::unique_ptr<TensorTypeAndShapeAdapter> info) noexcept {
    info->is_owned_ = true;
    return info;
  }

  int element_ = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  bool has_shape_ = false;
  bool is_owned_ = false;
  light::Dims dims_;
  std::unique_ptr<std::vector<std::string>> symbols_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtTensorTypeAndShapeInfo, TensorTypeAndShapeAdapter, kTypeAndShapeKind, "type and shape info");
