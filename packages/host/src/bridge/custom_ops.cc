// SPDX-License-Identifier: Apache-2.0
#include "bridge/custom_ops.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <ort_abi/status_error.h>

#include "adapters/logger.h"
#include "bridge/custom_op_schema.h"
#include "bridge/hosted_kernel.h"
#include "light/assignment.h"
#include "light/error.h"

namespace ort_host {
namespace {

using ort_abi::StatusError;

/// A kernel constraint for each position. `schema` may be ONNX's own, for an op that stands in for one of ONNX.
std::vector<light::TypeConstraint> MakeConstraints(const CustomOpDescriptor& op, const light::OperatorSchema& schema) {
  std::vector<light::TypeConstraint> constraints;
  const auto add = [&](const CustomOpArguments& arguments, bool is_input) {
    for (std::size_t i = 0; i < arguments.items.size(); ++i) {
      const light::FormalParameter* formal = is_input ? schema.InputFormal(i) : schema.OutputFormal(i);
      if (formal == nullptr) continue;
      const CustomOpArgument& argument = arguments.items[i];
      constraints.push_back(
          {formal->name, argument.takes_any() ? AnyTensor() : light::TypeSet::Tensors({argument.element})});
    }
  };
  add(op.inputs, true);
  add(op.outputs, false);
  return constraints;
}

light::NodeKernelFn MakeFactory(const CustomOpPtr& op, const std::shared_ptr<SessionScope>& scope, bool is_fallback) {
  if (op->provider != light::kCpuProvider) {
    return [op](const light::KernelInfo& info) -> std::unique_ptr<light::KernelBase> {
      info.Fail(light::ErrorCode::kNotImplemented,
                op->Label() + ": is for execution provider '" + op->provider + "', which this host does not have");
    };
  }
  return [op, scope, is_fallback](const light::KernelInfo& info) {
    if (is_fallback) {
      const std::string line = "node " + info.node().Label() + ": no version of " + op->Label() +
                               " covers the imported opset; the first one added serves";
      scope->logger().Log(ORT_LOGGING_LEVEL_WARNING, line.c_str());
    }
    return MakeHostedKernel(op, scope, info);
  };
}

}  // namespace

CustomOps::CustomOps(const std::vector<CustomOpSource>& sources, std::shared_ptr<SessionScope> scope,
                     const Options& options)
    : scope_(std::move(scope)), options_(options), schemas_(&light::OnnxSchemas()) {
  std::map<std::string, const CustomOpSource*> seen;
  for (const CustomOpSource& source : sources) {
    const auto [known, is_new] = seen.emplace(source.domain->name, &source);
    if (!is_new) {
      throw StatusError(ORT_FAIL, "custom op domain '" + source.domain->name + "': domain already set by " +
                                      known->second->library->path() + ", and again by " + source.library->path());
    }
    AddDomain(source);
  }
}

void CustomOps::AddDomain(const CustomOpSource& source) {
  const CustomOpDomain& domain = *source.domain;
  std::vector<std::string> order;
  std::map<std::string, std::vector<CustomOpPtr>> by_name;
  for (std::size_t i = 0; i < domain.ops.size(); ++i) {
    auto op = std::make_shared<CustomOpDescriptor>(
        ReadCustomOp(*domain.ops[i], domain.name, i, source.library, source.provider));
    auto& overloads = by_name[op->name];
    if (overloads.empty()) order.push_back(op->name);
    overloads.push_back(std::move(op));
  }
  if (domain.name == "ai.onnx") {
    // Models write ONNX's domain either way, libraries only as "".
    const std::string line =
        source.library->path() + ": custom op domain 'ai.onnx' is never looked up; ONNX's domain is ''";
    scope_->logger().Log(ORT_LOGGING_LEVEL_WARNING, line.c_str());
    return;
  }
  for (const std::string& name : order) AddOperator(by_name[name]);
}

void CustomOps::AddOperator(const std::vector<CustomOpPtr>& overloads) {
  for (CustomOpVersion& version : SortByVersion(overloads)) {
    AddVersion(std::make_shared<const CustomOpVersion>(std::move(version)));
  }
}

void CustomOps::AddVersion(const std::shared_ptr<const CustomOpVersion>& version) {
  const CustomOpDescriptor& first = version->first();
  const light::SchemaSet& onnx = light::OnnxSchemas();
  if (onnx.Knows(first.domain, first.name)) {
    // ONNX says what its operators are; the library only brings kernels for one. Without an explicit choice they come
    // after native ones.
    const light::OperatorSchema* schema = onnx.Find(first.domain, first.name, onnx.LatestVersion(first.domain));
    if (schema == nullptr) return;
    AddKernels(version, *schema, options_.allow_onnx_override ? overrides_ : kernels_);
    return;
  }
  light::OperatorSchema schema = MakeSchema(version, scope_);
  AddKernels(version, schema, kernels_);
  schemas_.Add(std::move(schema));
}

void CustomOps::AddKernels(const std::shared_ptr<const CustomOpVersion>& version, const light::OperatorSchema& schema,
                           light::KernelRegistry& registry) {
  // Kernels of providers that are not here come last: they only say why a node cannot run.
  std::vector<CustomOpPtr> overloads = version->overloads;
  std::stable_partition(overloads.begin(), overloads.end(),
                        [](const CustomOpPtr& op) { return op->provider == light::kCpuProvider; });
  for (const CustomOpPtr& op : overloads) {
    const auto& ours = options_.providers;
    if (std::find(ours.begin(), ours.end(), op->provider) != ours.end()) continue;
    light::KernelRegistration registration;
    registration.domain = op->domain;
    registration.op_type = op->name;
    registration.since = version->since;
    registration.until = version->until;
    registration.constraints = MakeConstraints(*op, schema);
    registration.kernel_name = (op->domain.empty() ? "" : op->domain + "::") + op->name;
    registration.may_inplace = op->may_inplace;
    // Where an alias costs no copy it should cost none.
    registration.may_inplace.insert(registration.may_inplace.end(), op->aliases.begin(), op->aliases.end());
    registration.is_hosted = true;
    const bool is_new =
        registry.RegisterKernelFn(std::move(registration), MakeFactory(op, scope_, version->is_fallback));
    // Types that an earlier overload takes as well: the first added serves.
    if (is_new) libraries_.emplace_back(registry.All().back(), op->library);
  }
}

const LoadedLibrary* CustomOps::LibraryOf(const light::KernelEntry* entry) const noexcept {
  const auto found =
      std::find_if(libraries_.begin(), libraries_.end(), [&](const auto& item) { return item.first == entry; });
  return found == libraries_.end() ? nullptr : found->second.get();
}

}  // namespace ort_host
