// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "adapters/aliased_outputs.h"
#include "adapters/guarded_tensors.h"
#include "adapters/kernel_info.h"
#include "adapters/value.h"
#include "light/runtime_context.h"

namespace ort_host {

/// What each run asks of a kernel's arguments, kept beside the kernel: its content lies elsewhere in memory.
struct ArgumentCounts {
  explicit ArgumentCounts(const KernelContent& content) noexcept
      : inputs(static_cast<uint32_t>(content.inputs.size())),
        outputs(static_cast<uint32_t>(content.outputs.size())),
        has_aliases(!content.aliases.empty()),
        omits_outputs(std::ranges::any_of(content.outputs, [](const auto& output) { return output.name.empty(); })) {}

  uint32_t inputs;
  uint32_t outputs;
  bool has_aliases;
  bool omits_outputs;  ///< the node leaves some out
};

/// Behind OrtKernelContext, on the stack of the wrapper's Run. Allocates nothing: inputs are made with it and outputs
/// when they are asked for, in the object itself, or in the step's scratch memory if the node has many; only strings
/// cost more. One thread makes the outputs; any may read what is const here meanwhile.
class KernelContextAdapter final : public AdapterBase {
 public:
  static constexpr std::size_t kInlineValues = 12;

  /// All outlive the context; `guarded` is for checked mode. Throws light::Error if a node with many arguments, or one
  /// whose outputs share memory with inputs, gets no scratch memory.
  KernelContextAdapter(const KernelContent& content, const ArgumentCounts& counts, light::RuntimeContext& context,
                       GuardedTensors* guarded = nullptr)
      : AdapterBase(kKernelContextKind),
        content_(content),
        context_(context),
        guarded_(guarded),
        input_count_(counts.inputs),
        output_count_(counts.outputs),
        omits_outputs_(counts.omits_outputs) {
    const std::size_t count = input_count_ + output_count_;
    slots_ = reinterpret_cast<Slot*>(inline_);
    if (count > kInlineValues) [[unlikely]]
      slots_ = static_cast<Slot*>(context.TemporaryBuffer(count * sizeof(Slot)));
    if (counts.has_aliases) [[unlikely]]
      aliased_ = std::make_unique<AliasedOutputs>(content, context, guarded);
    for (std::size_t i = 0; i < count; ++i) new (slots_ + i) Slot;
    for (std::size_t i = 0; i < input_count_; ++i) SetInput(i);
  }
  ~KernelContextAdapter() {
    const std::size_t count = input_count_ + output_count_;
    for (std::size_t i = 0; i < count; ++i) slots_[i].~Slot();
  }
  KernelContextAdapter(const KernelContextAdapter&) = delete;

  const KernelContent& content() const noexcept { return content_; }
  light::RuntimeContext& runtime() const noexcept { return context_; }
  std::size_t input_count() const noexcept { return input_count_; }
  std::size_t output_count() const noexcept { return output_count_; }

  /// Null for an omitted argument and past the count.
  const ValueAdapter* Input(std::size_t i) const noexcept {
    return i < input_count_ && slots_[i].is_set ? &slots_[i].value : nullptr;
  }

  /// The output if it was made before, else null.
  ValueAdapter* FindOutput(std::size_t i) noexcept {
    Slot& slot = slots_[input_count_ + i];
    return slot.is_set ? &slot.value : nullptr;
  }
  bool OutputRequested(std::size_t i) const noexcept {
    return i < output_count_ && (!omits_outputs_ || context_.OutputRequested(i));
  }
  /// Makes output `i`, which is requested and was not made before. Throws light::Error.
  ValueAdapter* MakeOutput(std::size_t i, std::span<const int64_t> dims) {
    Slot& slot = slots_[input_count_ + i];
    if (aliased_ != nullptr) [[unlikely]] {
      if (light::Tensor* shared = aliased_->Output(i, dims)) {
        slot.Set(shared, nullptr);
        return &slot.value;
      }
    }
    light::Tensor& tensor = context_.Output(i, dims);
    if (tensor.type() == light::ElementType::kString) [[unlikely]] {
      slot.Set(&tensor, nullptr, OpenText(tensor));
      return &slot.value;
    }
    slot.Set(guarded_ == nullptr ? &tensor : guarded_->Guard(i, tensor), nullptr);
    return &slot.value;
  }
  /// The kernel has succeeded: outputs that share an input's memory get what it wrote.
  void Publish() {
    if (aliased_ != nullptr) [[unlikely]]
      aliased_->Publish();
  }
  /// The first requested output that the kernel did not make, or output_count().
  std::size_t FirstMissingOutput() const noexcept {
    for (std::size_t i = 0; i < output_count_; ++i) {
      if (!slots_[input_count_ + i].is_set && OutputRequested(i)) [[unlikely]]
        return i;
    }
    return output_count_;
  }

 private:
  void SetInput(std::size_t i) {
    const light::Value& value = context_.InputValue(i);
    if (value.is_none()) [[unlikely]]
      return;
    // Libraries read inputs through GetTensorMutableData too, hence a view that is not const.
    light::Tensor* tensor = value.is_tensor() ? const_cast<light::Tensor*>(&value.tensor()) : nullptr;
    if (aliased_ != nullptr) [[unlikely]] {
      if (light::Tensor* shared = aliased_->Input(i)) tensor = shared;
    }
    slots_[i].Set(tensor, &value);
  }

  /// The account of an output of strings. An output that leaves the session is kept by the caller, who takes its text
  /// with it: charged while the kernel runs.
  TextAccount* OpenText(light::Tensor& strings) {
    if (strings.owner() != nullptr) return TextAccount::OpenIn(strings, content_.scope->budget(), content_.label);
    if (leaving_text_ == nullptr) {
      leaving_text_ = std::make_unique<TextAccount>(content_.scope->budget(), content_.label);
    }
    return leaving_text_.get();
  }

  struct Slot {
    Slot() noexcept : is_set(false) {}
    ~Slot() {
      if (is_set) value.~ValueAdapter();
    }
    void Set(light::Tensor* tensor, const light::Value* from, TextAccount* text = nullptr) noexcept {
      new (&value) ValueAdapter(tensor, from, text);
      is_set = true;
    }
    bool is_set;
    union {
      ValueAdapter value;
    };
  };

  const KernelContent& content_;
  light::RuntimeContext& context_;
  GuardedTensors* guarded_;
  std::size_t input_count_;
  std::size_t output_count_;
  bool omits_outputs_;
  std::unique_ptr<TextAccount> leaving_text_;
  std::unique_ptr<AliasedOutputs> aliased_;
  Slot* slots_;
  alignas(Slot) std::byte inline_[kInlineValues * sizeof(Slot)];
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtKernelContext, KernelContextAdapter, kKernelContextKind, "kernel context");
