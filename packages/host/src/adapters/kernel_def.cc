// SPDX-License-Identifier: Apache-2.0
#include "adapters/kernel_def.h"

#include <array>

#include "conversions/element_type.h"

namespace ort_host {
namespace {

using light::ElementType;

/// ORT has no kernels for the complex types.
bool IsForKernels(ElementType type) noexcept {
  return type != ElementType::kUndefined && type != ElementType::kComplex64 && type != ElementType::kComplex128 &&
         conversions::ToOrt(type) != 0;
}

}  // namespace

const DataTypeAdapter* DataTypeAdapter::Of(ONNXTensorElementDataType type) {
  using Table = std::array<const DataTypeAdapter*, conversions::kElementTypeCount>;
  static const Table kTable = [] {
    Table table{};
    for (int32_t n = 0; n < conversions::kElementTypeCount; ++n) {
      const auto element = static_cast<ElementType>(n);
      if (IsForKernels(element)) table[static_cast<std::size_t>(n)] = new DataTypeAdapter(element);
    }
    return table;
  }();
  const auto element = conversions::FromOrt(type);
  return element ? kTable[static_cast<std::size_t>(conversions::ToOnnx(*element))] : nullptr;
}

bool KernelDefinition::Covers(int since_version) const noexcept {
  return since_version == since || (until != INT_MAX && since <= since_version && since_version <= until);
}

std::string KernelDefinition::Label() const {
  std::string label = plain_domain().empty() ? op_type : domain + "." + op_type;
  label += " (version";
  if (until == INT_MAX || until == since) return label + " " + std::to_string(since) + ")";
  return label + "s " + std::to_string(since) + " to " + std::to_string(until) + ")";
}

KernelDefinition& KernelDefBuilderAdapter::definition() {
  if (!definition_) {
    throw ort_abi::StatusError(ORT_INVALID_ARGUMENT, "kernel definition builder: gave its definition already");
  }
  return *definition_;
}

std::unique_ptr<KernelDefAdapter> KernelDefBuilderAdapter::Build() {
  auto built = std::make_unique<KernelDefAdapter>(std::move(definition()), KernelDefAdapter::Owner::kLibrary);
  definition_.reset();
  return built;
}

}  // namespace ort_host
