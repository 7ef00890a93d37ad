// SPDX-License-Identifier: Apache-2.0
#include "ep.h"

#include <vector>

#include "api.h"
#include "graph_node.h"
#include "kernel_node.h"
#include "node_kernel.h"
#include "status.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

/// A NodeKernel as the host calls it.
class EpKernel : public OrtKernelImpl {
 public:
  EpKernel(const OrtApi& api, NodeDescription node, int threads)
      : OrtKernelImpl{}, kernel_(api, std::move(node), threads) {
    ort_version_supported = kOldestApi;
    OrtKernelImpl::Compute = [](OrtKernelImpl* self, OrtKernelContext* context) {
      return static_cast<EpKernel*>(self)->kernel_.Compute(context);
    };
    OrtKernelImpl::Release = [](OrtKernelImpl* self) { delete static_cast<EpKernel*>(self); };
  }

 private:
  NodeKernel kernel_;
};

}  // namespace

Ep::Ep(EpFactory& factory, EpOptions options, const OrtLogger* logger)
    : OrtEp{}, factory_(factory.shared_from_this()), options_(std::move(options)), logger_(logger) {
  ort_version_supported = kOldestApi;
  OrtEp::GetName = [](const OrtEp*) { return kEpName; };
  OrtEp::GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
    const Ep& ep = From(self);
    return Guard(ep.factory().api(), "OnnxLightExecutionProvider: GetCapability", [&] { ep.Propose(graph, support); });
  };
  OrtEp::GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** registry) -> OrtStatus* {
    *registry = From(self).factory().kernels();
    return nullptr;
  };
  OrtEp::IsConcurrentRunSupported = [](OrtEp*, bool* is_supported) -> OrtStatus* {
    *is_supported = true;
    return nullptr;
  };
}

bool Ep::Wants(const OrtNode* node, OrtEpGraphSupportInfo* support) const {
  const OrtApi& api = factory_->api();
  const char *owner = nullptr, *op_type = nullptr;
  ThrowIfError(api, api.Node_GetEpName(node, &owner));
  if (*owner != '\0' && std::string_view(owner) != kEpName) return false;
  ThrowIfError(api, api.Node_GetOperatorType(node, &op_type));
  if (!options_.operators.empty() && !options_.operators.contains(op_type)) return false;
  const OrtKernelDef* definition = nullptr;
  ThrowIfError(api, factory_->ep_api().EpGraphSupportInfo_LookUpKernel(support, node, &definition));
  if (definition == nullptr) return false;
  // The registry knows types one by one; which of them go together, and which attributes, only the kernel knows.
  const std::string why = WhyUnsupported(DescribeGraphNode(api, node));
  if (!why.empty()) Log(std::string(kEpName) + " leaves " + why);
  return why.empty();
}

void Ep::Log(const std::string& words) const {
  if (logger_ == nullptr) return;
  ThrowIfError(factory_->api(), factory_->api().Logger_LogMessage(logger_, ORT_LOGGING_LEVEL_INFO, words.c_str(),
                                                                  __FILE__, __LINE__, __func__));
}

void Ep::Propose(const OrtGraph* graph, OrtEpGraphSupportInfo* support) const {
  const OrtApi& api = factory_->api();
  std::size_t count = 0;
  ThrowIfError(api, api.Graph_GetNumNodes(graph, &count));
  std::vector<const OrtNode*> nodes(count);
  if (count > 0) ThrowIfError(api, api.Graph_GetNodes(graph, nodes.data(), count));
  for (const OrtNode* node : nodes) {
    if (!Wants(node, support)) continue;
    ThrowIfError(api, factory_->ep_api().EpGraphSupportInfo_AddSingleNode(support, node));
  }
}

std::unique_ptr<Ep> MakeEp(EpFactory& factory, const OrtSessionOptions* options, const OrtLogger* logger) {
  return std::make_unique<Ep>(factory, ReadEpOptions(factory.api(), options), logger);
}

void DeleteEp(OrtEp* ep) noexcept { delete static_cast<Ep*>(ep); }

OrtStatus* CreateEpKernel(void* state, const OrtKernelInfo* info, OrtKernelImpl** kernel) {
  EpFactory& factory = *static_cast<EpFactory*>(state);
  const OrtApi& api = factory.api();
  return Guard(api, kEpName, [&] {
    const OrtEp* ep = nullptr;
    ThrowIfError(api, factory.ep_api().KernelInfo_GetEp(info, &ep));
    int since_version = 0;
    ThrowIfError(api, api.KernelInfo_GetOperatorSinceVersion(info, &since_version));
    const std::string op_type = OperatorTypeOf(api, info);
    const light::OperatorSchema* schema = FindSchema(OperatorDomainOf(api, info), op_type, since_version);
    if (schema == nullptr) {
      throw ort_abi::StatusError(ORT_NOT_IMPLEMENTED, "node '" + NodeNameOf(api, info) + "' (" + op_type +
                                                          "): the operator is not known at version " +
                                                          std::to_string(since_version));
    }
    const int threads = static_cast<const Ep*>(ep)->options().threads;
    *kernel = new EpKernel(api, DescribeKernelNode(api, info, *schema, Origin::kOnnxNode), threads);
  });
}

}  // namespace ort_plugin
