// SPDX-License-Identifier: Apache-2.0
#include "graph_node.h"

#include <ort_abi/handle.h>

#include "light/error.h"
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

std::optional<light::Tensor> Constant(const OrtApi& api, const OrtValueInfo* value) {
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

ArgumentDescription DescribeArgument(const OrtApi& api, const OrtValueInfo* value) {
  ArgumentDescription argument;
  if (value == nullptr) return argument;
  argument.is_present = true;
  const OrtTypeInfo* type = nullptr;
  if (OrtStatus* status = api.GetValueInfoTypeInfo(value, &type)) {
    api.ReleaseStatus(status);  // FAIL says: not known
  } else {
    argument.type = TypeOf(api, type);
  }
  return argument;
}

template <class CountFn, class GetFn>
std::vector<const OrtValueInfo*> Arguments(const OrtApi& api, const OrtNode* node, CountFn count, GetFn get) {
  std::size_t size = 0;
  ThrowIfError(api, (api.*count)(node, &size));
  std::vector<const OrtValueInfo*> arguments(size);
  if (size > 0) ThrowIfError(api, (api.*get)(node, arguments.data(), size));
  return arguments;
}

template <class Get>
std::string Text(const OrtApi& api, const OrtNode* node, Get get) {
  const char* text = nullptr;
  ThrowIfError(api, (api.*get)(node, &text));
  return text != nullptr ? text : "";
}

}  // namespace

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
  description.name = Text(api, node, &OrtApi::Node_GetName);
  description.domain = Text(api, node, &OrtApi::Node_GetDomain);
  description.op_type = Text(api, node, &OrtApi::Node_GetOperatorType);
  ThrowIfError(api, api.Node_GetSinceVersion(node, &description.since_version));
  for (const OrtValueInfo* value : Arguments(api, node, &OrtApi::Node_GetNumInputs, &OrtApi::Node_GetInputs)) {
    description.inputs.push_back(DescribeArgument(api, value));
    if (value != nullptr) description.inputs.back().constant = Constant(api, value);
  }
  for (const OrtValueInfo* value : Arguments(api, node, &OrtApi::Node_GetNumOutputs, &OrtApi::Node_GetOutputs)) {
    description.outputs.push_back(DescribeArgument(api, value));
  }
  std::size_t count = 0;
  ThrowIfError(api, api.Node_GetNumAttributes(node, &count));
  std::vector<const OrtOpAttr*> attributes(count);
  if (count > 0) ThrowIfError(api, api.Node_GetAttributes(node, attributes.data(), count));
  for (const OrtOpAttr* attribute : attributes) {
    if (std::optional<Attribute> read = ReadGraphAttribute(api, attribute))
      description.attributes.push_back(std::move(*read));
  }
  return description;
}

}  // namespace ort_plugin
