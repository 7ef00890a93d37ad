// SPDX-License-Identifier: Apache-2.0
#include "kernel_node.h"

#include <ort_abi/handle.h>

#include "kernel_attributes.h"
#include "light/error.h"
#include "ort_values.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

template <class Read>
std::string ReadText(const OrtApi& api, Read&& read) {
  std::size_t size = 0;
  ThrowIfError(api, read(nullptr, &size));
  std::string text(size, '\0');
  ThrowIfError(api, read(text.data(), &size));
  text.resize(size > 0 ? size - 1 : 0);  // without the terminator
  return text;
}

/// Type and presence of an argument; an argument that the node leaves out has no name.
template <class NameFn, class TypeFn>
ArgumentDescription DescribeArgument(const OrtApi& api, const OrtKernelInfo* info, std::size_t i, NameFn name,
                                     TypeFn type) {
  ArgumentDescription argument;
  const std::string text = ReadText(api, [&](char* out, std::size_t* size) { return (api.*name)(info, i, out, size); });
  argument.is_present = !text.empty();
  if (!argument.is_present) return argument;
  const auto type_info =
      ort_abi::Receive<OrtTypeInfo>(api, api, [&](OrtTypeInfo** out) { return (api.*type)(info, i, out); });
  argument.type = TypeOf(api, type_info.get());
  return argument;
}

std::optional<light::Tensor> ConstantInput(const OrtApi& api, const OrtKernelInfo* info, std::size_t i) {
  int is_constant = 0;
  const OrtValue* value = nullptr;
  ThrowIfError(api, api.KernelInfoGetConstantInput_tensor(info, i, &is_constant, &value));
  return is_constant != 0 ? ReadTensor(api, value) : std::nullopt;
}

void ReadAttributes(const OrtApi& api, const OrtKernelInfo* info, const light::OperatorSchema& schema, Origin origin,
                    NodeDescription& node) {
  for (const light::AttributeSchema& attribute : schema.attributes) {
    // What follows are kinds that no tensor operator needs; a node that has one of them is refused by its kernel.
    if (attribute.kind == light::AttributeKind::kUndefined || attribute.kind > light::AttributeKind::kStrings ||
        attribute.kind == light::AttributeKind::kGraph) {
      continue;
    }
    std::optional<light::Attribute> found = ReadAttribute(api, info, attribute.name, attribute.kind);
    const auto* list = found.has_value() ? std::get_if<std::vector<int64_t>>(&found->data) : nullptr;
    const bool may_be_another = !found.has_value() || (list != nullptr && list->empty());
    if (origin == Origin::kCustomOpNode && may_be_another) {
      const light::AttributeKind other = FindOtherKind(api, info, attribute.name, attribute.kind);
      if (other != light::AttributeKind::kUndefined) {
        throw light::Error(light::ErrorCode::kInvalidGraph, node.Label() + ": attribute '" + attribute.name +
                                                                "' must be of kind " + light::ToString(attribute.kind) +
                                                                ", got " + light::ToString(other));
      }
    }
    if (found.has_value()) node.attributes.push_back(std::move(*found));
  }
}

}  // namespace

std::string OperatorTypeOf(const OrtApi& api, const OrtKernelInfo* info) {
  return ReadText(api, [&](char* out, std::size_t* size) { return api.KernelInfo_GetOperatorType(info, out, size); });
}

std::string OperatorDomainOf(const OrtApi& api, const OrtKernelInfo* info) {
  return ReadText(api, [&](char* out, std::size_t* size) { return api.KernelInfo_GetOperatorDomain(info, out, size); });
}

std::string NodeNameOf(const OrtApi& api, const OrtKernelInfo* info) {
  return ReadText(api, [&](char* out, std::size_t* size) { return api.KernelInfo_GetNodeName(info, out, size); });
}

NodeDescription DescribeKernelNode(const OrtApi& api, const OrtKernelInfo* info, const light::OperatorSchema& schema,
                                   Origin origin) {
  NodeDescription node;
  node.name = NodeNameOf(api, info);
  node.domain = schema.domain;
  node.op_type = schema.name;
  node.since_version = schema.since_version;
  std::size_t inputs = 0, outputs = 0;
  ThrowIfError(api, api.KernelInfo_GetInputCount(info, &inputs));
  ThrowIfError(api, api.KernelInfo_GetOutputCount(info, &outputs));
  for (std::size_t i = 0; i < inputs; ++i) {
    node.inputs.push_back(
        DescribeArgument(api, info, i, &OrtApi::KernelInfo_GetInputName, &OrtApi::KernelInfo_GetInputTypeInfo));
    if (node.inputs[i].is_present) node.inputs[i].constant = ConstantInput(api, info, i);
  }
  for (std::size_t i = 0; i < outputs; ++i) {
    node.outputs.push_back(
        DescribeArgument(api, info, i, &OrtApi::KernelInfo_GetOutputName, &OrtApi::KernelInfo_GetOutputTypeInfo));
  }
  ReadAttributes(api, info, schema, origin, node);
  return node;
}

}  // namespace ort_plugin
