// SPDX-License-Identifier: Apache-2.0
#include "adapters/kernel_registry.h"

#include <algorithm>

namespace ort_host {
namespace {

std::string Key(std::string_view domain, std::string_view op_type) {
  return std::string(domain).append(":").append(op_type);
}

/// An open end counts as the start alone, as in look-ups.
bool SharesVersions(const KernelDefinition& a, const KernelDefinition& b) noexcept {
  const auto end = [](const KernelDefinition& d) { return d.until == INT_MAX ? d.since : d.until; };
  return a.since <= end(b) && b.since <= end(a);
}

/// True unless a constraint that both have admits no common type.
bool SharesTypes(const KernelDefinition& a, const KernelDefinition& b) {
  for (const light::TypeConstraint& ours : a.constraints) {
    for (const light::TypeConstraint& theirs : b.constraints) {
      if (ours.parameter == theirs.parameter && (ours.allowed.tensors & theirs.allowed.tensors) == 0) return false;
    }
  }
  return true;
}

/// True if `later` offers no other sharing of buffers than `earlier`.
bool RepeatsPairs(const IndexPairs& earlier, const IndexPairs& later) {
  if (earlier.empty()) return later.empty();
  return std::ranges::all_of(earlier, [&](const auto& pair) { return std::ranges::find(later, pair) != later.end(); });
}

/// True if the later one says something of memory and the earlier one nothing.
bool AddsMemory(const MemoryTypes& earlier, const MemoryTypes& later) noexcept {
  return earlier.empty() && !later.empty();
}

/// True if an argument has the same memory type in both. By ORT's rule that makes two definitions of them: libraries
/// that ORT takes repeat themselves so.
bool RepeatsMemory(const MemoryTypes& earlier, const MemoryTypes& later) {
  return std::ranges::any_of(earlier, [&](const auto& item) {
    const auto found = later.find(item.first);
    return found != later.end() && found->second == item.second;
  });
}

bool LeavesNoRoom(const KernelDefinition& earlier, const KernelDefinition& later) {
  return earlier.provider == later.provider && SharesVersions(earlier, later) && SharesTypes(earlier, later) &&
         RepeatsPairs(earlier.may_inplace, later.may_inplace) && RepeatsPairs(earlier.aliases, later.aliases) &&
         !AddsMemory(earlier.input_memory, later.input_memory) &&
         !RepeatsMemory(earlier.input_memory, later.input_memory) &&
         !AddsMemory(earlier.output_memory, later.output_memory);
}

}  // namespace

void KernelRegistryAdapter::Add(const KernelDefinition& definition, OrtKernelCreateFunc create, void* state) {
  for (const RegisteredKernel* earlier : Of(definition.plain_domain(), definition.op_type)) {
    const KernelDefinition& known = earlier->definition.definition();
    if (!LeavesNoRoom(known, definition)) continue;
    throw ort_abi::StatusError(ORT_FAIL, "kernel definition " + definition.Label() + " of provider '" +
                                             definition.provider +
                                             "': an earlier one has the same versions and types, " + known.Label());
  }
  Append(definition, create, state);
}

void KernelRegistryAdapter::Append(const KernelDefinition& definition, OrtKernelCreateFunc create, void* state) {
  auto& of_operator = by_operator_[Key(definition.plain_domain(), definition.op_type)];
  of_operator.reserve(of_operator.size() + 1);
  of_operator.push_back(&kernels_.emplace_back(definition, create, state));
}

std::unique_ptr<KernelRegistryAdapter> KernelRegistryAdapter::Copy() const {
  auto copy = std::make_unique<KernelRegistryAdapter>();
  for (const RegisteredKernel& kernel : kernels_)
    copy->Append(kernel.definition.definition(), kernel.create, kernel.state);
  return copy;
}

const std::vector<const RegisteredKernel*>& KernelRegistryAdapter::Of(std::string_view domain,
                                                                      std::string_view op_type) const {
  static const std::vector<const RegisteredKernel*> kNone;
  const auto found = by_operator_.find(Key(domain, op_type));
  return found != by_operator_.end() ? found->second : kNone;
}

}  // namespace ort_host
