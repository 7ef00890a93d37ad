// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "adapters/kernel_def.h"

namespace ort_host {

/// A kernel of a library: what it is for, and how it is made.
struct RegisteredKernel {
  KernelDefAdapter definition;
  OrtKernelCreateFunc create = nullptr;
  void* state = nullptr;                               ///< passed to `create`; the library's
  mutable std::atomic<bool> has_told_of_fault{false};  ///< a log line said that it can never match

  RegisteredKernel(KernelDefinition content, OrtKernelCreateFunc function, void* function_state)
      : definition(std::move(content), KernelDefAdapter::Owner::kRegistry), create(function), state(function_state) {}
};

/// Behind OrtKernelRegistry: the kernels of a provider, in the order in which they were added.
class KernelRegistryAdapter final : public AdapterBase {
 public:
  KernelRegistryAdapter() noexcept : AdapterBase(kKernelRegistryKind) {}
  KernelRegistryAdapter(const KernelRegistryAdapter&) = delete;

  /// Throws StatusError (FAIL) for a definition that an earlier one leaves no room for.
  void Add(const KernelDefinition& definition, OrtKernelCreateFunc create, void* state);
  /// A copy that a session keeps: the library may release its own at once.
  std::unique_ptr<KernelRegistryAdapter> Copy() const;

  const std::deque<RegisteredKernel>& kernels() const noexcept { return kernels_; }
  /// Those of one operator, in order. `domain` is "" for ONNX.
  const std::vector<const RegisteredKernel*>& Of(std::string_view domain, std::string_view op_type) const;

 private:
  void Append(const KernelDefinition& definition, OrtKernelCreateFunc create, void* state);

  std::deque<RegisteredKernel> kernels_;
  std::unordered_map<std::string, std::vector<const RegisteredKernel*>> by_operator_;  // "domain:op"
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtKernelRegistry, KernelRegistryAdapter, kKernelRegistryKind, "kernel registry");
