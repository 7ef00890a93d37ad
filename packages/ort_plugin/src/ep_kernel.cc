// SPDX-License-Identifier: Apache-2.0
#include "ep_kernel.h"

#include <ort_abi/handle.h>

#include "api.h"
#include "ep.h"
#include "kernel_node.h"
#include "node_kernel.h"
#include "status.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

/// A NodeKernel as the host calls it.
class EpKernel : public OrtKernelImpl {
 public:
  EpKernel(const OrtApi& api, NodeDescription node, const EpOptions& options)
      : OrtKernelImpl{}, kernel_(api, std::move(node), options.threads, {.winograd = options.winograd}) {
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
    const EpOptions& options = static_cast<const Ep*>(ep)->options();
    *kernel = new EpKernel(api, DescribeKernelNode(api, info, *schema, Origin::kOnnxNode), options);
  });
}

}  // namespace ort_plugin
