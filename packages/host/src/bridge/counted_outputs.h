// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string>

#include "adapters/text_account.h"
#include "bridge/reference_kernels.h"
#include "light/kernel.h"

namespace ort_host {

/// Takes the results of one evaluation as the outputs of a node, each charged to the session's limit before it is
/// copied.
class CountedOutputs final : public ReferenceOutputs {
 public:
  /// @param arguments  of the node, by output of the model
  /// @param user  for messages: who makes the values
  CountedOutputs(light::RuntimeContext& context, std::span<const std::size_t> arguments,
                 std::shared_ptr<BudgetLink> budget, std::string user)
      : context_(context), arguments_(arguments), budget_(std::move(budget)), user_(std::move(user)) {}

  bool Put(std::size_t k, const light::Value& value) override;
  /// Throws what made Put return false.
  void RethrowFailure() const;

 private:
  void Copy(const light::Tensor& from, light::Tensor& to, TextAccount& account);
  light::Value Keep(const light::Value& value);

  light::RuntimeContext& context_;
  std::span<const std::size_t> arguments_;
  std::shared_ptr<BudgetLink> budget_;
  std::string user_;
  std::unique_ptr<TextAccount> leaving_;  // of text in an output of the model, until the node is done
  std::exception_ptr failure_;
};

}  // namespace ort_host
