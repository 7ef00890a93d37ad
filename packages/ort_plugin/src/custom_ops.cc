// SPDX-License-Identifier: Apache-2.0
#include "custom_ops.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include <ort_abi/handle.h>

#include "api.h"
#include "copy_counts_op.h"
#include "custom_op.h"
#include "operator_names.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

constexpr const char* kOperatorsEntry = "onnx_light.operators";

/// The operators that the application asked for, in a config entry of its options; all if it did not.
std::string Selection(const OrtApi& api, const OrtSessionOptions* options) {
  int exists = 0;
  ThrowIfError(api, api.HasSessionConfigEntry(options, kOperatorsEntry, &exists));
  if (exists == 0) return "";
  std::size_t size = 0;
  ThrowIfError(api, api.GetSessionConfigEntry(options, kOperatorsEntry, nullptr, &size));
  std::string text(size, '\0');
  ThrowIfError(api, api.GetSessionConfigEntry(options, kOperatorsEntry, text.data(), &size));
  text.resize(size - 1);  // without the terminator
  return text;
}

std::vector<std::unique_ptr<CustomOp>> MakeCustomOps(const OrtApi& api, const std::set<std::string>& selected) {
  std::map<std::string, std::vector<SupportedOperator>> by_name;
  for (const SupportedOperator& supported : SupportedOperators()) {
    // No two domains of ONNX have an operator of the same name.
    if (selected.empty() || selected.contains(supported.schema->name))
      by_name[supported.schema->name].push_back(supported);
  }
  std::vector<std::unique_ptr<CustomOp>> operators;
  for (auto& [name, versions] : by_name) operators.push_back(std::make_unique<CustomOp>(api, std::move(versions)));
  return operators;
}

/// The domain of a host with a selection of operators, made at its first registration.
OrtCustomOpDomain* DomainOf(const OrtApi& api, const std::string& selection) {
  static auto* mutex = new std::mutex;
  static auto* domains = new std::map<std::pair<const OrtApi*, std::string>, OrtCustomOpDomain*>;
  const std::lock_guard lock(*mutex);
  OrtCustomOpDomain*& domain = (*domains)[{&api, selection}];
  if (domain != nullptr) return domain;
  auto made = ort_abi::Receive<OrtCustomOpDomain>(
      api, api, [&](OrtCustomOpDomain** out) { return api.CreateCustomOpDomain(kDomain, out); });
  auto operators = MakeCustomOps(api, ReadOperatorNames(kOperatorsEntry, selection));
  for (const auto& op : operators) ThrowIfError(api, api.CustomOpDomain_Add(made.get(), op.get()));
  ThrowIfError(api, api.CustomOpDomain_Add(made.get(), CopyCountsOp()));
  for (auto& op : operators) op.release();
  return domain = made.release();
}

}  // namespace

void AddCustomOps(const OrtApi& api, OrtSessionOptions* options) {
  ort_abi::Require(options, "options");
  ThrowIfError(api, api.AddCustomOpDomain(options, DomainOf(api, Selection(api, options))));
}

}  // namespace ort_plugin
