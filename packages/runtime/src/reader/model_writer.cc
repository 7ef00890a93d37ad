// SPDX-License-Identifier: Apache-2.0
// Field numbers are those of onnx.proto, as in the reader.
#include "light/model_writer.h"

#include "reader/wire_writer.h"

namespace light {
namespace {

void WriteGraph(WireWriter& out, const GraphDef& graph);

void WriteTexts(WireWriter& out, uint32_t field, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) out.Bytes(field, text);
}

void WriteTensor(WireWriter& out, const std::string& name, const Tensor& tensor) {
  for (const int64_t extent : tensor.dims().span()) out.Varint(1, extent);
  out.Varint(2, conversions::ToOnnx(tensor.type()));
  if (tensor.type() == ElementType::kString) {
    for (const std::string& text : tensor.Span<std::string>()) out.Bytes(6, text);
  } else {
    out.Bytes(9, {static_cast<const char*>(tensor.data()), tensor.byte_size()});
  }
  out.Text(8, name);
}

void WriteShape(WireWriter& out, const Shape& shape) {
  for (const Dim& dim : shape.dims()) {
    out.Message(1, [&](WireWriter& message) {
      if (dim.is_known()) message.Varint(1, dim.extent());
      if (dim.is_symbolic()) message.Bytes(2, dim.symbol());
    });
  }
}

void WriteType(WireWriter& out, const ValueType& type) {
  using Kind = ValueType::Kind;
  const auto tensor = [&](WireWriter& message) {
    message.Varint(1, conversions::ToOnnx(type.element));
    if (type.shape.has_rank()) message.Message(2, [&](WireWriter& shape) { WriteShape(shape, type.shape); });
  };
  const auto inner = [&](WireWriter& message, uint32_t field) {
    if (type.inner != nullptr) message.Message(field, [&](WireWriter& element) { WriteType(element, *type.inner); });
  };
  switch (type.kind) {
    case Kind::kUnknown:
      return;
    case Kind::kTensor:
      return out.Message(1, tensor);
    case Kind::kSequence:
      return out.Message(4, [&](WireWriter& message) { inner(message, 1); });
    case Kind::kMap:
      return out.Message(5, [&](WireWriter& message) {
        message.Varint(1, conversions::ToOnnx(type.element));
        inner(message, 2);
      });
    case Kind::kOpaque:
      return out.Message(7, [](WireWriter&) {});
    case Kind::kSparseTensor:
      return out.Message(8, tensor);
    case Kind::kOptional:
      return out.Message(9, [&](WireWriter& message) { inner(message, 1); });
  }
}

/// One overload for each kind of Attribute::Data.
struct AttributeValue {
  WireWriter& out;

  void operator()(std::monostate) const {}
  void operator()(float value) const { out.Float(2, value); }
  void operator()(int64_t value) const { out.Varint(3, value); }
  void operator()(const std::string& value) const { out.Bytes(4, value); }
  void operator()(const Tensor& value) const {
    out.Message(5, [&](WireWriter& message) { WriteTensor(message, "", value); });
  }
  void operator()(const std::shared_ptr<const GraphDef>& value) const {
    out.Message(6, [&](WireWriter& message) { WriteGraph(message, *value); });
  }
  void operator()(const std::vector<float>& values) const {
    for (const float value : values) out.Float(7, value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    for (const int64_t value : values) out.Varint(8, value);
  }
  void operator()(const std::vector<std::string>& values) const { WriteTexts(out, 9, values); }
  void operator()(const std::vector<Tensor>& values) const {
    for (const Tensor& value : values) out.Message(10, [&](WireWriter& message) { WriteTensor(message, "", value); });
  }
  void operator()(const std::vector<std::shared_ptr<const GraphDef>>& values) const {
    for (const auto& value : values) out.Message(11, [&](WireWriter& message) { WriteGraph(message, *value); });
  }
  void operator()(const ValueType& value) const {
    out.Message(14, [&](WireWriter& message) { WriteType(message, value); });
  }
};

void WriteAttribute(WireWriter& out, const Attribute& attribute) {
  out.Bytes(1, attribute.name);
  std::visit(AttributeValue{out}, attribute.data);
  if (attribute.kind != AttributeKind::kUndefined) out.Varint(20, static_cast<int32_t>(attribute.kind));
  out.Text(21, attribute.ref_attr_name);
}

void WriteNode(WireWriter& out, const NodeDef& node) {
  WriteTexts(out, 1, node.inputs);
  WriteTexts(out, 2, node.outputs);
  out.Text(3, node.name);
  out.Bytes(4, node.op_type);
  for (const Attribute& attribute : node.attributes)
    out.Message(5, [&](WireWriter& message) { WriteAttribute(message, attribute); });
  out.Text(7, node.domain);
  out.Text(8, node.overload);
}

void WriteNodes(WireWriter& out, uint32_t field, const std::vector<NodeDef>& nodes) {
  for (const NodeDef& node : nodes) out.Message(field, [&](WireWriter& message) { WriteNode(message, node); });
}

void WriteValueInfos(WireWriter& out, uint32_t field, const std::vector<ValueInfoDef>& infos) {
  for (const ValueInfoDef& info : infos) {
    out.Message(field, [&](WireWriter& message) {
      message.Bytes(1, info.name);
      message.Message(2, [&](WireWriter& type) { WriteType(type, info.type); });
    });
  }
}

void WriteGraph(WireWriter& out, const GraphDef& graph) {
  WriteNodes(out, 1, graph.nodes);
  out.Text(2, graph.name);
  for (const InitializerDef& initializer : graph.initializers)
    out.Message(5, [&](WireWriter& message) { WriteTensor(message, initializer.name, initializer.tensor); });
  out.Text(10, graph.doc_string);
  WriteValueInfos(out, 11, graph.inputs);
  WriteValueInfos(out, 12, graph.outputs);
  WriteValueInfos(out, 13, graph.value_info);
}

void WriteOpsetImports(WireWriter& out, uint32_t field, const OpsetImports& imports) {
  for (const auto& [domain, version] : imports) {
    out.Message(field, [&](WireWriter& message) {
      message.Bytes(1, domain);
      message.Varint(2, version);
    });
  }
}

void WriteFunction(WireWriter& out, const FunctionDef& function) {
  out.Bytes(1, function.name);
  WriteTexts(out, 4, function.inputs);
  WriteTexts(out, 5, function.outputs);
  WriteTexts(out, 6, function.attributes);
  WriteNodes(out, 7, function.nodes);
  WriteOpsetImports(out, 9, function.opset_imports);
  out.Text(10, function.domain);
  for (const Attribute& attribute : function.attribute_defaults)
    out.Message(11, [&](WireWriter& message) { WriteAttribute(message, attribute); });
  out.Text(13, function.overload);
}

}  // namespace

std::string WriteModel(const ModelDef& model) {
  WireWriter out;
  out.Varint(1, model.ir_version);
  out.Text(2, model.producer_name);
  out.Text(3, model.producer_version);
  out.Text(4, model.domain);
  if (model.model_version != 0) out.Varint(5, model.model_version);
  out.Text(6, model.doc_string);
  out.Message(7, [&](WireWriter& message) { WriteGraph(message, model.graph); });
  WriteOpsetImports(out, 8, model.opset_imports);
  for (const auto& [key, value] : model.metadata) {
    out.Message(14, [&](WireWriter& message) {
      message.Bytes(1, key);
      message.Bytes(2, value);
    });
  }
  for (const FunctionDef& function : model.functions)
    out.Message(25, [&](WireWriter& message) { WriteFunction(message, function); });
  return out.Take();
}

}  // namespace light
