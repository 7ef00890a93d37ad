// SPDX-License-Identifier: Apache-2.0
#include "abi/handle_list.h"
#include "abi/sections.h"
#include "adapters/graph.h"

namespace ort_host::abi {
namespace {

using ValueIds = std::vector<light::ValueId> light::Node::*;

OrtStatus* ORT_API_CALL Node_GetId(const OrtNode* node, size_t* node_id) noexcept {
  return Guard("Node_GetId", [&] { Out(node_id, "node_id") = Borrow(node).node().id; });
}

OrtStatus* ORT_API_CALL Node_GetName(const OrtNode* node, const char** node_name) noexcept {
  return Guard("Node_GetName", [&] { Out(node_name, "node_name") = Borrow(node).node().name.c_str(); });
}

OrtStatus* ORT_API_CALL Node_GetOperatorType(const OrtNode* node, const char** operator_type) noexcept {
  return Guard("Node_GetOperatorType",
               [&] { Out(operator_type, "operator_type") = Borrow(node).node().op_type.c_str(); });
}

OrtStatus* ORT_API_CALL Node_GetDomain(const OrtNode* node, const char** domain_name) noexcept {
  return Guard("Node_GetDomain", [&] { Out(domain_name, "domain_name") = Borrow(node).node().domain.c_str(); });
}

OrtStatus* ORT_API_CALL Node_GetSinceVersion(const OrtNode* node, int* since_version) noexcept {
  return Guard("Node_GetSinceVersion",
               [&] { Out(since_version, "since_version") = Borrow(node).node().since_version; });
}

OrtStatus* ORT_API_CALL Node_GetEpName(const OrtNode* node, const char** out) noexcept {
  return Guard("Node_GetEpName", [&] { Out(out) = Borrow(node).provider().c_str(); });
}

// --- Values: null where an argument is omitted

OrtStatus* CountValues(const char* slot, const OrtNode* node, ValueIds ids, size_t* count, const char* name) noexcept {
  return Guard(slot, [&] { Out(count, name) = (Borrow(node).node().*ids).size(); });
}

OrtStatus* ListValues(const char* slot, const OrtNode* node, ValueIds ids, const OrtValueInfo** values,
                      const char* name, size_t room) noexcept {
  return Guard(slot, [&] {
    const NodeAdapter& adapter = Borrow(node);
    const std::vector<light::ValueId>& listed = adapter.node().*ids;
    HandleList<const OrtValueInfo*> list(values, name, room, listed.size());
    for (const light::ValueId id : listed) {
      const ValueInfoAdapter* value = adapter.graph().value(id);
      list.Add(value != nullptr ? Lend<OrtValueInfo>(*value) : nullptr);
    }
  });
}

OrtStatus* ORT_API_CALL Node_GetNumInputs(const OrtNode* node, size_t* num_inputs) noexcept {
  return CountValues("Node_GetNumInputs", node, &light::Node::inputs, num_inputs, "num_inputs");
}

OrtStatus* ORT_API_CALL Node_GetInputs(const OrtNode* node, const OrtValueInfo** inputs, size_t num_inputs) noexcept {
  return ListValues("Node_GetInputs", node, &light::Node::inputs, inputs, "inputs", num_inputs);
}

OrtStatus* ORT_API_CALL Node_GetNumOutputs(const OrtNode* node, size_t* num_outputs) noexcept {
  return CountValues("Node_GetNumOutputs", node, &light::Node::outputs, num_outputs, "num_outputs");
}

OrtStatus* ORT_API_CALL Node_GetOutputs(const OrtNode* node, const OrtValueInfo** outputs,
                                        size_t num_outputs) noexcept {
  return ListValues("Node_GetOutputs", node, &light::Node::outputs, outputs, "outputs", num_outputs);
}

OrtStatus* ORT_API_CALL Node_GetNumImplicitInputs(const OrtNode* node, size_t* num_implicit_inputs) noexcept {
  return CountValues("Node_GetNumImplicitInputs", node, &light::Node::captures, num_implicit_inputs,
                     "num_implicit_inputs");
}

OrtStatus* ORT_API_CALL Node_GetImplicitInputs(const OrtNode* node, const OrtValueInfo** implicit_inputs,
                                               size_t num_implicit_inputs) noexcept {
  return ListValues("Node_GetImplicitInputs", node, &light::Node::captures, implicit_inputs, "implicit_inputs",
                    num_implicit_inputs);
}

// --- Attributes

OrtStatus* ORT_API_CALL Node_GetNumAttributes(const OrtNode* node, size_t* num_attributes) noexcept {
  return Guard("Node_GetNumAttributes",
               [&] { Out(num_attributes, "num_attributes") = Borrow(node).attributes().size(); });
}

OrtStatus* ORT_API_CALL Node_GetAttributes(const OrtNode* node, const OrtOpAttr** attributes,
                                           size_t num_attributes) noexcept {
  return Guard("Node_GetAttributes", [&] {
    const std::deque<OpAttrAdapter>& found = Borrow(node).attributes();
    HandleList<const OrtOpAttr*> list(attributes, "attributes", num_attributes, found.size());
    for (const OpAttrAdapter& attribute : found) list.Add(Lend<OrtOpAttr>(attribute));
  });
}

OrtStatus* ORT_API_CALL Node_GetAttributeByName(const OrtNode* node, const char* attribute_name,
                                                const OrtOpAttr** attribute) noexcept {
  return Guard("Node_GetAttributeByName", [&](Slot slot) -> OrtStatus* {
    const NodeAdapter& adapter = Borrow(node);
    Require(attribute_name, "attribute_name");
    const auto destination = Out(attribute, "attribute");
    if (const OpAttrAdapter* found = adapter.FindAttribute(attribute_name)) {
      destination = Lend<OrtOpAttr>(*found);
      return nullptr;
    }
    destination = static_cast<const OrtOpAttr*>(nullptr);
    const light::OperatorSchema* schema = adapter.node().schema;
    if (schema != nullptr && schema->FindAttribute(attribute_name) != nullptr) return nullptr;
    return slot.Fail(ORT_NOT_FOUND, "attribute_name: node %s has no such attribute, got '%.200s'",
                     adapter.node().Label().c_str(), attribute_name);
  });
}

// --- Graphs

OrtStatus* ORT_API_CALL Node_GetNumSubgraphs(const OrtNode* node, size_t* num_subgraphs) noexcept {
  return Guard("Node_GetNumSubgraphs",
               [&] { Out(num_subgraphs, "num_subgraphs") = Borrow(node).node().subgraphs.size(); });
}

OrtStatus* ORT_API_CALL Node_GetSubgraphs(const OrtNode* node, const OrtGraph** subgraphs, size_t num_subgraphs,
                                          const char** attribute_names) noexcept {
  return Guard("Node_GetSubgraphs", [&] {
    const NodeAdapter& adapter = Borrow(node);
    const std::vector<light::Subgraph>& bodies = adapter.node().subgraphs;
    HandleList<const OrtGraph*> list(subgraphs, "subgraphs", num_subgraphs, bodies.size());
    for (size_t i = 0; i < bodies.size(); ++i) {
      list.Add(Lend<OrtGraph>(adapter.subgraph(i)));
      if (attribute_names != nullptr) attribute_names[i] = bodies[i].attribute.c_str();
    }
  });
}

OrtStatus* ORT_API_CALL Node_GetGraph(const OrtNode* node, const OrtGraph** graph) noexcept {
  return Guard("Node_GetGraph", [&] {
    const GraphAdapter& found = Borrow(node).graph();
    Out(graph, "graph") = found.is_alone() ? nullptr : Lend<OrtGraph>(found);
  });
}

}  // namespace

void FillNodes(OrtApi& table) noexcept {
  table.Node_GetId = Node_GetId;
  table.Node_GetName = Node_GetName;
  table.Node_GetOperatorType = Node_GetOperatorType;
  table.Node_GetDomain = Node_GetDomain;
  table.Node_GetSinceVersion = Node_GetSinceVersion;
  table.Node_GetEpName = Node_GetEpName;
  table.Node_GetNumInputs = Node_GetNumInputs;
  table.Node_GetInputs = Node_GetInputs;
  table.Node_GetNumOutputs = Node_GetNumOutputs;
  table.Node_GetOutputs = Node_GetOutputs;
  table.Node_GetNumImplicitInputs = Node_GetNumImplicitInputs;
  table.Node_GetImplicitInputs = Node_GetImplicitInputs;
  table.Node_GetNumAttributes = Node_GetNumAttributes;
  table.Node_GetAttributes = Node_GetAttributes;
  table.Node_GetAttributeByName = Node_GetAttributeByName;
  table.Node_GetNumSubgraphs = Node_GetNumSubgraphs;
  table.Node_GetSubgraphs = Node_GetSubgraphs;
  table.Node_GetGraph = Node_GetGraph;
}

}  // namespace ort_host::abi
