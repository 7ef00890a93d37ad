// SPDX-License-Identifier: Apache-2.0
#include "light/tensor.h"

#include <cstring>
#include <new>

#include "conversions/checked_size.h"
#include "conversions/shape.h"
#include "exec/text_meter.h"
#include "light/error.h"

namespace light {

Tensor Tensor::Allocate(ElementType type, std::span<const int64_t> dims) {
  Tensor tensor;
  const std::size_t bytes = tensor.Reshape(type, dims);
  if (bytes == 0) return tensor;
  if (type == ElementType::kString) {
    auto strings = conversions::AllocateStrings(static_cast<std::size_t>(tensor.count_));
    tensor.data_ = strings.data;
    tensor.owner_ = std::move(strings.owner);
  } else {
    auto buffer = conversions::AllocateBuffer(bytes);
    tensor.data_ = buffer.data;
    tensor.owner_ = std::move(buffer.owner);
  }
  return tensor;
}

Tensor Tensor::Borrow(ElementType type, std::span<const int64_t> dims, void* data, std::shared_ptr<void> owner) {
  Tensor tensor;
  tensor.Reshape(type, dims);
  tensor.data_ = data;
  tensor.owner_ = std::move(owner);
  return tensor;
}

Tensor Tensor::Clone() const {
  Tensor copy = Allocate(type_, dims_);
  CopyElements(*this, copy);
  return copy;
}

std::size_t Tensor::ReshapeSlow(ElementType type, std::span<const int64_t> dims) {
  const auto count = conversions::CheckedElementCount(dims);
  const auto bytes = count ? conversions::CheckedByteSize(type, *count) : std::nullopt;
  if (!bytes) {
    throw Error(ErrorCode::kInvalidArgument, "tensor: a size must be known, non-negative and fit in memory, got " +
                                                 std::string(conversions::Name(type)) +
                                                 conversions::FormatExtents(dims));
  }
  dims_.Assign(dims);
  type_ = type;
  count_ = *count;
  bytes_ = *bytes;
  sized_ = true;
  return bytes_;
}

void CopyElements(const Tensor& from, Tensor& to) {
  if (from.type() != to.type() || from.element_count() != to.element_count()) {
    throw Error(ErrorCode::kFail, "copy of a tensor: " + Describe(from) + " does not fit " + Describe(to));
  }
  if (from.byte_size() == 0) return;
  if (from.type() == ElementType::kString) {
    CopyStrings(from.Data<std::string>(), from.element_count(), to.Data<std::string>());
  } else {
    std::memcpy(to.data(), from.data(), from.byte_size());
  }
}

std::string Describe(const Tensor& tensor) {
  return std::string(conversions::Name(tensor.type())) + conversions::FormatExtents(tensor.dims());
}

}  // namespace light
