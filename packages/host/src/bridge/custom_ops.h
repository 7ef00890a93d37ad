// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/custom_op_domain.h"
#include "adapters/session_scope.h"
#include "bridge/custom_op_versions.h"
#include "light/kernel_registry.h"
#include "light/operator_schema.h"

namespace ort_host {

/// A domain of custom ops and the library that added it.
struct CustomOpSource {
  std::shared_ptr<CustomOpDomain> domain;
  std::shared_ptr<LoadedLibrary> library;
  std::string provider = {};  ///< execution provider that the domain came with, if it did
};

/// The custom ops of one session, as the runtime takes them: schemas on top of ONNX's, and kernels. Immutable; must
/// outlive the session that uses it.
class CustomOps {
 public:
  struct Options {
    bool allow_onnx_override = false;  ///< ops of the ONNX domain come before native kernels
    /// Execution providers of the session: an op for one of these describes an operator and brings no kernel of its
    /// own.
    std::vector<std::string> providers = {};
  };

  /// Reads all ops of the domains. Throws StatusError: a domain that is there twice, a descriptor or a set of overloads
  /// that breaks a rule; the message names the op and its library.
  CustomOps(const std::vector<CustomOpSource>& sources, std::shared_ptr<SessionScope> scope, const Options& options);

  const light::SchemaSet& schemas() const noexcept { return schemas_; }
  const light::KernelRegistry& kernels() const noexcept { return kernels_; }
  const light::KernelRegistry& overrides() const noexcept { return overrides_; }

  /// The library that brought the kernel; null if the kernel is none of these.
  const LoadedLibrary* LibraryOf(const light::KernelEntry* entry) const noexcept;

 private:
  void AddDomain(const CustomOpSource& source);
  void AddOperator(const std::vector<CustomOpPtr>& overloads);
  void AddVersion(const std::shared_ptr<const CustomOpVersion>& version);
  void AddKernels(const std::shared_ptr<const CustomOpVersion>& version, const light::OperatorSchema& schema,
                  light::KernelRegistry& registry);

  std::shared_ptr<SessionScope> scope_;
  Options options_;
  light::SchemaSet schemas_;
  light::KernelRegistry kernels_;
  light::KernelRegistry overrides_;
  std::vector<std::pair<const light::KernelEntry*, std::shared_ptr<LoadedLibrary>>> libraries_;
};

}  // namespace ort_host
