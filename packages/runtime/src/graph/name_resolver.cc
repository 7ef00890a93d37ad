// SPDX-License-Identifier: Apache-2.0
#include "graph/name_resolver.h"

#include <unordered_set>

namespace light {
namespace {

std::string GraphLabel(const GraphDraft& graph) {
  return (graph.outer == nullptr ? "graph '" : "subgraph '") + graph.name + "'";
}

[[noreturn]] void FailGraph(const GraphDraft& graph, const std::string& what) {
  throw Error(ErrorCode::kInvalidGraph, GraphLabel(graph) + ": " + what);
}

}  // namespace

ValueId NameResolver::Declare(GraphDraft& graph, std::string name, GraphValue::Origin origin) {
  const auto id = static_cast<ValueId>(graph.values.size());
  if (!graph.by_name.emplace(name, id).second) FailGraph(graph, "the value '" + name + "' is defined twice");
  GraphValue& value = graph.values.emplace_back();
  value.name = std::move(name);
  value.origin = origin;
  return id;
}

ValueId NameResolver::Lookup(GraphDraft& graph, const std::string& name) {
  if (const auto found = graph.by_name.find(name); found != graph.by_name.end()) return found->second;
  if (graph.outer == nullptr) return kNoValue;
  const ValueId outer = Lookup(*graph.outer, name);
  if (outer == kNoValue) return kNoValue;
  const ValueId id = Declare(graph, name, GraphValue::Origin::kCapture);
  graph.values[id].outer = outer;
  graph.captures.push_back(id);
  return id;
}

void NameResolver::DeclareBoundary(GraphDraft& graph, GraphDef& def) {
  graph.by_name.reserve(def.inputs.size() + def.initializers.size() + def.nodes.size());
  graph.values.reserve(def.inputs.size() + def.initializers.size() + def.nodes.size());
  for (ValueInfoDef& input : def.inputs) {
    const ValueId id = Declare(graph, std::move(input.name), GraphValue::Origin::kInput);
    graph.values[id].type = std::move(input.type);
    graph.inputs.push_back(id);
  }

  bool has_constant_inputs = false;
  for (InitializerDef& initializer : def.initializers) {
    const auto found = graph.by_name.find(initializer.name);
    ValueId id;
    if (found == graph.by_name.end()) {
      id = Declare(graph, std::move(initializer.name), GraphValue::Origin::kInitializer);
      if (ir_version_ < 4 && graph.outer == nullptr && warn_) {
        warn_(GraphLabel(graph) + ": initializer '" + graph.values[id].name + "' is no graph input, as IR version " +
              std::to_string(ir_version_) + " asks for");
      }
    } else {
      id = found->second;
      if (graph.values[id].initializer) FailGraph(graph, "the value '" + initializer.name + "' is defined twice");
      graph.values[id].origin = GraphValue::Origin::kInitializer;
      // Up to IR version 3 every initializer had to be an input as well, without being meant to be fed.
      graph.values[id].is_overridable = ir_version_ >= 4;
      has_constant_inputs |= ir_version_ < 4;
    }
    GraphValue& value = graph.values[id];
    ValueType type = ValueType::Tensor(initializer.tensor.type(), Shape::FromExtents(initializer.tensor.dims().span()));
    if (value.type.is_resolved() && !SameElementTypes(value.type, type)) {
      FailGraph(graph, "initializer '" + value.name + "' is a " + type.ToString() +
                           ", but the input of that name is a " + value.type.ToString());
    }
    // What is fed instead may have another shape, if the input says so.
    if (!value.is_overridable || !value.type.is_resolved()) value.type = std::move(type);
    value.initializer = std::make_shared<const Tensor>(std::move(initializer.tensor));
    value.external = std::move(initializer.external);
    graph.initializers.push_back(id);
  }
  if (has_constant_inputs) {
    std::erase_if(graph.inputs,
                  [&](ValueId id) { return graph.values[id].origin == GraphValue::Origin::kInitializer; });
  }
}

void NameResolver::DeclareNode(GraphDraft& graph, NodeDef& def, const CallFrame* frame) {
  const auto id = static_cast<NodeId>(graph.nodes.size());
  Node& node = graph.nodes.emplace_back();
  node.id = id;
  node.name = std::move(def.name);
  node.op_type = std::move(def.op_type);
  if (def.domain != "ai.onnx") node.domain = std::move(def.domain);
  node.attributes = std::move(def.attributes);
  graph.frames.push_back(frame);
  node.outputs.reserve(def.outputs.size());
  for (std::string& name : def.outputs) {
    if (name.empty()) {
      node.outputs.push_back(kNoValue);
      continue;
    }
    const ValueId value = Declare(graph, std::move(name), GraphValue::Origin::kNode);
    graph.values[value].producer = id;
    graph.values[value].output_index = static_cast<uint32_t>(node.outputs.size());
    node.outputs.push_back(value);
  }
}

void NameResolver::ResolveNode(GraphDraft& graph, NodeId id, const std::vector<std::string>& inputs) {
  graph.nodes[id].inputs.reserve(inputs.size());
  for (const std::string& name : inputs) {
    const ValueId value = name.empty() ? kNoValue : Lookup(graph, name);
    Node& node = graph.nodes[id];
    if (value == kNoValue && !name.empty()) {
      FailNode(node, ErrorCode::kInvalidGraph, "nothing produces its input '" + name + "'");
    }
    node.inputs.push_back(value);
  }
  ResolveBodies(graph, id);
}

void NameResolver::ResolveBodies(GraphDraft& graph, NodeId id) {
  std::vector<DraftBody> bodies;
  const auto add = [&](std::string attribute, const GraphDef& def) {
    bodies.push_back({std::move(attribute), Resolve(def, graph.frames[id], &graph)});
  };
  auto& attributes = graph.nodes[id].attributes;
  for (const Attribute& attribute : attributes) {
    if (const auto* def = std::get_if<std::shared_ptr<const GraphDef>>(&attribute.data)) {
      add(attribute.name, **def);
    } else if (const auto* list = std::get_if<std::vector<std::shared_ptr<const GraphDef>>>(&attribute.data)) {
      for (std::size_t i = 0; i < list->size(); ++i) add(attribute.name + "[" + std::to_string(i) + "]", *(*list)[i]);
    }
  }
  if (bodies.empty()) return;

  std::erase_if(attributes, [](const Attribute& attribute) {
    return attribute.kind == AttributeKind::kGraph || attribute.kind == AttributeKind::kGraphs;
  });
  Node& node = graph.nodes[id];
  std::unordered_set<ValueId> captured;
  for (const DraftBody& body : bodies) {
    for (const ValueId inner : body.graph->captures) {
      const ValueId outer = body.graph->values[inner].outer;
      if (captured.insert(outer).second) node.captures.push_back(outer);
    }
  }
  graph.bodies.resize(graph.nodes.size());
  graph.bodies[id] = std::move(bodies);
}

void NameResolver::ResolveOutputs(GraphDraft& graph, std::vector<ValueInfoDef>& outputs) {
  for (ValueInfoDef& output : outputs) {
    const ValueId id = Lookup(graph, output.name);
    if (id == kNoValue) FailGraph(graph, "nothing produces its output '" + output.name + "'");
    GraphValue& value = graph.values[id];
    value.is_graph_output = true;
    // What is declared of a node's output is compared with what inference finds; the others have a type already.
    if (value.origin == GraphValue::Origin::kNode && output.type.kind != ValueType::Kind::kUnknown) {
      value.type = std::move(output.type);
    }
    graph.outputs.push_back(id);
  }
}

std::unique_ptr<GraphDraft> NameResolver::Resolve(GraphDef def, const CallFrame* frame, GraphDraft* outer) {
  auto draft = std::make_unique<GraphDraft>();
  GraphDraft& graph = *draft;
  graph.outer = outer;
  graph.name = std::move(def.name);
  graph.doc_string = std::move(def.doc_string);
  DeclareBoundary(graph, def);

  std::vector<FlatNode> flat;
  if (inliner_.has_functions()) inliner_.Expand(std::move(def.nodes), frame, flat);
  const std::size_t count = inliner_.has_functions() ? flat.size() : def.nodes.size();
  const auto node_def = [&](std::size_t i) -> NodeDef& {
    return inliner_.has_functions() ? flat[i].def : def.nodes[i];
  };
  graph.nodes.reserve(count);
  graph.frames.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    DeclareNode(graph, node_def(i), inliner_.has_functions() ? flat[i].frame : frame);
  }
  for (ValueInfoDef& info : def.value_info) {
    const auto found = graph.by_name.find(info.name);
    if (found == graph.by_name.end()) continue;
    GraphValue& value = graph.values[found->second];
    if (value.origin == GraphValue::Origin::kNode) value.type = std::move(info.type);
  }
  for (std::size_t i = 0; i < count; ++i) ResolveNode(graph, static_cast<NodeId>(i), node_def(i).inputs);
  ResolveOutputs(graph, def.outputs);
  OrderNodes(graph);
  return draft;
}

}  // namespace light
