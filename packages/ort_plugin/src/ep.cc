// SPDX-License-Identifier: Apache-2.0
#include "ep.h"

#include <algorithm>
#include <climits>
#include <vector>

#include <ort_abi/handle.h>

#include "api.h"
#include "compiled_group.h"
#include "graph_lists.h"
#include "graph_node.h"
#include "kernel_registry.h"
#include "node_groups.h"
#include "node_kernel.h"
#include "status.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

/// True if the operator is one that kernels here implement for tensors, at the version that the graph's opset selects:
/// a group is compiled as a graph of that opset.
bool IsKnown(const OrtApi& api, const light::OpsetImports& opsets, const OrtNode* node) {
  const std::string domain(DomainOf(api, node)), op_type(OperatorTypeOf(api, node));
  int version = 0;
  ThrowIfError(api, api.Node_GetSinceVersion(node, &version));
  const auto opset = opsets.find(domain);
  if (opset == opsets.end() || FindSupported(domain, op_type, version) == nullptr) return false;
  const light::OperatorSchema* selected =
      light::OnnxSchemas().Find(domain, op_type, static_cast<int>(std::min<int64_t>(opset->second, INT_MAX)));
  return selected != nullptr && selected->since_version == version;
}

/// True for the graph of a node.
bool IsBody(const OrtApi& api, const OrtGraph* graph) {
  const OrtNode* parent = nullptr;
  ThrowIfError(api, api.Graph_GetParentNode(graph, &parent));
  return parent != nullptr;
}

}  // namespace

Ep::Ep(EpFactory& factory, EpOptions options, const OrtLogger* logger)
    : OrtEp{}, factory_(factory.shared_from_this()), options_(std::move(options)), logger_(logger) {
  ort_version_supported = kOldestApi;
  OrtEp::GetName = [](const OrtEp*) { return kEpName; };
  OrtEp::GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
    const Ep& ep = From(self);
    return Guard(ep.factory().api(), "OnnxLightExecutionProvider: GetCapability", [&] { ep.Propose(graph, support); });
  };
  OrtEp::IsConcurrentRunSupported = [](OrtEp*, bool* is_supported) -> OrtStatus* {
    *is_supported = true;
    return nullptr;
  };
  OrtEp::GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** registry) -> OrtStatus* {
    *registry = From(self).factory().kernels();
    return nullptr;
  };
  if (options_.compiles) {
    OrtEp::Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused, size_t count,
                        OrtNodeComputeInfo** infos, OrtNode**) {
      const Ep& ep = From(self);
      return Guard(ep.factory().api(), "OnnxLightExecutionProvider: Compile",
                   [&] { ep.CompileGroups(graphs, fused, count, infos); });
    };
    OrtEp::ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
      for (size_t i = 0; i < count; ++i) delete static_cast<CompiledGroup*>(infos[i]);
    };
  }
}

bool Ep::MayTake(const OrtNode* node) const {
  const OrtApi& api = factory_->api();
  const char* owner = nullptr;
  ThrowIfError(api, api.Node_GetEpName(node, &owner));
  if (*owner != '\0' && std::string_view(owner) != kEpName) return false;
  return options_.operators.empty() || options_.operators.contains(std::string(OperatorTypeOf(api, node)));
}

bool Ep::HasKernel(const OrtNode* node) const {
  NodeDescription description = DescribeGraphNode(factory_->api(), node);
  std::string why;
  // ONNX Runtime computes chains of such nodes in float32 and rounds what leaves them: a node of ours in between, even
  // one that moves elements only, would make the model less exact.
  if (!options_.float16 && HasFloat16(description)) {
    why = description.Label() + ": it has float16 arguments, and the option float16 is 0";
  } else {
    why = WhyUnsupported(std::move(description));
  }
  if (!why.empty()) Log(std::string(kEpName) + " leaves " + why);
  return why.empty();
}

void Ep::Log(const std::string& words) const {
  if (logger_ == nullptr) return;
  ThrowIfError(factory_->api(), factory_->api().Logger_LogMessage(logger_, ORT_LOGGING_LEVEL_INFO, words.c_str(),
                                                                  __FILE__, __LINE__, __func__));
}

void Ep::Propose(const OrtGraph* graph, OrtEpGraphSupportInfo* support) const {
  // ONNX Runtime (1.32) may replace the node around a body by the nodes that define it, with the groups among them, and
  // does not find their domain there; and weights in files are not readable from a body. Its nodes are taken singly.
  if (options_.compiles && !IsBody(factory_->api(), graph)) {
    ProposeGroups(graph, support);
  } else {
    ProposeNodes(graph, support);
  }
}

void Ep::ProposeNodes(const OrtGraph* graph, OrtEpGraphSupportInfo* support) const {
  const OrtApi& api = factory_->api();
  for (const OrtNode* node : NodesOf(api, graph)) {
    if (!MayTake(node)) continue;
    const OrtKernelDef* definition = nullptr;
    ThrowIfError(api, factory_->ep_api().EpGraphSupportInfo_LookUpKernel(support, node, &definition));
    // The registry knows types one by one; which of them go together, and which attributes, only the kernel knows.
    if (definition == nullptr || !HasKernel(node)) continue;
    ThrowIfError(api, factory_->ep_api().EpGraphSupportInfo_AddSingleNode(support, node));
  }
}

void Ep::ProposeGroups(const OrtGraph* graph, OrtEpGraphSupportInfo* support) const {
  const OrtApi& api = factory_->api();
  const light::OpsetImports opsets = ReadOpsetImports(api, graph);
  const std::vector<const OrtNode*> nodes = NodesOf(api, graph);
  std::vector<bool> is_wanted(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    is_wanted[i] = MayTake(nodes[i]) && IsKnown(api, opsets, nodes[i]) && HasKernel(nodes[i]);
  }
  for (const auto& group : GroupNodes(api, nodes, is_wanted)) {
    // CompiledGroup has copies of what it needs.
    const OrtNodeFusionOptions options{.ort_version_supported = kOldestApi, .drop_constant_initializers = true};
    ThrowIfError(api,
                 factory_->ep_api().EpGraphSupportInfo_AddNodesToFuse(support, group.data(), group.size(), &options));
  }
}

void Ep::CompileGroups(const OrtGraph** graphs, const OrtNode** fused, std::size_t count,
                       OrtNodeComputeInfo** infos) const {
  const OrtApi& api = factory_->api();
  std::vector<std::unique_ptr<CompiledGroup>> groups;
  for (std::size_t i = 0; i < count; ++i) {
    groups.push_back(std::make_unique<CompiledGroup>(api, std::string(NameOf(api, fused[i])),
                                                     ReadGroup(api, graphs[i], fused[i]), options_.threads,
                                                     light::KernelOptions{.winograd = options_.winograd}));
  }
  for (std::size_t i = 0; i < count; ++i) infos[i] = groups[i].release();
}

std::unique_ptr<Ep> MakeEp(EpFactory& factory, const OrtSessionOptions* options, const OrtLogger* logger) {
  return std::make_unique<Ep>(factory, ReadEpOptions(factory.api(), options), logger);
}

void DeleteEp(OrtEp* ep) noexcept { delete static_cast<Ep*>(ep); }

}  // namespace ort_plugin
