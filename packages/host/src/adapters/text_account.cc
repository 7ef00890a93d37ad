// SPDX-License-Identifier: Apache-2.0
#include "adapters/text_account.h"

#include <new>

#include <ort_abi/status_error.h>

namespace ort_host {

namespace {

/// What keeps the elements of an output, with the account of their text.
struct AccountedStrings {
  AccountedStrings(std::shared_ptr<BudgetLink> budget, std::string user)
      : account(std::move(budget), std::move(user)) {}
  TextAccount account;
  std::shared_ptr<void> elements;
};

}  // namespace

TextAccount* TextAccount::OpenIn(light::Tensor& strings, std::shared_ptr<BudgetLink> budget, std::string user) {
  const light::Tensor fresh = light::Tensor::Allocate(strings.type(), strings.dims());
  auto storage = std::make_shared<AccountedStrings>(std::move(budget), std::move(user));
  storage->elements = fresh.owner();
  strings.set_data(const_cast<void*>(fresh.data()));
  TextAccount* account = &storage->account;
  strings.set_owner(std::move(storage));
  return account;
}

void TextAccount::Grow(std::string& element, std::size_t length) {
  if (length <= element.capacity()) return;
  const std::size_t inline_capacity = std::string().capacity();
  const std::size_t held = element.capacity() > inline_capacity ? element.capacity() : 0;
  const std::size_t more = length - held;
  if (budget_ != nullptr) budget_->Charge(more, user_);
  try {
    if (length > kMaxBlock) throw std::bad_alloc();
    // A string that grows by itself doubles; a new one takes what it is asked for, and no more was charged.
    std::string grown;
    grown.reserve(length);
    grown.assign(element);
    element.swap(grown);
  } catch (const std::bad_alloc&) {
    Settle(more);
    throw OutOfMemory(user_, length);
  }
  if (budget_ != nullptr) charged_ += more;
}

}  // namespace ort_host
