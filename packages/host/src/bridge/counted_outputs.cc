// SPDX-License-Identifier: Apache-2.0
#include "bridge/counted_outputs.h"

#include <utility>

#include "adapters/status.h"

namespace ort_host {
namespace {

/// The memory of a tensor, charged for as long as it is held.
class ChargedMemory {
 public:
  ChargedMemory(std::shared_ptr<BudgetLink> budget, std::size_t bytes, const std::string& user)
      : budget_(std::move(budget)), bytes_(bytes) {
    budget_->Charge(bytes_, user);
  }
  ~ChargedMemory() {
    memory.reset();
    budget_->Release(bytes_);
  }
  ChargedMemory(const ChargedMemory&) = delete;

  std::shared_ptr<void> memory;

 private:
  std::shared_ptr<BudgetLink> budget_;
  std::size_t bytes_;
};

}  // namespace

bool CountedOutputs::Put(std::size_t k, const light::Value& value) {
  try {
    const std::size_t i = arguments_[k];
    if (!value.is_tensor()) {
      context_.SetOutputValue(i, Keep(value));
      return true;
    }
    const light::Tensor& from = value.tensor();
    light::Tensor& to = context_.Output(i, from.dims());
    if (from.type() != light::ElementType::kString) {
      light::CopyElements(from, to);
    } else if (to.owner() != nullptr) {
      Copy(from, to, *TextAccount::OpenIn(to, budget_, user_));
    } else {
      if (leaving_ == nullptr) leaving_ = std::make_unique<TextAccount>(budget_, user_);
      Copy(from, to, *leaving_);
    }
    return true;
  } catch (const std::exception&) {
    failure_ = std::current_exception();
    return false;
  }
}

void CountedOutputs::RethrowFailure() const {
  if (failure_ == nullptr) return;
  try {
    std::rethrow_exception(failure_);
  } catch (const ort_abi::StatusError& error) {
    throw ToLightError(error.code(), error.what());
  }
}

void CountedOutputs::Copy(const light::Tensor& from, light::Tensor& to, TextAccount& account) {
  if (from.type() != light::ElementType::kString) return light::CopyElements(from, to);
  const auto* source = from.Data<std::string>();
  auto* target = to.Data<std::string>();
  for (std::size_t i = 0; i < static_cast<std::size_t>(from.element_count()); ++i) {
    account.Grow(target[i], source[i].size());
    target[i].assign(source[i]);
  }
}

/// A copy with memory of its own, which may go on living in other sequences.
light::Value CountedOutputs::Keep(const light::Value& value) {
  if (value.kind() == light::Value::Kind::kSequence) {
    light::Sequence copy{value.sequence().element_type, {}};
    copy.elements.reserve(value.sequence().elements.size());
    for (const light::Value& element : value.sequence().elements) copy.elements.push_back(Keep(element));
    return light::Value(std::move(copy));
  }
  if (value.kind() == light::Value::Kind::kOptional) return light::Value::Optional(Keep(value.content()));
  if (!value.is_tensor()) return light::Value();
  const light::Tensor& from = value.tensor();
  auto charged = std::make_shared<ChargedMemory>(budget_, from.byte_size(), user_);
  light::Tensor copy = light::Tensor::Allocate(from.type(), from.dims());
  if (copy.owner() != nullptr && from.type() == light::ElementType::kString) {
    Copy(from, copy, *TextAccount::OpenIn(copy, budget_, user_));
  } else {
    light::CopyElements(from, copy);
  }
  charged->memory = copy.owner();
  copy.set_owner(std::move(charged));
  return light::Value(std::move(copy));
}

}  // namespace ort_host
