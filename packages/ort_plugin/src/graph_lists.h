// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include <ort_abi/ort_c_api.h>

namespace ort_plugin {

// What a graph of the host lists. Everything is the graph's and lives as long as it. All throw ort_abi::StatusError.

std::vector<const OrtNode*> NodesOf(const OrtApi& api, const OrtGraph* graph);
/// Null where the node leaves an argument out.
std::vector<const OrtValueInfo*> InputsOf(const OrtApi& api, const OrtNode* node);
std::vector<const OrtValueInfo*> OutputsOf(const OrtApi& api, const OrtNode* node);
/// What the subgraphs of the node use of the graph around them.
std::vector<const OrtValueInfo*> CapturesOf(const OrtApi& api, const OrtNode* node);
std::vector<const OrtOpAttr*> AttributesOf(const OrtApi& api, const OrtNode* node);

std::string_view NameOf(const OrtApi& api, const OrtValueInfo* value);
std::string_view NameOf(const OrtApi& api, const OrtNode* node);
std::string_view OperatorTypeOf(const OrtApi& api, const OrtNode* node);
std::string_view DomainOf(const OrtApi& api, const OrtNode* node);

}  // namespace ort_plugin
