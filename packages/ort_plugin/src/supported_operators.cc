// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "kernel_registry.h"

namespace ort_plugin {
namespace {

using light::FormalParameter;
using light::KernelRegistration;
using light::OperatorSchema;
using light::TypeSet;

bool TakesTensorsOnly(const OperatorSchema& schema) {
  const auto is_tensor = [&](const FormalParameter& formal) {
    return schema.type_parameters[static_cast<std::size_t>(formal.type_parameter)].allowed.tensors != 0;
  };
  const auto has_graph = [](const light::AttributeSchema& attribute) {
    return attribute.kind == light::AttributeKind::kGraph || attribute.kind == light::AttributeKind::kGraphs;
  };
  return std::all_of(schema.inputs.begin(), schema.inputs.end(), is_tensor) &&
         std::all_of(schema.outputs.begin(), schema.outputs.end(), is_tensor) &&
         std::none_of(schema.attributes.begin(), schema.attributes.end(), has_graph);
}

/// The tensor types of a type parameter that the kernel takes.
TypeSet Admitted(const OperatorSchema& schema, std::size_t parameter, const KernelRegistration& registration) {
  TypeSet admitted;
  admitted.tensors = schema.type_parameters[parameter].allowed.tensors;
  const auto concerns = [&](const std::string& name) {
    if (name == schema.type_parameters[parameter].name) return true;
    if (schema.FindTypeParameter(name) >= 0) return false;
    const auto is_of_it = [&](const FormalParameter& formal) {
      return formal.name == name && formal.type_parameter == static_cast<int>(parameter);
    };
    return std::any_of(schema.inputs.begin(), schema.inputs.end(), is_of_it) ||
           std::any_of(schema.outputs.begin(), schema.outputs.end(), is_of_it);
  };
  for (const light::TypeConstraint& constraint : registration.constraints) {
    if (concerns(constraint.parameter)) admitted.tensors &= constraint.allowed.tensors;
  }
  return admitted;
}

/// Returns false if the kernel is for sequences or optionals.
bool Add(const KernelRegistration& registration, SupportedOperator& supported) {
  std::vector<TypeSet> admitted;
  for (std::size_t i = 0; i < supported.types.size(); ++i) {
    admitted.push_back(Admitted(*supported.schema, i, registration));
    if (admitted.back().empty()) return false;
  }
  for (std::size_t i = 0; i < admitted.size(); ++i) supported.types[i].tensors |= admitted[i].tensors;
  supported.may_decline |= registration.declines != nullptr;
  return true;
}

bool IsSupported(const SupportedOperator& supported) {
  return std::none_of(supported.types.begin(), supported.types.end(), [](const TypeSet& set) { return set.empty(); });
}

using Key = std::tuple<std::string_view, std::string_view, int>;

Key KeyOf(const SupportedOperator& supported) {
  const OperatorSchema& schema = *supported.schema;
  return {schema.domain, schema.name, schema.since_version};
}

std::vector<SupportedOperator> Collect() {
  std::map<std::string, std::vector<const KernelRegistration*>> by_operator;
  for (const light::KernelEntry* entry : light::NativeKernels().All()) {
    by_operator[entry->registration.domain + ":" + entry->registration.op_type].push_back(&entry->registration);
  }
  std::vector<SupportedOperator> all;
  for (const OperatorSchema* schema : light::OnnxSchemas().All()) {
    const auto found = by_operator.find(schema->domain + ":" + schema->name);
    if (found == by_operator.end() || schema->deprecated || !TakesTensorsOnly(*schema)) continue;
    SupportedOperator supported{schema, std::vector<TypeSet>(schema->type_parameters.size()), {}, false};
    bool has_kernel = false;
    for (const KernelRegistration* registration : found->second) {
      if (schema->since_version < registration->since || schema->since_version > registration->until) continue;
      if (!Add(*registration, supported)) continue;
      // The host shares a buffer before a kernel is chosen: all of them must leave the input as it is.
      if (!has_kernel) {
        supported.aliases = registration->aliases;
      } else if (supported.aliases != registration->aliases) {
        supported.aliases.clear();
      }
      has_kernel = true;
    }
    if (has_kernel && IsSupported(supported)) all.push_back(std::move(supported));
  }
  std::sort(all.begin(), all.end(),
            [](const SupportedOperator& a, const SupportedOperator& b) { return KeyOf(a) < KeyOf(b); });
  return all;
}

}  // namespace

const std::vector<SupportedOperator>& SupportedOperators() {
  static const auto* all = new std::vector<SupportedOperator>(Collect());
  return *all;
}

const SupportedOperator* FindSupported(std::string_view domain, std::string_view op_type, int since_version) {
  const std::vector<SupportedOperator>& all = SupportedOperators();
  const Key key(domain, op_type, since_version);
  const auto found = std::lower_bound(
      all.begin(), all.end(), key, [](const SupportedOperator& one, const Key& wanted) { return KeyOf(one) < wanted; });
  return found != all.end() && KeyOf(*found) == key ? &*found : nullptr;
}

}  // namespace ort_plugin
