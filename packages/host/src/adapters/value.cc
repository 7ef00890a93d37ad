// SPDX-License-Identifier: Apache-2.0
#include "adapters/value.h"

#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include <ort_abi/callbacks.h>
#include <ort_abi/status_error.h>

#include "adapters/allocator.h"
#include "adapters/status.h"
#include "conversions/checked_size.h"
#include "conversions/shape.h"

namespace ort_host {

using conversions::ElementType;
using ort_abi::StatusError;

struct ValueAdapter::Owned {
  explicit Owned(const MemoryDescription& description) : memory(description) {}
  Owned(const Owned&) = delete;
  ~Owned() {
    if (tensor.type() == ElementType::kString && block != nullptr) {
      std::destroy_n(static_cast<std::string*>(block), tensor.element_count());
    }
    if (block != nullptr) FreeWith(allocator, block);
  }

  light::Tensor tensor;
  MemoryInfoAdapter memory;
  OrtAllocator* allocator = nullptr;
  void* block = nullptr;
  std::optional<TextAccount> text;  // of strings
};

namespace {

ElementType DenseElement(int element) {
  const auto type = conversions::FromOrt(element);
  if (!type || *type == ElementType::kUndefined || *type == ElementType::kComplex64 ||
      *type == ElementType::kComplex128) {
    throw StatusError(ORT_NOT_IMPLEMENTED, "element type: there are no tensors of it, got " + std::to_string(element));
  }
  return *type;
}

std::size_t DenseBytes(ElementType type, std::span<const int64_t> dims, OrtErrorCode negative) {
  for (const int64_t dim : dims) {
    if (dim < 0) {
      throw StatusError(negative, "shape: an extent is negative, got " + conversions::FormatExtents(dims));
    }
  }
  const auto bytes = conversions::CheckedByteSize(type, dims);
  if (!bytes) {
    throw StatusError(ORT_FAIL, "shape: the size overflows, got " + std::string(conversions::Name(type)) +
                                    conversions::FormatExtents(dims));
  }
  return *bytes;
}

/// Texts are objects; numbers at any address are only slower.
void CheckAlignment(ElementType type, const void* block) {
  if (type != ElementType::kString || reinterpret_cast<std::uintptr_t>(block) % alignof(std::string) == 0) return;
  throw StatusError(ORT_FAIL, "allocator: strings need memory aligned to " + std::to_string(alignof(std::string)) +
                                  " bytes, got other memory");
}

/// What a value frees its block through. Blocks of the host go back through any of its allocators: a wrapper may be
/// released before the value.
OrtAllocator* KeptAllocator(OrtAllocator* allocator) {
  return HostAllocator::From(allocator) != nullptr ? &HostAllocator::Default() : allocator;
}

}  // namespace

ValueAdapter::ValueAdapter(std::unique_ptr<Owned> owned, bool is_owned) noexcept
    : AdapterBase(kValueKind),
      is_owned_(is_owned),
      tensor_(&owned->tensor),
      value_(nullptr),
      text_(owned->text ? &*owned->text : nullptr),
      memory_(&owned->memory),
      owned_(owned.release()) {}

void ValueAdapter::DeleteOwned() noexcept { delete owned_; }

std::unique_ptr<ValueAdapter> ValueAdapter::Allocate(OrtAllocator* allocator, std::span<const int64_t> dims,
                                                     int element) {
  RequireFree(allocator);
  const ElementType type = DenseElement(element);
  const std::size_t bytes = DenseBytes(type, dims, ORT_FAIL);
  auto owned = std::make_unique<Owned>(RequireCpuMemory(allocator));
  owned->allocator = KeptAllocator(allocator);
  void* block = nullptr;
  if (bytes > 0) {
    block = AllocateWith(allocator, bytes);
    if (block == nullptr) {
      throw StatusError(ORT_FAIL, "allocator: no memory for the tensor, asked for " + std::to_string(bytes) + " bytes");
    }
  }
  try {
    CheckAlignment(type, block);
    owned->tensor = light::Tensor::Borrow(type, dims, block);
  } catch (...) {
    FreeWith(allocator, block);
    throw;
  }
  if (type == ElementType::kString && block != nullptr) {
    std::uninitialized_value_construct_n(static_cast<std::string*>(block), owned->tensor.element_count());
  }
  owned->block = block;
  if (type == ElementType::kString) {
    // A library's allocator holds the elements only: text is ours, as if it came from the default allocator.
    const HostAllocator* ours = HostAllocator::From(allocator);
    if (ours == nullptr) ours = &HostAllocator::Default();
    owned->text.emplace(ours->budget(), ours->user());
  }
  return std::unique_ptr<ValueAdapter>(new ValueAdapter(std::move(owned), true));
}

std::unique_ptr<ValueAdapter> ValueAdapter::Wrap(const MemoryDescription& memory, void* data, std::size_t bytes,
                                                 std::span<const int64_t> dims, int element) {
  const ElementType type = DenseElement(element);
  if (type == ElementType::kString) {
    throw StatusError(ORT_NOT_IMPLEMENTED, "element type: memory of the caller cannot hold strings");
  }
  if (!memory.is_plain_cpu()) {
    throw StatusError(ORT_INVALID_ARGUMENT, "memory info: only plain CPU memory holds tensors, got " + memory.name);
  }
  const std::size_t needed = DenseBytes(type, dims, ORT_INVALID_ARGUMENT);
  if (bytes < needed) {
    throw StatusError(ORT_INVALID_ARGUMENT,
                      "data: the tensor needs " + std::to_string(needed) + " bytes, got " + std::to_string(bytes));
  }
  if (data == nullptr && needed > 0) throw StatusError(ORT_INVALID_ARGUMENT, "data is null");
  auto owned = std::make_unique<Owned>(memory);
  owned->tensor = light::Tensor::Borrow(type, dims, data);
  return std::unique_ptr<ValueAdapter>(new ValueAdapter(std::move(owned), true));
}

std::unique_ptr<ValueAdapter> ValueAdapter::Adopt(OrtAllocator* deleter, void* data, std::size_t bytes,
                                                  std::span<const int64_t> dims, int element) {
  RequireFree(deleter);
  auto adopted = Wrap(RequireCpuMemory(deleter), data, bytes, dims, element);
  adopted->owned_->allocator = KeptAllocator(deleter);
  adopted->owned_->block = data;
  return adopted;
}

std::unique_ptr<ValueAdapter> ValueAdapter::Copy(OrtAllocator* allocator, const light::Tensor& tensor) {
  auto copy = Allocate(allocator, tensor.dims(), conversions::ToOrt(tensor.type()));
  if (copy->text() != nullptr) {
    const auto strings = tensor.Span<std::string>();
    for (std::size_t i = 0; i < strings.size(); ++i) {
      copy->text()->Grow(copy->tensor()->Data<std::string>()[i], strings[i].size());
    }
  }
  light::CopyElements(tensor, *copy->tensor());
  return copy;
}

std::unique_ptr<ValueAdapter> ValueAdapter::Constant(const light::Tensor& tensor) {
  auto owned = std::make_unique<Owned>(CpuMemory(OrtArenaAllocator));
  owned->tensor = tensor;
  return std::unique_ptr<ValueAdapter>(new ValueAdapter(std::move(owned), false));
}

}  // namespace ort_host
