// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"
#include "adapters/graph_support.h"
#include "adapters/kernel_info.h"
#include "adapters/node_compute_context.h"
#include "adapters/session_options.h"

namespace ort_host::abi {
namespace {

// --- What a provider says of a graph

OrtStatus* ORT_API_CALL EpGraphSupportInfo_AddNodesToFuse(OrtEpGraphSupportInfo* graph_support_info,
                                                          const OrtNode* const* nodes, size_t num_nodes,
                                                          const OrtNodeFusionOptions* node_fusion_options) noexcept {
  return Guard("EpGraphSupportInfo_AddNodesToFuse", [&](Slot slot) -> OrtStatus* {
    GraphSupportAdapter& support = Borrow(graph_support_info);
    Require(nodes, "nodes");
    if (num_nodes == 0) return slot.Fail(ORT_INVALID_ARGUMENT, "num_nodes: a group needs a node, got 0");
    if (num_nodes > support.node_count()) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "num_nodes: the graph has %zu nodes, got %zu", support.node_count(),
                       num_nodes);
    }
    std::vector<const NodeAdapter*> group;
    for (size_t i = 0; i < num_nodes; ++i) group.push_back(&Borrow(nodes[i], "nodes"));
    const std::string problem =
        support.AddGroup(group, node_fusion_options != nullptr && node_fusion_options->drop_constant_initializers);
    return problem.empty() ? nullptr : slot.Fail(ORT_INVALID_ARGUMENT, "nodes: %s", problem.c_str());
  });
}

OrtStatus* ORT_API_CALL EpGraphSupportInfo_AddSingleNode(OrtEpGraphSupportInfo* graph_support_info,
                                                         const OrtNode* node) noexcept {
  return Guard("EpGraphSupportInfo_AddSingleNode", [&](Slot slot) -> OrtStatus* {
    GraphSupportAdapter& support = Borrow(graph_support_info);
    const std::string problem = support.AddNode(Borrow(node));
    return problem.empty() ? nullptr : slot.Fail(ORT_INVALID_ARGUMENT, "node: %s", problem.c_str());
  });
}

OrtStatus* ORT_API_CALL EpGraphSupportInfo_LookUpKernel(OrtEpGraphSupportInfo* graph_support_info, const OrtNode* node,
                                                        const OrtKernelDef** out_kernel_def) noexcept {
  return Guard("EpGraphSupportInfo_LookUpKernel", [&] {
    const GraphSupportAdapter& support = Borrow(graph_support_info);
    const NodeAdapter& adapter = Borrow(node);
    Out(out_kernel_def, "out_kernel_def") = support.FindKernel(adapter);
  });
}

// --- What an application gives beside the model

OrtStatus* ORT_API_CALL SessionOptionsGetWeightlessSourceModelBuffer(const OrtSessionOptions* session_options,
                                                                     const void** source_model_data,
                                                                     size_t* source_model_data_length) noexcept {
  return Guard("SessionOptionsGetWeightlessSourceModelBuffer", [&] {
    Borrow(session_options);
    const auto data = Out(source_model_data, "source_model_data");
    const auto length = Out(source_model_data_length, "source_model_data_length");
    data = static_cast<const void*>(nullptr);  // an application of this host has no way to give one
    length = 0;
  });
}

// --- Groups and kernels of a provider

const char* ORT_API_CALL NodeComputeContext_NodeName(const OrtNodeComputeContext* context) noexcept {
  const char* name = "";
  ReleaseStatusHandle(Guard("NodeComputeContext_NodeName", [&] { name = Borrow(context).node_name().c_str(); }));
  return name;
}

OrtStatus* ORT_API_CALL KernelInfo_GetEp(const OrtKernelInfo* info, const OrtEp** ep) noexcept {
  return Guard("KernelInfo_GetEp", [&](Slot slot) -> OrtStatus* {
    const KernelContent& content = Borrow(info).content();
    const auto destination = Out(ep, "ep");
    if (content.ep == nullptr) {
      return slot.Fail(ORT_FAIL, "info: %s belongs to no plugin execution provider", content.label.c_str());
    }
    destination = content.ep;
    return nullptr;
  });
}

}  // namespace

void FillEpSession(OrtEpApi& table) noexcept {
  table.EpGraphSupportInfo_AddNodesToFuse = EpGraphSupportInfo_AddNodesToFuse;
  table.EpGraphSupportInfo_AddSingleNode = EpGraphSupportInfo_AddSingleNode;
  table.EpGraphSupportInfo_LookUpKernel = EpGraphSupportInfo_LookUpKernel;
  table.SessionOptionsGetWeightlessSourceModelBuffer = SessionOptionsGetWeightlessSourceModelBuffer;
  table.NodeComputeContext_NodeName = NodeComputeContext_NodeName;
  table.KernelInfo_GetEp = KernelInfo_GetEp;
}

}  // namespace ort_host::abi
