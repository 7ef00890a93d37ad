// SPDX-License-Identifier: Apache-2.0
#include "graph_lists.h"

#include <ort_abi/handle.h>

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

template <class Element, class Owner>
std::vector<Element> List(const OrtApi& api, const Owner* owner,
                          OrtStatus* (*OrtApi::*count)(const Owner*, std::size_t*) noexcept,
                          OrtStatus* (*OrtApi::*get)(const Owner*, Element*, std::size_t) noexcept) {
  std::size_t size = 0;
  ThrowIfError(api, (api.*count)(owner, &size));
  std::vector<Element> list(size);
  if (size > 0) ThrowIfError(api, (api.*get)(owner, list.data(), size));
  return list;
}

template <class Owner>
std::string_view Text(const OrtApi& api, const Owner* owner,
                      OrtStatus* (*OrtApi::*get)(const Owner*, const char**) noexcept) {
  const char* text = nullptr;
  ThrowIfError(api, (api.*get)(owner, &text));
  return text != nullptr ? text : "";
}

}  // namespace

std::vector<const OrtNode*> NodesOf(const OrtApi& api, const OrtGraph* graph) {
  return List(api, graph, &OrtApi::Graph_GetNumNodes, &OrtApi::Graph_GetNodes);
}
std::vector<const OrtValueInfo*> InputsOf(const OrtApi& api, const OrtNode* node) {
  return List(api, node, &OrtApi::Node_GetNumInputs, &OrtApi::Node_GetInputs);
}
std::vector<const OrtValueInfo*> OutputsOf(const OrtApi& api, const OrtNode* node) {
  return List(api, node, &OrtApi::Node_GetNumOutputs, &OrtApi::Node_GetOutputs);
}
std::vector<const OrtValueInfo*> CapturesOf(const OrtApi& api, const OrtNode* node) {
  return List(api, node, &OrtApi::Node_GetNumImplicitInputs, &OrtApi::Node_GetImplicitInputs);
}
std::vector<const OrtOpAttr*> AttributesOf(const OrtApi& api, const OrtNode* node) {
  return List(api, node, &OrtApi::Node_GetNumAttributes, &OrtApi::Node_GetAttributes);
}

std::string_view NameOf(const OrtApi& api, const OrtValueInfo* value) {
  return Text(api, value, &OrtApi::GetValueInfoName);
}
std::string_view NameOf(const OrtApi& api, const OrtNode* node) { return Text(api, node, &OrtApi::Node_GetName); }
std::string_view OperatorTypeOf(const OrtApi& api, const OrtNode* node) {
  return Text(api, node, &OrtApi::Node_GetOperatorType);
}
std::string_view DomainOf(const OrtApi& api, const OrtNode* node) { return Text(api, node, &OrtApi::Node_GetDomain); }

}  // namespace ort_plugin
