// SPDX-License-Identifier: Apache-2.0
#include "adapters/custom_op_domain.h"
#include "abi/sections.h"
#include "adapters/logger.h"
#include "adapters/session_options.h"
#include "loader/mapped_objects.h"

namespace ort_host::abi {
namespace {

/// A library keeps the table that it got first. If ONNX Runtime then loads the very file that this host has loaded, the
/// library brings ONNX Runtime's options here, and ONNX Runtime cannot read the status that we return.
[[gnu::cold, gnu::noinline]] void ExplainForeignOptions() {
  const std::string runtime = MappedOnnxRuntime();
  if (runtime.empty()) return;
  const std::string line = "AddCustomOpDomain: the session options are not this host's: " + runtime +
                           " has loaded a library that this host has loaded before, and both share its globals; give "
                           "each a copy of the file";
  LogAlways(line.c_str());
}

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
    const CustomOpDomainAdapter& domain = Borrow(custom_op_domain);
    try {
      BorrowOptions(options).AddDomain(domain.domain());
    } catch (const StatusError&) {
      ExplainForeignOptions();
      throw;
    }
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
