// SPDX-License-Identifier: Apache-2.0
#include "reader/graph_reader.h"

#include "light/error.h"
#include "reader/tensor_reader.h"
#include "reader/type_reader.h"

namespace light {
namespace {

[[noreturn]] void FailUnsupported(const WireCursor& cursor, const std::string& what) {
  throw Error(ErrorCode::kNotImplemented, cursor.Path() + ": " + what + " are not supported");
}

/// A sparse initializer is called as its values are.
[[noreturn]] void FailSparse(WireCursor sparse) {
  const WireCursor place = sparse;
  std::string name;
  while (sparse.Next()) {
    if (sparse.field() != 1) continue;
    WireCursor values = sparse.Message("values");
    while (values.Next()) {
      if (values.field() == 8) name = values.String("name");
    }
  }
  FailUnsupported(place, "'" + name + "': sparse initializers");
}

template <class T>
int64_t NextIndex(const std::vector<T>& list) {
  return static_cast<int64_t>(list.size());
}

void ReadFloats(WireCursor& cursor, std::vector<float>& floats) {
  if (cursor.wire_type() != WireCursor::WireType::kBytes) {
    floats.push_back(cursor.Float("floats"));
    return;
  }
  const std::string_view bytes = cursor.Bytes("floats");
  if (bytes.size() % sizeof(float) != 0) {
    cursor.Fail("floats", "a packed list of 4-byte values, got " + std::to_string(bytes.size()) + " bytes");
  }
  const std::size_t old_size = floats.size();
  floats.resize(old_size + bytes.size() / sizeof(float));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(floats.data() + old_size));
}

void ReadInts(WireCursor& cursor, std::vector<int64_t>& ints) {
  if (cursor.wire_type() != WireCursor::WireType::kBytes) {
    ints.push_back(cursor.Int64("ints"));
    return;
  }
  WireCursor packed = cursor.Packed("ints");
  while (packed.remaining() > 0) ints.push_back(static_cast<int64_t>(packed.PackedVarint()));
}

/// The fields of an AttributeProto: which of them counts is known only at the end.
struct AttributeFields {
  float f = 0;
  int64_t i = 0;
  std::string s;
  Attribute::Data t;
  std::shared_ptr<const GraphDef> g;
  Attribute::Data tp;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::vector<Tensor> tensors;
  std::vector<std::shared_ptr<const GraphDef>> graphs;
  AttributeKind seen = AttributeKind::kUndefined;  // of the last field, for old models without a type
};

Attribute::Data Choose(const WireCursor& cursor, AttributeKind kind, AttributeFields& fields) {
  switch (kind) {
    case AttributeKind::kFloat:
      return fields.f;
    case AttributeKind::kInt:
      return fields.i;
    case AttributeKind::kString:
      return std::move(fields.s);
    case AttributeKind::kTensor:
      if (fields.t.index() == 0) cursor.Fail("t", "the tensor is missing");
      return std::move(fields.t);
    case AttributeKind::kGraph:
      if (!fields.g) cursor.Fail("g", "the graph is missing");
      return std::move(fields.g);
    case AttributeKind::kFloats:
      return std::move(fields.floats);
    case AttributeKind::kInts:
      return std::move(fields.ints);
    case AttributeKind::kStrings:
      return std::move(fields.strings);
    case AttributeKind::kTensors:
      return std::move(fields.tensors);
    case AttributeKind::kGraphs:
      return std::move(fields.graphs);
    case AttributeKind::kTypeProto:
      if (fields.tp.index() == 0) cursor.Fail("tp", "the type is missing");
      return std::move(fields.tp);
    case AttributeKind::kSparseTensor:
    case AttributeKind::kSparseTensors:
      FailUnsupported(cursor, "sparse tensors as attributes");
    case AttributeKind::kTypeProtos:
      FailUnsupported(cursor, "lists of types as attributes");
    case AttributeKind::kUndefined:
      break;
  }
  cursor.Fail("type", "no such kind of attribute, got " + std::to_string(static_cast<int32_t>(kind)));
}

}  // namespace

std::string NormaliseDomain(std::string domain) {
  if (domain == "ai.onnx") domain.clear();
  return domain;
}

void ReadOpsetImport(WireCursor cursor, OpsetImports& imports) {
  std::string domain;
  int64_t version = 0;
  while (cursor.Next()) {
    if (cursor.field() == 1) domain = cursor.String("domain");
    if (cursor.field() == 2) version = cursor.Int64("version");
  }
  const auto [known, is_new] = imports.try_emplace(NormaliseDomain(std::move(domain)), version);
  if (!is_new && known->second != version) {
    throw Error(ErrorCode::kInvalidGraph, cursor.Path() + ": the domain '" +
                                              (known->first.empty() ? "ai.onnx" : known->first) +
                                              "' must have one version, got " + std::to_string(known->second) +
                                              " and " + std::to_string(version));
  }
}

std::pair<std::string, std::string> ReadStringPair(WireCursor cursor) {
  std::pair<std::string, std::string> entry;
  while (cursor.Next()) {
    if (cursor.field() == 1) entry.first = cursor.Bytes("key");
    if (cursor.field() == 2) entry.second = cursor.Bytes("value");
  }
  return entry;
}

Attribute GraphReader::ReadAttribute(WireCursor cursor) {
  Attribute attribute;
  AttributeFields fields;
  int32_t type = 0;
  while (cursor.Next()) {
    AttributeKind seen = AttributeKind::kUndefined;
    switch (cursor.field()) {
      case 1:
        attribute.name = cursor.String("name");
        break;
      case 20:
        type = cursor.Int32("type");
        break;
      case 21:
        attribute.ref_attr_name = cursor.String("ref_attr_name");
        break;
      case 2:
        fields.f = cursor.Float("f");
        seen = AttributeKind::kFloat;
        break;
      case 3:
        fields.i = cursor.Int64("i");
        seen = AttributeKind::kInt;
        break;
      case 4:
        fields.s = cursor.Bytes("s");
        seen = AttributeKind::kString;
        break;
      case 5:
        fields.t = ReadTensor(cursor.Message("t"), limits_, files_).tensor;
        seen = AttributeKind::kTensor;
        break;
      case 6: {
        auto graph = std::make_shared<GraphDef>();
        ReadGraph(cursor.Message("g"), *graph);
        fields.g = std::move(graph);
        seen = AttributeKind::kGraph;
        break;
      }
      case 7:
        ReadFloats(cursor, fields.floats);
        seen = AttributeKind::kFloats;
        break;
      case 8:
        ReadInts(cursor, fields.ints);
        seen = AttributeKind::kInts;
        break;
      case 9:
        fields.strings.emplace_back(cursor.Bytes("strings"));
        seen = AttributeKind::kStrings;
        break;
      case 10:
        fields.tensors.push_back(
            ReadTensor(cursor.Message("tensors", NextIndex(fields.tensors)), limits_, files_).tensor);
        seen = AttributeKind::kTensors;
        break;
      case 11: {
        auto graph = std::make_shared<GraphDef>();
        ReadGraph(cursor.Message("graphs", NextIndex(fields.graphs)), *graph);
        fields.graphs.push_back(std::move(graph));
        seen = AttributeKind::kGraphs;
        break;
      }
      case 14:
        fields.tp = ReadType(cursor.Message("tp"), limits_);
        seen = AttributeKind::kTypeProto;
        break;
      case 15:
        seen = AttributeKind::kTypeProtos;
        break;
      case 22:
        seen = AttributeKind::kSparseTensor;
        break;
      case 23:
        seen = AttributeKind::kSparseTensors;
        break;
      default:
        break;
    }
    if (seen != AttributeKind::kUndefined) fields.seen = seen;
  }
  if (attribute.name.empty()) cursor.Fail("name", "the attribute has no name");
  attribute.kind = type != 0 ? static_cast<AttributeKind>(type) : fields.seen;
  // A reference takes its value, and if need be its kind, from the calling node.
  if (attribute.ref_attr_name.empty()) attribute.data = Choose(cursor, attribute.kind, fields);
  return attribute;
}

NodeDef GraphReader::ReadNode(WireCursor cursor) {
  NodeDef node;
  while (cursor.Next()) {
    switch (cursor.field()) {
      case 1:
        node.inputs.push_back(cursor.String("input"));
        break;
      case 2:
        node.outputs.push_back(cursor.String("output"));
        break;
      case 3:
        node.name = cursor.String("name");
        break;
      case 4:
        node.op_type = cursor.String("op_type");
        break;
      case 5:
        node.attributes.push_back(ReadAttribute(cursor.Message("attribute", NextIndex(node.attributes))));
        break;
      case 7:
        node.domain = NormaliseDomain(cursor.String("domain"));
        break;
      case 8:
        node.overload = cursor.String("overload");
        break;
      default:
        break;
    }
  }
  if (node.op_type.empty()) cursor.Fail("op_type", "the node has no operator");
  return node;
}

ValueInfoDef GraphReader::ReadValueInfo(WireCursor cursor) {
  ValueInfoDef info;
  while (cursor.Next()) {
    if (cursor.field() == 1) info.name = cursor.String("name");
    if (cursor.field() == 2) info.type = ReadType(cursor.Message("type"), limits_);
  }
  if (info.name.empty()) cursor.Fail("name", "the value has no name");
  return info;
}

void GraphReader::ReadGraph(WireCursor cursor, GraphDef& graph) {
  while (cursor.Next()) {
    switch (cursor.field()) {
      case 1:
        graph.nodes.push_back(ReadNode(cursor.Message("node", NextIndex(graph.nodes))));
        break;
      case 2:
        graph.name = cursor.String("name");
        break;
      case 5: {
        const WireCursor message = cursor.Message("initializer", NextIndex(graph.initializers));
        NamedTensor read = ReadTensor(message, limits_, files_);
        if (read.name.empty()) message.Fail("name", "the initializer has no name");
        graph.initializers.push_back({std::move(read.name), std::move(read.tensor), std::move(read.external)});
        break;
      }
      case 10:
        graph.doc_string = cursor.Bytes("doc_string");
        break;
      case 11:
        graph.inputs.push_back(ReadValueInfo(cursor.Message("input", NextIndex(graph.inputs))));
        break;
      case 12:
        graph.outputs.push_back(ReadValueInfo(cursor.Message("output", NextIndex(graph.outputs))));
        break;
      case 13:
        graph.value_info.push_back(ReadValueInfo(cursor.Message("value_info", NextIndex(graph.value_info))));
        break;
      case 15:
        FailSparse(cursor.Message("sparse_initializer", 0));
      default:
        break;
    }
  }
}

FunctionDef GraphReader::ReadFunction(WireCursor cursor) {
  FunctionDef function;
  while (cursor.Next()) {
    switch (cursor.field()) {
      case 1:
        function.name = cursor.String("name");
        break;
      case 4:
        function.inputs.push_back(cursor.String("input"));
        break;
      case 5:
        function.outputs.push_back(cursor.String("output"));
        break;
      case 6:
        function.attributes.push_back(cursor.String("attribute"));
        break;
      case 7:
        function.nodes.push_back(ReadNode(cursor.Message("node", NextIndex(function.nodes))));
        break;
      case 9:
        ReadOpsetImport(cursor.Message("opset_import"), function.opset_imports);
        break;
      case 10:
        function.domain = NormaliseDomain(cursor.String("domain"));
        break;
      case 11:
        function.attribute_defaults.push_back(
            ReadAttribute(cursor.Message("attribute_proto", NextIndex(function.attribute_defaults))));
        break;
      case 13:
        function.overload = cursor.String("overload");
        break;
      default:
        break;
    }
  }
  if (function.name.empty()) cursor.Fail("name", "the function has no name");
  return function;
}

}  // namespace light
