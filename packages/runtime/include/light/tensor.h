// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "conversions/buffer.h"
#include "conversions/dims.h"
#include "conversions/element_type.h"

namespace light {

using conversions::Dims;
using conversions::ElementType;

/// A dense row-major tensor: element type, extents, an address, and what keeps the address alive. Copying a Tensor
/// copies the view, never the elements. A string tensor is an array of constructed std::string. Sub-byte types are
/// packed, the first element in the low bits.
class Tensor {
 public:
  Tensor() = default;

  /// Allocates 64-byte aligned storage; the elements are not initialised, strings are empty.
  /// Throws Error (kInvalidArgument) if the size overflows, std::bad_alloc.
  static Tensor Allocate(ElementType type, std::span<const int64_t> dims);

  /// A view of `data`, which must hold the elements and be aligned for the type as long as `owner` lives, or, without
  /// an owner, as long as the view is used. The caller has checked the extent.
  static Tensor Borrow(ElementType type, std::span<const int64_t> dims, void* data, std::shared_ptr<void> owner = {});

  ElementType type() const noexcept { return type_; }
  const Dims& dims() const noexcept { return dims_; }
  std::size_t rank() const noexcept { return dims_.rank(); }
  int64_t dim(std::size_t i) const noexcept { return dims_[i]; }
  int64_t element_count() const noexcept { return count_; }
  /// Size of the elements in bytes; for strings the size of the std::string objects.
  std::size_t byte_size() const noexcept { return bytes_; }
  /// May be null for a tensor without elements.
  void* data() noexcept { return data_; }
  const void* data() const noexcept { return data_; }
  const std::shared_ptr<void>& owner() const noexcept { return owner_; }

  template <class T>
  T* Data() noexcept {
    return static_cast<T*>(data_);
  }
  template <class T>
  const T* Data() const noexcept {
    return static_cast<const T*>(data_);
  }
  template <class T>
  std::span<const T> Span() const noexcept {
    return {Data<T>(), static_cast<std::size_t>(count_)};
  }

  /// A copy with its own storage.
  Tensor Clone() const;

  /// Sets type and extents, leaving the address alone. Returns the size in bytes that they need. When both are already
  /// as asked, this is a comparison and nothing else. Throws Error (kInvalidArgument) if the size overflows.
  std::size_t Reshape(ElementType type, std::span<const int64_t> dims) {
    if (type == type_ && dims_.Equals(dims) && sized_) return bytes_;
    return ReshapeSlow(type, dims);
  }
  void set_data(void* data) noexcept { data_ = data; }
  void set_owner(std::shared_ptr<void> owner) noexcept { owner_ = std::move(owner); }

 private:
  std::size_t ReshapeSlow(ElementType type, std::span<const int64_t> dims);

  ElementType type_ = ElementType::kUndefined;
  bool sized_ = false;  // count_ and bytes_ belong to type_ and dims_
  void* data_ = nullptr;
  int64_t count_ = 0;
  std::size_t bytes_ = 0;
  Dims dims_;
  std::shared_ptr<void> owner_;
};

/// Copies all elements; type and element count must agree. Strings are assigned one by one.
void CopyElements(const Tensor& from, Tensor& to);

/// As `float[2, 3]`.
std::string Describe(const Tensor& tensor);

}  // namespace light
