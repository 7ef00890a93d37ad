// SPDX-License-Identifier: Apache-2.0
#include "light/kernel_registry.h"

namespace light {
namespace {

std::string Key(std::string_view domain, std::string_view op_type) {
  std::string key(domain == "ai.onnx" ? std::string_view() : domain);
  key += ':';
  key += op_type;
  return key;
}

bool SameConstraints(const std::vector<TypeConstraint>& a, const std::vector<TypeConstraint>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].parameter != b[i].parameter || a[i].allowed.ToString() != b[i].allowed.ToString()) return false;
  }
  return true;
}

/// Checks every argument that `constraint` speaks of, named by type parameter or by formal argument.
bool Satisfies(const Graph& graph, const Node& node, const TypeConstraint& constraint, std::string* why) {
  const OperatorSchema& schema = *node.schema;
  const int parameter = schema.FindTypeParameter(constraint.parameter);
  const auto check = [&](const std::vector<ValueId>& arguments, bool is_input) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == kNoValue) continue;
      const FormalParameter* formal = is_input ? schema.InputFormal(i) : schema.OutputFormal(i);
      if (formal == nullptr) continue;
      const bool concerned =
          parameter >= 0 ? formal->type_parameter == parameter : formal->name == constraint.parameter;
      if (!concerned) continue;
      const ValueType& type = graph.value(arguments[i]).type;
      if (constraint.allowed.Contains(type)) continue;
      if (why != nullptr) {
        *why = constraint.parameter + " is " + type.ToString() + ", supported: " + constraint.allowed.ToString();
      }
      return false;
    }
    return true;
  };
  return check(node.inputs, true) && check(node.outputs, false);
}

}  // namespace

bool KernelRegistry::RegisterKernelFn(KernelRegistration registration, NodeKernelFn make, bool overwrite) {
  auto& entries = kernels_[Key(registration.domain, registration.op_type)];
  for (auto& entry : entries) {
    const KernelRegistration& known = entry->registration;
    if (known.since != registration.since || known.until != registration.until || known.device != registration.device ||
        !SameConstraints(known.constraints, registration.constraints)) {
      continue;
    }
    if (!overwrite) return false;
    entry->registration = std::move(registration);
    entry->make = std::move(make);
    return true;
  }
  entries.push_back(std::make_unique<KernelEntry>(KernelEntry{std::move(registration), std::move(make)}));
  order_.push_back(entries.back().get());
  return true;
}

const KernelEntry* KernelRegistry::Find(const Graph& graph, const Node& node, std::string* why) const {
  const auto found = kernels_.find(Key(node.domain, node.op_type));
  if (found == kernels_.end()) {
    if (why != nullptr) *why = "no kernel for this operator";
    return nullptr;
  }
  std::string reason;
  for (const auto& entry : found->second) {
    const KernelRegistration& registration = entry->registration;
    if (node.since_version < registration.since || node.since_version > registration.until) {
      if (why != nullptr && reason.empty()) {
        reason = "version " + std::to_string(node.since_version) + " is outside " + std::to_string(registration.since) +
                 " to " + std::to_string(registration.until);
      }
      continue;
    }
    bool matches = true;
    for (const TypeConstraint& constraint : registration.constraints) {
      if (!Satisfies(graph, node, constraint, why != nullptr ? &reason : nullptr)) {
        matches = false;
        break;
      }
    }
    if (matches && registration.declines != nullptr) {
      std::string declined = registration.declines(KernelInfo(graph, node));
      matches = declined.empty();
      if (!matches) reason = std::move(declined);
    }
    if (matches) return entry.get();
  }
  if (why != nullptr) *why = reason;
  return nullptr;
}

std::vector<const KernelEntry*> KernelRegistry::All() const { return order_; }

}  // namespace light
