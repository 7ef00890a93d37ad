// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ort_abi/ort_c_api.h>

#include "node_description.h"

namespace ort_plugin {

/// Describes a node of a graph that an execution provider is shown. Its constants are views of the graph's, which live
/// as long as the graph. Throws light::Error, ort_abi::StatusError.
NodeDescription DescribeGraphNode(const OrtApi& api, const OrtNode* node);

/// The attribute as a graph has it; nothing for a kind that no kernel here has.
std::optional<light::Attribute> ReadGraphAttribute(const OrtApi& api, const OrtOpAttr* attribute);

}  // namespace ort_plugin
