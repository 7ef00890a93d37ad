// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "light/graph.h"
#include "light/tensor.h"

namespace ort_plugin {

/// One argument of a node as the host knows it ahead of a run.
struct ArgumentDescription {
  bool is_present = false;  ///< false: the node leaves it out
  light::ValueType type;    ///< unknown if it is no tensor or the host does not know
  std::optional<light::Tensor> constant;
};

/// One node of ONNX's operators, wherever it stands.
struct NodeDescription {
  std::string name;
  std::string domain;  ///< of the operator in ONNX: "" or another of ONNX's domains
  std::string op_type;
  int since_version = 0;  ///< of the schema
  std::vector<ArgumentDescription> inputs;
  std::vector<ArgumentDescription> outputs;
  std::vector<light::Attribute> attributes;

  /// For messages: `node 'name' (Relu)`.
  std::string Label() const;
};

/// True if an argument of the node is float16.
bool HasFloat16(const NodeDescription& node);

/// The schema at exactly that version, or nullptr if ONNX has none that is known here.
const light::OperatorSchema* FindSchema(const std::string& domain, const std::string& op_type, int since_version);

/// Makes a graph of the node alone: its present arguments are the graph's inputs, initializers and outputs.
/// Throws light::Error: no such schema, a rule of it that is broken, an output type that is not what the host knows.
std::shared_ptr<const light::Graph> MakeGraph(NodeDescription node);

}  // namespace ort_plugin
