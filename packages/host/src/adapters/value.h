// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "adapters/kinds.h"
#include "adapters/memory_info.h"
#include "adapters/text_account.h"
#include "light/tensor.h"
#include "light/value.h"

namespace ort_host {

/// Behind OrtValue: a view of a value of the current run, or a tensor with memory of its own or of the caller's.
///
/// A view lives on the stack of the run and ends with it. What is_owned() lives until ReleaseValue.
class ValueAdapter final : public AdapterBase {
 public:
  /// A view; `tensor` is null for a value that is no dense tensor. Both outlive the view, and so does `text`, the
  /// account of an output of strings.
  ValueAdapter(light::Tensor* tensor, const light::Value* value, TextAccount* text = nullptr) noexcept
      : AdapterBase(kValueKind), tensor_(tensor), value_(value), text_(text) {}

  /// Memory from the allocator, which outlives the value. Strings are constructed empty.
  /// Throws StatusError.
  static std::unique_ptr<ValueAdapter> Allocate(OrtAllocator* allocator, std::span<const int64_t> dims, int element);
  /// A view of the caller's memory of `bytes` bytes, which outlives the value.
  /// Throws StatusError.
  static std::unique_ptr<ValueAdapter> Wrap(const MemoryDescription& memory, void* data, std::size_t bytes,
                                            std::span<const int64_t> dims, int element);
  /// As Wrap, with the allocator's memory info; the value takes the memory over and frees it through the allocator;
  /// a library's own outlives it. On failure the memory stays the caller's.
  static std::unique_ptr<ValueAdapter> Adopt(OrtAllocator* deleter, void* data, std::size_t bytes,
                                             std::span<const int64_t> dims, int element);
  /// A copy of the tensor in memory from the allocator, which outlives it. Throws StatusError.
  static std::unique_ptr<ValueAdapter> Copy(OrtAllocator* allocator, const light::Tensor& tensor);
  /// A tensor that is ours and that libraries borrow from any thread, such as a constant: never released by them.
  static std::unique_ptr<ValueAdapter> Constant(const light::Tensor& tensor);
  ~ValueAdapter() {
    if (owned_ != nullptr) [[unlikely]]
      DeleteOwned();
  }

  /// Null if the value is no dense tensor.
  light::Tensor* tensor() const noexcept { return tensor_; }
  /// The runtime's value behind it; null for an output under construction and for owned tensors.
  const light::Value* value() const noexcept { return value_; }
  /// True for a value with nothing in it.
  bool is_empty() const noexcept { return tensor_ == nullptr && (value_ == nullptr || value_->is_none()); }
  const MemoryInfoAdapter& memory() const noexcept { return memory_ != nullptr ? *memory_ : CpuArenaInfo(); }
  /// Who pays for text; null for strings that a library only reads.
  TextAccount* text() const noexcept { return text_; }
  /// True for what a library must release.
  bool is_owned() const noexcept { return is_owned_; }

  ValueAdapter(const ValueAdapter&) = delete;
  ValueAdapter& operator=(const ValueAdapter&) = delete;

 private:
  struct Owned;
  ValueAdapter(std::unique_ptr<Owned> owned, bool is_owned) noexcept;
  void DeleteOwned() noexcept;

  bool is_owned_ = false;
  light::Tensor* tensor_;
  const light::Value* value_;
  TextAccount* text_ = nullptr;
  const MemoryInfoAdapter* memory_ = nullptr;  // of a view: that of all tensors of a session
  Owned* owned_ = nullptr;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtValue, ValueAdapter, kValueKind, "value");
