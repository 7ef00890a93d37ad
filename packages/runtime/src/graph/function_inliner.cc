// SPDX-License-Identifier: Apache-2.0
#include "graph/function_inliner.h"

#include <algorithm>

namespace light {
namespace {

// Functions that call functions twice grow exponentially: a model of a kilobyte could fill any memory.
constexpr std::size_t kMaxExpandedNodes = std::size_t{1} << 18;
constexpr std::size_t kMaxExpandedBytes = std::size_t{1} << 29;
constexpr int kMaxCallDepth = 128;
constexpr std::size_t kMaxPrefix = 256;

std::string Key(const std::string& domain, const std::string& name, const std::string& overload) {
  return domain + '\0' + name + '\0' + overload;
}

std::string FunctionLabel(const FunctionDef& function) {
  std::string label = "function '" + (function.domain.empty() ? "" : function.domain + ".") + function.name;
  if (!function.overload.empty()) label += ":" + function.overload;
  return label + "'";
}

[[noreturn]] void FailCall(const NodeDef& node, ErrorCode code, const std::string& what) {
  throw Error(code, "node '" + node.name + "' (" + (node.domain.empty() ? "" : node.domain + ".") + node.op_type +
                        "): " + what);
}

void CollectNames(const std::vector<NodeDef>& nodes, std::unordered_set<std::string>& names);

void CollectNames(const GraphDef& graph, std::unordered_set<std::string>& names) {
  for (const ValueInfoDef& input : graph.inputs) names.insert(input.name);
  for (const InitializerDef& initializer : graph.initializers) names.insert(initializer.name);
  CollectNames(graph.nodes, names);
}

void CollectNames(const std::vector<NodeDef>& nodes, std::unordered_set<std::string>& names) {
  for (const NodeDef& node : nodes) {
    names.insert(node.outputs.begin(), node.outputs.end());
    for (const Attribute& attribute : node.attributes) {
      if (const auto* graph = std::get_if<std::shared_ptr<const GraphDef>>(&attribute.data)) {
        CollectNames(**graph, names);
      } else if (const auto* list = std::get_if<std::vector<std::shared_ptr<const GraphDef>>>(&attribute.data)) {
        for (const auto& item : *list) CollectNames(*item, names);
      }
    }
  }
}

std::size_t AttributeBytes(const Attribute& attribute) {
  std::size_t bytes = attribute.name.size();
  if (const auto* text = std::get_if<std::string>(&attribute.data)) bytes += text->size();
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&attribute.data)) bytes += ints->size() * sizeof(int64_t);
  if (const auto* floats = std::get_if<std::vector<float>>(&attribute.data)) bytes += floats->size() * sizeof(float);
  if (const auto* strings = std::get_if<std::vector<std::string>>(&attribute.data)) {
    for (const std::string& item : *strings) bytes += item.size();
  }
  return bytes;
}

}  // namespace

/// One call that is being expanded: what the names and the attributes of the body stand for.
struct FunctionInliner::Call {
  const FunctionDef* function = nullptr;
  std::string prefix;
  std::unordered_map<std::string, std::string> names;
  std::unordered_map<std::string_view, const Attribute*> attributes;
  std::vector<std::pair<std::string, std::string>>
      copies;  // (value, output of the call) that are two names of one value
};

FunctionInliner::FunctionInliner(std::vector<FunctionDef> functions, const GraphDef& graph,
                                 const OpsetImports& model_imports)
    : functions_(std::move(functions)), model_imports_(model_imports) {
  root_.imports = &model_imports_;
  for (FunctionDef& function : functions_) {
    if (function.domain == "ai.onnx") function.domain.clear();
    if (!by_key_.emplace(Key(function.domain, function.name, function.overload), &function).second) {
      throw Error(ErrorCode::kInvalidGraph, FunctionLabel(function) + " is defined twice");
    }
  }
  if (functions_.empty()) return;
  CollectNames(graph, names_);
}

const FunctionDef* FunctionInliner::Find(const NodeDef& node) const {
  if (by_key_.empty()) return nullptr;
  const auto found = by_key_.find(Key(node.domain == "ai.onnx" ? "" : node.domain, node.op_type, node.overload));
  return found == by_key_.end() ? nullptr : found->second;
}

void FunctionInliner::Expand(std::vector<NodeDef> nodes, const CallFrame* frame, std::vector<FlatNode>& out) {
  for (NodeDef& node : nodes) {
    if (const FunctionDef* function = Find(node)) {
      ExpandCall(node, *function, frame, out);
    } else {
      out.push_back({std::move(node), frame});
    }
  }
}

void FunctionInliner::ExpandCall(const NodeDef& node, const FunctionDef& function, const CallFrame* frame,
                                 std::vector<FlatNode>& out) {
  int depth = 0;
  for (const CallFrame* caller = frame; caller != nullptr; caller = caller->caller, ++depth) {
    if (caller->function == &function)
      FailCall(node, ErrorCode::kInvalidGraph, FunctionLabel(function) + " calls itself");
  }
  if (depth > kMaxCallDepth) FailCall(node, ErrorCode::kNotImplemented, "functions call functions too deeply");
  Charge(1, 0);

  Call call = Bind(node, function);
  frames_.push_back({function.opset_imports.empty() ? &model_imports_ : &function.opset_imports, &function, frame});
  const CallFrame* inner = &frames_.back();
  std::vector<NodeDef> body;
  body.reserve(function.nodes.size() + call.copies.size());
  for (const NodeDef& inside : function.nodes) body.push_back(Instantiate(inside, call));
  Expand(std::move(body), inner, out);
  for (const auto& [from, to] : call.copies) {
    NodeDef copy;
    copy.name = call.prefix + to;
    copy.op_type = "Identity";
    copy.inputs = {from};
    copy.outputs = {to};
    out.push_back({std::move(copy), model_imports_.contains("") ? &root_ : inner});
  }
}

FunctionInliner::Call FunctionInliner::Bind(const NodeDef& node, const FunctionDef& function) {
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size()) {
    FailCall(node, ErrorCode::kInvalidGraph,
             FunctionLabel(function) + " has " + std::to_string(function.inputs.size()) + " inputs and " +
                 std::to_string(function.outputs.size()) + " outputs, got " + std::to_string(node.inputs.size()) +
                 " and " + std::to_string(node.outputs.size()));
  }
  Call call;
  call.function = &function;
  const bool is_named = !node.name.empty() && node.name.size() <= kMaxPrefix;
  call.prefix = Unique(is_named ? node.name : node.op_type.substr(0, kMaxPrefix)) + "/";
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    call.names[function.inputs[i]] = i < node.inputs.size() ? node.inputs[i] : "";
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const auto [place, is_new] = call.names.emplace(function.outputs[i], node.outputs[i]);
    if (!is_new) call.copies.emplace_back(place->second, node.outputs[i]);
  }
  for (const Attribute& attribute : function.attribute_defaults) call.attributes[attribute.name] = &attribute;
  for (const Attribute& attribute : node.attributes) {
    const auto& declared = function.attributes;
    if (!call.attributes.contains(attribute.name) &&
        std::find(declared.begin(), declared.end(), attribute.name) == declared.end()) {
      FailCall(node, ErrorCode::kInvalidGraph, FunctionLabel(function) + " has no attribute '" + attribute.name + "'");
    }
    call.attributes[attribute.name] = &attribute;
  }
  return call;
}

void FunctionInliner::Charge(std::size_t nodes, std::size_t bytes) {
  expanded_nodes_ += nodes;
  expanded_bytes_ += bytes;
  if (expanded_nodes_ > kMaxExpandedNodes || expanded_bytes_ > kMaxExpandedBytes) {
    throw Error(ErrorCode::kNotImplemented, "the model is too large once functions are inlined, got " +
                                                std::to_string(expanded_nodes_) + " nodes and " +
                                                std::to_string(expanded_bytes_) + " bytes of names and attributes");
  }
}

NodeDef FunctionInliner::Instantiate(const NodeDef& node, Call& call) {
  Charge(1, node.name.size() + node.op_type.size());
  NodeDef copy;
  copy.name = call.prefix + (node.name.empty() ? node.op_type : node.name);
  copy.op_type = node.op_type;
  copy.domain = node.domain;
  copy.overload = node.overload;
  for (const std::string& name : node.inputs) copy.inputs.push_back(Rename(name, call));
  for (const std::string& name : node.outputs) copy.outputs.push_back(Rename(name, call));
  copy.attributes = Instantiate(node.attributes, call);
  return copy;
}

std::vector<Attribute> FunctionInliner::Instantiate(const std::vector<Attribute>& attributes, Call& call) {
  std::vector<Attribute> copies;
  copies.reserve(attributes.size());
  for (const Attribute& attribute : attributes) {
    if (!attribute.ref_attr_name.empty()) {
      const auto bound = call.attributes.find(attribute.ref_attr_name);
      if (bound == call.attributes.end()) continue;  // neither given nor defaulted: omitted
      copies.push_back(*bound->second);
      Charge(0, AttributeBytes(*bound->second));
      copies.back().name = attribute.name;
      continue;
    }
    copies.push_back(attribute);
    Charge(0, AttributeBytes(attribute));
    if (auto* graph = std::get_if<std::shared_ptr<const GraphDef>>(&copies.back().data)) {
      *graph = std::make_shared<GraphDef>(Instantiate(**graph, call));
    } else if (auto* list = std::get_if<std::vector<std::shared_ptr<const GraphDef>>>(&copies.back().data)) {
      for (auto& item : *list) item = std::make_shared<GraphDef>(Instantiate(*item, call));
    }
  }
  return copies;
}

GraphDef FunctionInliner::Instantiate(const GraphDef& graph, Call& call) {
  GraphDef copy;
  copy.name = graph.name;
  copy.doc_string = graph.doc_string;
  copy.initializers = graph.initializers;
  for (InitializerDef& initializer : copy.initializers) initializer.name = Rename(initializer.name, call);
  const auto rename_all = [&](const std::vector<ValueInfoDef>& from, std::vector<ValueInfoDef>& to) {
    to = from;
    for (ValueInfoDef& info : to) info.name = Rename(info.name, call);
  };
  rename_all(graph.inputs, copy.inputs);
  rename_all(graph.outputs, copy.outputs);
  rename_all(graph.value_info, copy.value_info);
  copy.nodes.reserve(graph.nodes.size());
  for (const NodeDef& node : graph.nodes) copy.nodes.push_back(Instantiate(node, call));
  return copy;
}

std::string FunctionInliner::Rename(const std::string& name, Call& call) {
  if (name.empty()) return name;
  auto [place, is_new] = call.names.try_emplace(name);
  if (is_new) place->second = Unique(call.prefix + name);
  return place->second;
}

std::string FunctionInliner::Unique(std::string name) {
  Charge(0, name.size());
  if (names_.insert(name).second) return name;
  for (int& n = suffixes_[name];;) {
    std::string candidate = name + "_" + std::to_string(++n);
    if (names_.insert(candidate).second) return candidate;
  }
}

}  // namespace light
