// SPDX-License-Identifier: Apache-2.0
#include "graph_node.h"

#include <ort_abi/handle.h>

#include "graph_lists.h"
#include "ort_values.h"

namespace ort_plugin {
namespace {

using light::Attribute;
using light::AttributeKind;
using ort_abi::ThrowIfError;

/// The bytes of an attribute. ORT tells their number with a status that says there is no room.
template <class T>
std::vector<T> ReadElements(const OrtApi& api, const OrtOpAttr* attribute, OrtOpAttrType type) {
  std::size_t bytes = 0;
  if (OrtStatus* status = api.ReadOpAttr(attribute, type, nullptr, 0, &bytes)) api.ReleaseStatus(status);
  std::vector<T> elements(bytes / sizeof(T));
  if (bytes > 0) ThrowIfError(api, api.ReadOpAttr(attribute, type, elements.data(), bytes, &bytes));
  return elements;
}

template <class T>
T ReadElement(const OrtApi& api, const OrtOpAttr* attribute, OrtOpAttrType type) {
  T element{};
  std::size_t bytes = 0;
  ThrowIfError(api, api.ReadOpAttr(attribute, type, &element, sizeof(element), &bytes));
  return element;
}

std::vector<std::string> SplitTexts(const std::vector<char>& bytes) {
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin < bytes.size(); begin += texts.back().size() + 1) {
    texts.emplace_back(bytes.data() + begin);  // each ends with a 0
  }
  return texts;
}

ArgumentDescription DescribeArgument(const OrtApi& api, const OrtValueInfo* value) {
  ArgumentDescription argument;
  if (value == nullptr) return argument;
  argument.is_present = true;
  argument.type = ReadType(api, value);
  return argument;
}

}  // namespace

std::optional<light::Tensor> ReadConstant(const OrtApi& api, const OrtValueInfo* value) {
  bool is_constant = false;
  ThrowIfError(api, api.ValueInfo_IsConstantInitializer(value, &is_constant));
  if (!is_constant) return std::nullopt;
  const OrtValue* tensor = nullptr;
  if (OrtStatus* status = api.ValueInfo_GetInitializerValue(value, &tensor)) {
    api.ReleaseStatus(status);  // not readable from here: then its type is all that is known of it
    return std::nullopt;
  }
  return ReadTensor(api, tensor);
}

light::ValueType ReadType(const OrtApi& api, const OrtValueInfo* value) {
  const OrtTypeInfo* type = nullptr;
  if (OrtStatus* status = api.GetValueInfoTypeInfo(value, &type)) {
    api.ReleaseStatus(status);  // FAIL says: not known
    return {};
  }
  return TypeOf(api, type);
}

std::optional<Attribute> ReadGraphAttribute(const OrtApi& api, const OrtOpAttr* attribute) {
  const char* name = nullptr;
  ThrowIfError(api, api.OpAttr_GetName(attribute, &name));
  OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
  ThrowIfError(api, api.OpAttr_GetType(attribute, &type));
  switch (type) {
    case ORT_OP_ATTR_INT:
      return Attribute{name, AttributeKind::kInt, ReadElement<int64_t>(api, attribute, type), {}};
    case ORT_OP_ATTR_INTS:
      return Attribute{name, AttributeKind::kInts, ReadElements<int64_t>(api, attribute, type), {}};
    case ORT_OP_ATTR_FLOAT:
      return Attribute{name, AttributeKind::kFloat, ReadElement<float>(api, attribute, type), {}};
    case ORT_OP_ATTR_FLOATS:
      return Attribute{name, AttributeKind::kFloats, ReadElements<float>(api, attribute, type), {}};
    case ORT_OP_ATTR_STRING: {
      const std::vector<char> text = ReadElements<char>(api, attribute, type);
      return Attribute{name, AttributeKind::kString, std::string(text.begin(), text.end()), {}};
    }
    case ORT_OP_ATTR_STRINGS:
      return Attribute{name, AttributeKind::kStrings, SplitTexts(ReadElements<char>(api, attribute, type)), {}};
    case ORT_OP_ATTR_TENSOR: {
      auto value = ort_abi::Receive<OrtValue>(
          api, api, [&](OrtValue** out) { return api.OpAttr_GetTensorAttributeAsOrtValue(attribute, out); });
      std::optional<light::Tensor> tensor = TakeTensor(api, std::move(value));
      if (!tensor.has_value()) return std::nullopt;
      return Attribute{name, AttributeKind::kTensor, std::move(*tensor), {}};
    }
    default:
      return std::nullopt;
  }
}

NodeDescription DescribeGraphNode(const OrtApi& api, const OrtNode* node) {
  NodeDescription description;
  description.name = NameOf(api, node);
  description.domain = DomainOf(api, node);
  description.op_type = OperatorTypeOf(api, node);
  ThrowIfError(api, api.Node_GetSinceVersion(node, &description.since_version));
  for (const OrtValueInfo* value : InputsOf(api, node)) {
    description.inputs.push_back(DescribeArgument(api, value));
    if (value != nullptr) description.inputs.back().constant = ReadConstant(api, value);
  }
  for (const OrtValueInfo* value : OutputsOf(api, node)) {
    description.outputs.push_back(DescribeArgument(api, value));
  }
  description.attributes = ReadGraphAttributes(api, node);
  return description;
}

std::vector<Attribute> ReadGraphAttributes(const OrtApi& api, const OrtNode* node) {
  std::vector<Attribute> attributes;
  for (const OrtOpAttr* attribute : AttributesOf(api, node)) {
    if (std::optional<Attribute> read = ReadGraphAttribute(api, attribute)) attributes.push_back(std::move(*read));
  }
  return attributes;
}

}  // namespace ort_plugin
