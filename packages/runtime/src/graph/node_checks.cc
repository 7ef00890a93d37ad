// SPDX-License-Identifier: Apache-2.0
#include "graph/node_checks.h"

#include <algorithm>
#include <unordered_set>

namespace light {
namespace {

[[noreturn]] void FailInvalid(const Node& node, const std::string& what) {
  FailNode(node, ErrorCode::kInvalidGraph, what);
}

std::string OperatorLabel(const Node& node) {
  return "'" + (node.domain.empty() ? "" : node.domain + ".") + node.op_type + "'";
}

std::string DomainLabel(const std::string& domain) { return domain.empty() ? "ai.onnx" : domain; }

/// Number of arguments up to the last one that is not omitted.
int CountGiven(const std::vector<ValueId>& values) {
  std::size_t count = values.size();
  while (count > 0 && values[count - 1] == kNoValue) --count;
  return static_cast<int>(count);
}

void CheckArity(const Node& node) {
  const OperatorSchema& schema = *node.schema;
  // Omitted ones at the end count as written, and not against the maximum.
  const int inputs = CountGiven(node.inputs);
  const int written = static_cast<int>(node.inputs.size());
  if (inputs > schema.max_inputs) {
    FailInvalid(node, "at most " + std::to_string(schema.max_inputs) + " inputs, got " + std::to_string(inputs));
  }
  if (written < schema.min_inputs) {
    FailInvalid(node, "at least " + std::to_string(schema.min_inputs) + " inputs, got " + std::to_string(written));
  }
  for (int i = 0; i < written; ++i) {
    const auto position = static_cast<std::size_t>(i);
    if (node.inputs[position] != kNoValue) continue;
    const FormalParameter* formal = schema.InputFormal(position);
    if (formal != nullptr && formal->option != FormalParameter::Option::kOptional) {
      FailInvalid(node, "input " + std::to_string(i) + " ('" + formal->name + "') is omitted and is not optional");
    }
  }
  const int outputs = CountGiven(node.outputs);
  if (outputs > schema.max_outputs) {
    FailInvalid(node, "at most " + std::to_string(schema.max_outputs) + " outputs, got " + std::to_string(outputs));
  }
  if (static_cast<int>(node.outputs.size()) < schema.min_outputs) {
    FailInvalid(node, "at least " + std::to_string(schema.min_outputs) + " outputs, got " +
                          std::to_string(node.outputs.size()));
  }
}

void CheckAttribute(const Node& node, const std::string& name, AttributeKind kind) {
  const AttributeSchema* expected = node.schema->FindAttribute(name);
  if (expected == nullptr) {
    if (node.schema->open_attributes) return;
    FailInvalid(node,
                "version " + std::to_string(node.since_version) + " of the operator has no attribute '" + name + "'");
  }
  if (expected->kind != AttributeKind::kUndefined && expected->kind != kind) {
    FailInvalid(node, "attribute '" + name + "' is of kind " + ToString(expected->kind) + ", got " + ToString(kind));
  }
}

}  // namespace

int64_t NodeChecks::ImportedVersion(const Node& node, const CallFrame& frame) {
  if (last_frame_ == &frame && last_domain_ == node.domain) return last_version_;
  const auto import = frame.imports->find(node.domain);
  if (import == frame.imports->end()) {
    const std::string where = frame.function ? "the function '" + frame.function->name + "'" : std::string("the model");
    FailInvalid(node, where + " imports no opset of the domain '" + DomainLabel(node.domain) + "'");
  }
  const int64_t latest = schemas_.LatestVersion(node.domain);
  if (import->second > latest && OnnxSchemas().KnowsDomain(node.domain)) {
    // A newer version may have changed what the operator means.
    FailInvalid(node, "the newest version of the domain '" + DomainLabel(node.domain) + "' that is known is " +
                          std::to_string(latest) + ", got " + std::to_string(import->second));
  }
  last_frame_ = &frame;
  last_domain_ = node.domain;
  last_version_ = import->second;
  return last_version_;
}

void NodeChecks::FailUnknown(const Node& node, int64_t version) const {
  const std::string opset = "version " + std::to_string(version) + " of the domain '" + DomainLabel(node.domain) + "'";
  const bool is_standard = OnnxSchemas().KnowsDomain(node.domain);
  if (schemas_.Knows(node.domain, node.op_type)) {
    FailNode(node, is_standard ? ErrorCode::kInvalidGraph : ErrorCode::kFail,
             "the operator " + OperatorLabel(node) + " does not exist in " + opset);
  }
  if (is_standard) FailInvalid(node, "there is no operator " + OperatorLabel(node) + " in " + opset);
  FailNode(node, ErrorCode::kFail,
           "the operator " + OperatorLabel(node) + " of " + opset +
               " is not known; a library with custom operators may be missing");
}

void NodeChecks::SelectSchema(Node& node, const CallFrame& frame) {
  const int64_t version = ImportedVersion(node, frame);
  node.schema = schemas_.Find(node.domain, node.op_type, version);
  if (node.schema == nullptr) FailUnknown(node, version);
  node.since_version = node.schema->since_version;
  // GroupNormalization was withdrawn in the version that introduced it and came back: that version is as good as any.
  if (node.schema->deprecated &&
      schemas_.Find(node.domain, node.op_type, schemas_.LatestVersion(node.domain))->deprecated) {
    FailInvalid(node, "the operator " + OperatorLabel(node) + " was removed in version " +
                          std::to_string(node.since_version) + " of the domain '" + DomainLabel(node.domain) +
                          "', and the model imports " + std::to_string(version));
  }
}

void NodeChecks::Check(const GraphDraft& graph, const Node& node) const {
  CheckArity(node);
  std::unordered_set<std::string_view> names;
  for (const Attribute& attribute : node.attributes) {
    if (!attribute.ref_attr_name.empty()) {
      FailInvalid(node, "attribute '" + attribute.name + "' refers to '" + attribute.ref_attr_name +
                            "' of a calling node, but there is none");
    }
    if (node.attributes.size() > 1 && !names.insert(attribute.name).second) {
      FailInvalid(node, "attribute '" + attribute.name + "' is given twice");
    }
    CheckAttribute(node, attribute.name, attribute.kind);
  }
  const bool has_bodies = !graph.bodies.empty() && !graph.bodies[node.id].empty();
  if (has_bodies) {
    for (const DraftBody& body : graph.bodies[node.id]) {
      const std::size_t bracket = body.attribute.find('[');
      const AttributeKind kind = bracket == std::string::npos ? AttributeKind::kGraph : AttributeKind::kGraphs;
      CheckAttribute(node, body.attribute.substr(0, bracket), kind);
    }
  }
  for (const AttributeSchema& schema : node.schema->attributes) {
    if (!schema.required || node.FindAttribute(schema.name) != nullptr) continue;
    const bool is_body =
        has_bodies && std::any_of(graph.bodies[node.id].begin(), graph.bodies[node.id].end(),
                                  [&](const DraftBody& body) { return body.attribute == schema.name; });
    if (!is_body) FailInvalid(node, "the attribute '" + schema.name + "' is required and missing");
  }
}

}  // namespace light
