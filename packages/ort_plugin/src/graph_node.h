// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ort_abi/ort_c_api.h>

#include "node_description.h"

namespace ort_plugin {

/// Describes a node of a graph that an execution provider is shown. Its constants are views of the graph's, which live
/// as long as the graph. Throws light::Error, ort_abi::StatusError.
NodeDescription DescribeGraphNode(const OrtApi& api, const OrtNode* node);

/// The tensor of an initializer that nobody can feed instead, of a graph further out too, as long as the graph lives;
/// nothing for other values and for one that cannot be read here.
std::optional<light::Tensor> ReadConstant(const OrtApi& api, const OrtValueInfo* value);
/// What the graph knows of a value; an unknown type for anything but a tensor.
light::ValueType ReadType(const OrtApi& api, const OrtValueInfo* value);

/// The attribute as a graph has it; nothing for a kind that no kernel here has.
std::optional<light::Attribute> ReadGraphAttribute(const OrtApi& api, const OrtOpAttr* attribute);
std::vector<light::Attribute> ReadGraphAttributes(const OrtApi& api, const OrtNode* node);

}  // namespace ort_plugin
