// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ort_abi/handle.h>

#include "light/kernel_registry.h"

namespace ort_plugin {

/// A standard operator at one version that kernels of ours implement for tensors.
struct SupportedOperator {
  const light::OperatorSchema* schema;
  /// By index of the schema's type parameters: the tensor types that some kernel takes. Which of them go together, and
  /// whether a node's attributes are supported, is told only by the node.
  std::vector<light::TypeSet> types;
  std::vector<std::pair<int, int>> aliases;  ///< (input, output): the output may share the input's buffer
  bool may_decline = false;                  ///< a kernel refuses some nodes for more than their types
};

/// All of them, by domain, name and version. Operators with subgraphs are left out: a host makes their kernels itself.
/// Made at the first call, never destroyed.
const std::vector<SupportedOperator>& SupportedOperators();
/// The one whose schema has exactly that version, or nullptr.
const SupportedOperator* FindSupported(std::string_view domain, std::string_view op_type, int since_version);

/// The registry of the provider's kernels. `create` makes one for a node.
ort_abi::OwnedHandle<OrtKernelRegistry> MakeKernelRegistry(const OrtApi& api, const OrtEpApi& ep_api,
                                                           OrtKernelCreateFunc create, void* state);

}  // namespace ort_plugin
