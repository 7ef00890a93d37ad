// SPDX-License-Identifier: Apache-2.0
#include "kernels/held_weights.h"

#include "kernels/weight_memory.h"

namespace light {
namespace {

bool IsMapped(const KernelInfo& info, std::size_t i) {
  const Tensor* constant = info.ConstantInput(i);
  if (constant == nullptr) return false;
  const GraphValue& value = info.graph().value(info.node().inputs[i]);
  return value.external != nullptr && value.constant() != nullptr && value.constant()->data() == constant->data();
}

}  // namespace

MemoryBudget* BudgetOfMapped(const KernelInfo& info, std::size_t i) {
  return IsMapped(info, i) ? info.budget() : nullptr;
}

HeldWeights::~HeldWeights() {
  if (charged_ > 0) budget_->Release(charged_);
}

void HeldWeights::Make(const KernelInfo& info, std::size_t i, std::function<void()> make) {
  if (!IsMapped(info, i)) return make();
  budget_ = info.budget();
  later_ = std::make_unique<Later>();
  later_->make = std::move(make);
}

void* HeldWeights::Allocate(std::size_t bytes) {
  if (budget_ != nullptr && charged_ == 0) {
    budget_->Charge(bytes, "packed weights");
    charged_ = bytes;
  }
  buffer_ = AllocateWeights(bytes);
  is_allocated_ = true;
  return buffer_.data;
}

}  // namespace light
