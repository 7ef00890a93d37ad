// SPDX-License-Identifier: Apache-2.0
#include "bridge/plugin_provider.h"

#include <algorithm>
#include <utility>

#include "adapters/graph.h"
#include "adapters/graph_boundary.h"
#include "adapters/graph_support.h"
#include "bridge/ep_kernel.h"
#include "bridge/kernel_lookup.h"
#include "light/assignment.h"

namespace ort_host {
namespace {

using ort_abi::Lend;
using ort_abi::StatusError;

constexpr const char* kGetCapability = ort_abi::MemberInfo<&OrtEp::GetCapability>::kLabel;

light::KernelEntry MakeEntry(const EpInstance& instance, const RegisteredKernel& kernel) {
  const KernelDefinition& definition = kernel.definition.definition();
  light::KernelEntry entry;
  light::KernelRegistration& registration = entry.registration;
  registration.domain = definition.plain_domain();
  registration.op_type = definition.op_type;
  registration.since = definition.since;
  registration.until = definition.until;
  registration.constraints = definition.constraints;
  registration.kernel_name = instance.name() + "::" + definition.Label();
  // A kernel must bear that either is declined. Where sharing costs nothing it is granted.
  registration.may_inplace = definition.may_inplace;
  registration.may_inplace.insert(registration.may_inplace.end(), definition.aliases.begin(), definition.aliases.end());
  registration.is_hosted = true;
  entry.make = [&instance, &kernel](const light::KernelInfo& info) { return MakeEpKernel(instance, kernel, info); };
  return entry;
}

/// True if the node, or one in its bodies, reads or makes strings.
bool TouchesText(const light::Graph& graph, const light::Node& node) {
  for (const auto* values : {&node.inputs, &node.outputs, &node.captures}) {
    const bool found = std::any_of(values->begin(), values->end(), [&](light::ValueId id) {
      return id != light::kNoValue && IsText(graph.value(id).type);
    });
    if (found) return true;
  }
  return std::any_of(node.subgraphs.begin(), node.subgraphs.end(), [](const light::Subgraph& body) {
    const auto& nodes = body.graph->nodes();
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const light::Node& inner) { return TouchesText(*body.graph, inner); });
  });
}

/// The first argument that is no tensor of numbers, as `input 'x' is tensor(string)`; "" if there is none. Providers
/// tend to leave such nodes alone.
std::string UnusualArgument(const light::Graph& graph, const light::Node& node) {
  for (const auto& [values, what] : {std::pair(&node.inputs, "input '"), std::pair(&node.outputs, "output '")}) {
    for (const light::ValueId id : *values) {
      if (id == light::kNoValue) continue;
      const light::GraphValue& value = graph.value(id);
      if (value.type.is_tensor() && !IsText(value.type)) continue;
      return what + value.name + "' is " + value.type.ToString();
    }
  }
  return "";
}

}  // namespace

PluginProvider::PluginProvider(EpSelection selection, const SessionOptionsAdapter& options,
                               std::shared_ptr<SessionScope> scope, std::string model_path,
                               light::BrokenGroups broken_groups, std::size_t& group_count)
    : instance_(std::move(selection), options, std::move(scope)),
      model_path_(std::move(model_path)),
      broken_groups_(broken_groups),
      groups_(instance_, model_path_, checked::enabled() ? &watch_ : nullptr, group_count) {
  const std::string* disabled = options.FindConfig("session.disable_model_compile");
  may_compile_ = disabled == nullptr || *disabled != "1";
  ReadRegistry();
}

void PluginProvider::ReadRegistry() {
  if (!instance_.Has<&OrtEp::GetKernelRegistry>()) return;
  const OrtKernelRegistry* given = nullptr;
  instance_.Call<&OrtEp::GetKernelRegistry>(&given);
  if (given == nullptr) return;
  try {
    registry_ = ort_abi::Borrow(given).Copy();
  } catch (const StatusError& error) {
    instance_.Fail(error.code(), "OrtEp.GetKernelRegistry", error.what());
  }
  for (const RegisteredKernel& kernel : registry_->kernels()) entries_.push_back(MakeEntry(instance_, kernel));
}

const RegisteredKernel* PluginProvider::Find(const light::Graph& graph, const light::Node& node,
                                             std::string* why) const {
  if (registry_ != nullptr) return FindRegisteredKernel(*registry_, name(), graph, node, why);
  if (why != nullptr) *why = "the provider has no kernels";
  return nullptr;
}

/// Providers that have no use for strings claim their nodes and fail, or end the process. Who wants them says so with a
/// kernel.
bool PluginProvider::IsHidden(const light::Graph& graph, const light::Node& node) const {
  return TouchesText(graph, node) && Find(graph, node, nullptr) == nullptr;
}

light::Proposals PluginProvider::Propose(const light::GraphOffer& offer) {
  std::vector<light::NodeId> hidden;
  const auto hides = [&](const light::Node& node) {
    const bool is_hidden = IsHidden(offer.graph, node);
    if (is_hidden) hidden.push_back(node.id);
    return is_hidden;
  };
  // Neither is on the stack, where a handle that is used too late would soon be another one.
  const auto graph = std::make_unique<GraphAdapter>(offer, model_path_, hides);
  if (graph->nodes().empty()) return {};  // constants alone
  if (checked::enabled()) [[unlikely]]
    graph->WatchConstants(&watch_);
  const auto look_up = [&](const NodeAdapter& node) -> const OrtKernelDef* {
    // A node that somebody has is looked up under the name of who has it.
    const std::string& owner = node.provider();
    if (!owner.empty() && owner != name()) return nullptr;
    const RegisteredKernel* found = Find(node.graph().graph(), node.node(), nullptr);
    return found != nullptr ? Lend<OrtKernelDef>(found->definition) : nullptr;
  };
  const bool may_overlap = broken_groups_ != light::BrokenGroups::kRefuse;
  const auto support = std::make_unique<GraphSupportAdapter>(*graph, may_overlap, look_up);
  instance_.Call<&OrtEp::GetCapability>(Lend<OrtGraph>(std::as_const(*graph)), Lend<OrtEpGraphSupportInfo>(*support));
  JudgeConstants(kGetCapability);
  if (!support->problem().empty()) instance_.Fail(ORT_EP_FAIL, kGetCapability, support->problem());
  light::Proposals proposals = support->TakeProposals();
  for (light::PartitionProposal& group : proposals.partitions) group.name = groups_.NextName(graph->main_graph());
  proposals.hidden = std::move(hidden);
  return proposals;
}

std::string PluginProvider::WhyNot(const light::GraphOffer& offer, const light::Node& node) {
  if (IsConstantNode(node)) return "sees its value as an initializer, not the node";
  if (IsHidden(offer.graph, node)) return "was not shown the node, which has strings, as it has no kernel for it";
  std::string why;
  const bool has_kernel = Find(offer.graph, node, &why) != nullptr;
  std::string reason = "did not propose the node";
  if (has_kernel) {
    reason += ", although it has a kernel for it";
  } else if (registry_ != nullptr) {
    reason += ", and has no kernel for it: " + why;
  }
  const std::string unusual = UnusualArgument(offer.graph, node);
  return unusual.empty() ? reason : reason + "; " + unusual;
}

const light::KernelEntry* PluginProvider::FindKernel(const light::Graph& graph, const light::Node& node,
                                                     std::string* why) {
  const RegisteredKernel* found = Find(graph, node, why);
  if (found == nullptr) return nullptr;
  const auto& kernels = registry_->kernels();
  const auto at = std::find_if(kernels.begin(), kernels.end(), [&](const auto& kernel) { return &kernel == found; });
  return &entries_[static_cast<std::size_t>(at - kernels.begin())];
}

std::vector<std::unique_ptr<light::Partition>> PluginProvider::Compile(
    const light::GraphOffer& offer, const std::vector<light::PartitionShape>& shapes) {
  if (!may_compile_) {
    instance_.Fail(ORT_MODEL_REQUIRES_COMPILATION, kGetCapability,
                   "asks for nodes to be fused, and session.disable_model_compile is 1");
  }
  auto partitions = groups_.Compile(offer, shapes);
  JudgeConstants(ort_abi::MemberInfo<&OrtEp::Compile>::kLabel);
  return partitions;
}

void PluginProvider::JudgeConstants(const char* callback) {
  if (!checked::enabled()) [[likely]]
    return;
  const std::string changed = watch_.Judge(instance_.label(), callback);
  if (!changed.empty()) instance_.Fail(ORT_FAIL, callback, changed);
}

}  // namespace ort_host
