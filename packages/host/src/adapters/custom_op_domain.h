// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/kinds.h"

namespace ort_host {

/// A domain as a library fills it. The ops are the library's: they live as long as it is loaded. Shared by the handle
/// and by the options and sessions that use it, so that an early ReleaseCustomOpDomain leaves nothing dangling.
struct CustomOpDomain {
  std::string name;  ///< "" for ONNX
  std::vector<const OrtCustomOp*> ops;
};

/// Behind OrtCustomOpDomain. Lives until ReleaseCustomOpDomain.
class CustomOpDomainAdapter final : public AdapterBase {
 public:
  explicit CustomOpDomainAdapter(std::string name)
      : AdapterBase(kCustomOpDomainKind), domain_(std::make_shared<CustomOpDomain>()) {
    domain_->name = std::move(name);
  }
  const std::shared_ptr<CustomOpDomain>& domain() const noexcept { return domain_; }

 private:
  std::shared_ptr<CustomOpDomain> domain_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtCustomOpDomain, CustomOpDomainAdapter, kCustomOpDomainKind, "custom op domain");
