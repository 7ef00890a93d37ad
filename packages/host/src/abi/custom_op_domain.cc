// SPDX-License-Identifier: Apache-2.0
#include "adapters/custom_op_domain.h"
#include "abi/sections.h"
#include "adapters/session_options.h"

namespace ort_host::abi {
namespace {

OrtStatus* ORT_API_CALL CreateCustomOpDomain(const char* domain, OrtCustomOpDomain** out) noexcept {
  return Guard("CreateCustomOpDomain",
               [&] { Out(out) = std::make_unique<CustomOpDomainAdapter>(Require(domain, "domain")); });
}

OrtStatus* ORT_API_CALL CustomOpDomain_Add(OrtCustomOpDomain* custom_op_domain, const OrtCustomOp* op) noexcept {
  return Guard("CustomOpDomain_Add", [&] {
    // Nothing of the op is read before a session is made.
    Borrow(custom_op_domain).domain()->ops.push_back(Require(op, "op"));
  });
}

OrtStatus* ORT_API_CALL AddCustomOpDomain(OrtSessionOptions* options, OrtCustomOpDomain* custom_op_domain) noexcept {
  return Guard("AddCustomOpDomain", [&] {
    SessionOptionsAdapter& adapter = Borrow(options);
    adapter.AddDomain(Borrow(custom_op_domain).domain());
  });
}

void ORT_API_CALL ReleaseCustomOpDomain(OrtCustomOpDomain* custom_op_domain) noexcept {
  TakeIn("ReleaseCustomOpDomain", custom_op_domain);
}

}  // namespace

void FillCustomOpDomain(OrtApi& table) noexcept {
  table.CreateCustomOpDomain = CreateCustomOpDomain;
  table.CustomOpDomain_Add = CustomOpDomain_Add;
  table.AddCustomOpDomain = AddCustomOpDomain;
  table.ReleaseCustomOpDomain = ReleaseCustomOpDomain;
}

}  // namespace ort_host::abi
