// SPDX-License-Identifier: Apache-2.0
// Writes the operators that can be used as custom operators: by name and version the domain of ONNX, the element types
// of each type parameter, and whether a kernel refuses some nodes for more than their types.
#include <cstdio>
#include <string>

#include "kernel_registry.h"

namespace {

using light::ElementType;

/// A host takes these for no argument that may have several types.
bool IsTakenByHosts(ElementType type) {
  switch (type) {
    case ElementType::kComplex64:
    case ElementType::kComplex128:
    case ElementType::kFloat8E8M0:
    case ElementType::kUint2:
    case ElementType::kInt2:
      return false;
    default:
      return conversions::ToOrt(type) != 0;
  }
}

std::string Types(const light::TypeSet& set) {
  std::string list;
  for (int32_t number = 1; number < conversions::kElementTypeCount; ++number) {
    const auto type = static_cast<ElementType>(number);
    if ((set.tensors >> number & 1u) == 0 || !IsTakenByHosts(type)) continue;
    list += (list.empty() ? "\"" : ", \"") + std::string(conversions::Name(type)) + '"';
  }
  return '[' + list + ']';
}

std::string Version(const ort_plugin::SupportedOperator& supported) {
  std::string text = "\"" + std::to_string(supported.schema->since_version) + "\": {\"domain\": \"" +
                     supported.schema->domain + "\", \"may_decline\": ";
  text += supported.may_decline ? "true" : "false";
  text += ", \"types\": {";
  for (std::size_t i = 0; i < supported.types.size(); ++i) {
    text += (i == 0 ? "\"" : ", \"") + supported.schema->type_parameters[i].name + "\": " + Types(supported.types[i]);
  }
  return text + "}}";
}

}  // namespace

int main() {
  std::string last;
  for (const ort_plugin::SupportedOperator& supported : ort_plugin::SupportedOperators()) {
    const std::string& name = supported.schema->name;
    if (name == last) {
      std::printf(",\n  %s", Version(supported).c_str());
    } else {
      std::printf("%s\"%s\": {\n  %s", last.empty() ? "{\n" : "},\n", name.c_str(), Version(supported).c_str());
    }
    last = name;
  }
  std::printf("}\n}\n");
  return 0;
}
