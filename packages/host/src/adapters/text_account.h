// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "adapters/allocator.h"
#include "light/tensor.h"

namespace ort_host {

/// Charges the text of a tensor of strings to the budget of a session before it is allocated; what fits inside a
/// std::string was charged with the elements. Elements may be filled from several threads.
class TextAccount {
 public:
  /// @param budget  null if nobody is charged
  /// @param user  for messages: who allocates
  TextAccount(std::shared_ptr<BudgetLink> budget, std::string user) noexcept
      : budget_(std::move(budget)), user_(std::move(user)) {}
  TextAccount(const TextAccount&) = delete;
  ~TextAccount() { Settle(charged_); }

  /// Gives `strings`, which owns its elements, empty ones with an account that lives as long as they do.
  static TextAccount* OpenIn(light::Tensor& strings, std::shared_ptr<BudgetLink> budget, std::string user);

  /// Makes room for `length` bytes of text; the text so far is kept. Throws StatusError: FAIL naming user, bytes and
  /// limit; RUNTIME_EXCEPTION out of memory.
  void Grow(std::string& element, std::size_t length);

 private:
  void Settle(std::size_t bytes) noexcept {
    if (bytes > 0 && budget_ != nullptr) budget_->Release(bytes);
  }

  std::shared_ptr<BudgetLink> budget_;
  std::string user_;
  std::atomic<std::size_t> charged_{0};
};

}  // namespace ort_host
