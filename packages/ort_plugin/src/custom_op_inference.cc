// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <climits>
#include <string>
#include <vector>

#include "custom_op.h"
#include "graph_node.h"
#include "light/error.h"
#include "ort_values.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

const OrtOpAttr* FindAttribute(const OrtApi& api, OrtShapeInferContext* context, const char* name) {
  const OrtOpAttr* attribute = nullptr;
  OrtStatus* status = api.ShapeInferContext_GetAttribute(context, name, &attribute);
  if (status == nullptr) return attribute;
  api.ReleaseStatus(status);  // it says: not there
  return nullptr;
}

int64_t OpsetOf(const OrtApi& api, OrtShapeInferContext* context) {
  const OrtOpAttr* written = FindAttribute(api, context, kOpsetAttribute);
  if (written == nullptr) return INT_MAX;
  int64_t opset = 0;
  std::size_t bytes = 0;
  ThrowIfError(api, api.ReadOpAttr(written, ORT_OP_ATTR_INT, &opset, sizeof(opset), &bytes));
  return opset;
}

ArgumentDescription DescribeInput(const OrtApi& api, OrtShapeInferContext* context, std::size_t i) {
  OrtTensorTypeAndShapeInfo* info = nullptr;  // borrowed
  ThrowIfError(api, api.ShapeInferContext_GetInputTypeShape(context, i, &info));
  ArgumentDescription argument;
  argument.type = TypeOf(api, info);
  argument.is_present = argument.type.is_tensor();
  // ORT shows a value of unknown rank as a scalar. What is said of its shape must hold for both.
  if (argument.type.shape.is_scalar()) argument.type.shape = light::Shape();
  return argument;
}

/// A name that no other extent has. ORT takes an extent without one for the number -1, which it then computes with, and
/// takes two of them for equal.
std::string FreshName() {
  static std::atomic<uint64_t> last{0};
  return "onnx_light_extent_" + std::to_string(last.fetch_add(1, std::memory_order_relaxed) + 1);
}

void SetOutput(const OrtApi& api, OrtShapeInferContext* context, std::size_t i, const light::ValueType& type) {
  const auto info = ort_abi::Receive<OrtTensorTypeAndShapeInfo>(
      api, api, [&](OrtTensorTypeAndShapeInfo** out) { return api.CreateTensorTypeAndShapeInfo(out); });
  const auto element = static_cast<ONNXTensorElementDataType>(conversions::ToOrt(type.element));
  ThrowIfError(api, api.SetTensorElementType(info.get(), element));
  std::vector<int64_t> extents;
  std::vector<std::string> names;
  for (const light::Dim& dim : type.shape.dims()) {
    extents.push_back(dim.extent());
    names.push_back(dim.is_known() ? "" : dim.is_symbolic() ? dim.symbol() : FreshName());
  }
  std::vector<const char*> symbols;
  for (const std::string& name : names) symbols.push_back(name.c_str());
  ThrowIfError(api, api.SetDimensions(info.get(), extents.data(), extents.size()));
  ThrowIfError(api, api.SetSymbolicDimensions(info.get(), symbols.data(), symbols.size()));
  ThrowIfError(api, api.ShapeInferContext_SetOutputTypeShape(context, i, info.get()));
}

/// The host does not tell how many outputs the node has: all of the schema are described.
NodeDescription Describe(const CustomOp& op, OrtShapeInferContext* context) {
  const OrtApi& api = op.api();
  const light::OperatorSchema& schema = op.SchemaOf(OpsetOf(api, context));
  NodeDescription node;
  node.domain = schema.domain;
  node.op_type = schema.name;
  node.since_version = schema.since_version;
  std::size_t inputs = 0;
  ThrowIfError(api, api.ShapeInferContext_GetInputCount(context, &inputs));
  for (std::size_t i = 0; i < inputs; ++i) node.inputs.push_back(DescribeInput(api, context, i));
  for (const light::AttributeSchema& attribute : schema.attributes) {
    const OrtOpAttr* written = FindAttribute(api, context, attribute.name.c_str());
    if (written == nullptr) continue;
    if (auto read = ReadGraphAttribute(api, written)) node.attributes.push_back(std::move(*read));
  }
  node.outputs.resize(schema.outputs.size());
  for (ArgumentDescription& output : node.outputs) output.is_present = true;
  return node;
}

/// The outputs of a node whose last one is variadic, which is Split: how many there are decides on their extents, and
/// the host does not tell. They have the type and the rank of the input.
[[noreturn]] void InferVariadic(const CustomOp& op, OrtShapeInferContext* context, const light::ValueType& input) {
  const light::ValueType type = light::ValueType::Tensor(input.element, light::Shape::OfRank(input.shape.rank()));
  for (std::size_t i = 0;; ++i) SetOutput(op.api(), context, i, type);  // ends with the status for one too many
}

void Infer(const CustomOp& op, OrtShapeInferContext* context) {
  NodeDescription node = Describe(op, context);
  const light::OperatorSchema* schema = FindSchema(node.domain, node.op_type, node.since_version);
  if (!schema->outputs.empty() && schema->outputs.back().option == light::FormalParameter::Option::kVariadic) {
    if (node.op_type != "Split" || !node.inputs[0].type.shape.has_rank()) return;
    InferVariadic(op, context, node.inputs[0].type);
  }
  const std::shared_ptr<const light::Graph> graph = MakeGraph(std::move(node));
  const std::vector<light::ValueId>& outputs = graph->node(0).outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const light::ValueType& type = graph->value(outputs[i]).type;
    // A shape of unknown rank cannot be said: ORT would take it for a scalar.
    if (type.is_tensor() && type.shape.has_rank()) SetOutput(op.api(), context, i, type);
  }
}

}  // namespace

void InferOutputs(const CustomOp& op, OrtShapeInferContext* context) {
  try {
    Infer(op, context);
  } catch (const light::Error&) {
  } catch (const ort_abi::StatusError&) {
    // ORT drops the status of this callback and would leak it; and there is no output behind the last of the node.
  }
}

}  // namespace ort_plugin
