// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_inference.h"

#include "infer/node_inference.h"
#include "infer/shape_values.h"

namespace light {
namespace {

/// What is known of a shape from two sources. An extent that they state differently is unknown, and `agrees` is
/// cleared.
Shape MergeShapes(const Shape& inferred, const Shape& declared, bool* agrees) {
  if (!declared.has_rank()) return inferred;
  if (!inferred.has_rank()) return declared;
  if (inferred.rank() != declared.rank()) {
    *agrees = false;
    return {};
  }
  Shape out = declared;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    if (!inferred[i].is_known()) {
      if (!declared[i].is_known() && !declared[i].is_symbolic()) out[i] = inferred[i];
      continue;
    }
    if (!declared[i].is_known()) {
      out[i] = inferred[i];
    } else if (!(declared[i] == inferred[i])) {
      *agrees = false;
      out[i] = Dim();
    }
  }
  return out;
}

}  // namespace

ValueType GraphInference::Merge(const std::string& where, ValueType inferred, const ValueType& declared) {
  if (declared.kind == ValueType::Kind::kUnknown) return inferred;
  if (!inferred.is_resolved()) {
    if (inferred.is_tensor() && declared.is_tensor()) inferred.element = declared.element;
    if (!inferred.is_resolved()) return declared;
  }
  if (declared.is_resolved() && !SameElementTypes(inferred, declared)) {
    throw Error(ErrorCode::kInvalidGraph,
                where + " is declared as " + declared.ToString() + ", but it is a " + inferred.ToString());
  }
  if (inferred.is_tensor() && declared.is_tensor()) {
    bool agrees = true;
    Shape merged = MergeShapes(inferred.shape, declared.shape, &agrees);
    if (!agrees && warn_) {
      warn_(where + " is declared with the shape " + declared.shape.ToString() + ", but inference finds " +
            inferred.shape.ToString());
    }
    inferred.shape = std::move(merged);
  }
  return inferred;
}

void GraphInference::SetOutput(GraphDraft& graph, const Node& node, std::size_t i, ValueType inferred) {
  GraphValue& value = graph.values[node.outputs[i]];
  if (value.type.kind == ValueType::Kind::kUnknown) {
    value.type = std::move(inferred);
  } else {
    value.type = Merge("node " + node.Label() + ": output '" + value.name + "'", std::move(inferred), value.type);
  }
  if (!value.type.is_resolved()) {
    FailNode(node, ErrorCode::kFail, "the element type of its output '" + value.name + "' cannot be inferred");
  }
}

void GraphInference::Infer(GraphDraft& graph) {
  graph.is_inferred = true;
  graph.constants.resize(graph.values.size());
  for (const ValueId id : graph.initializers) graph.constants[id] = graph.values[id].constant();
  for (const ValueId id : graph.inputs) {
    const GraphValue& value = graph.values[id];
    if (!value.type.is_resolved()) {
      throw Error(graph.outer == nullptr ? ErrorCode::kInvalidGraph : ErrorCode::kFail,
                  "graph '" + graph.name + "': the input '" + value.name + "' has no element type, got " +
                      value.type.ToString());
    }
  }

  const auto infer_body = [&](const Node& node, DraftBody& body, std::span<const ValueType> inputs) {
    return InferBody(graph, node, body, inputs);
  };
  NodeInference inference(graph, infer_body);
  for (Node& node : graph.nodes) {
    checks_.SelectSchema(node, *graph.frames[node.id]);
    checks_.Check(graph, node);
    std::vector<ValueType>& types = inference.Infer(node);
    if (!node.outputs.empty() && node.outputs[0] != kNoValue) {
      graph.constants[node.outputs[0]] = KnownConstant(inference, graph.computed_constants);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) SetOutput(graph, node, i, std::move(types[i]));
    }
    if (graph.bodies.empty()) continue;
    for (DraftBody& body : graph.bodies[node.id]) {
      // No hook asked for it: what the body's inputs declare must do.
      if (!body.graph->is_inferred) InferBody(graph, node, body, std::vector<ValueType>(body.graph->inputs.size()));
    }
  }
}

std::vector<ValueType> GraphInference::InferBody(GraphDraft& outer, const Node& node, DraftBody& body,
                                                 std::span<const ValueType> inputs) {
  GraphDraft& graph = *body.graph;
  if (!graph.is_inferred) {
    const std::string where = "node " + node.Label() + ": the body '" + body.attribute + "'";
    if (inputs.size() != graph.inputs.size()) {
      throw Error(ErrorCode::kInvalidGraph, where + " must have " + std::to_string(inputs.size()) + " inputs, got " +
                                                std::to_string(graph.inputs.size()));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      GraphValue& value = graph.values[graph.inputs[i]];
      value.type = Merge(where + ": input '" + value.name + "'", inputs[i], value.type);
    }
    graph.constants.resize(graph.values.size());
    for (const ValueId id : graph.captures) {
      GraphValue& value = graph.values[id];
      value.type = outer.values[value.outer].type;
      graph.constants[id] = outer.constants[value.outer];
    }
    Infer(graph);
  }
  std::vector<ValueType> outputs;
  outputs.reserve(graph.outputs.size());
  for (const ValueId id : graph.outputs) outputs.push_back(graph.values[id].type);
  return outputs;
}

}  // namespace light
