// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "light/model_def.h"
#include "light/operator_schema.h"
#include "light/value_type.h"

namespace light {

class Graph;

using ValueId = uint32_t;
using NodeId = uint32_t;
inline constexpr ValueId kNoValue = std::numeric_limits<ValueId>::max();
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

/// A body of a control-flow node.
struct Subgraph {
  std::string attribute;
  std::shared_ptr<const Graph> graph;
};

/// One use of a value: argument `input` of node `node`, or a capture by it when `input` is past its inputs.
struct Use {
  NodeId node;
  uint32_t input;
};

struct Node {
  NodeId id = kNoNode;
  std::string name;
  std::string op_type;
  std::string domain;     ///< "" for ONNX
  int since_version = 0;  ///< of the schema that the node's own opset import selects
  const OperatorSchema* schema = nullptr;
  std::vector<ValueId> inputs;        ///< kNoValue where an optional argument is omitted
  std::vector<ValueId> outputs;       ///< kNoValue where an optional output is omitted
  std::vector<Attribute> attributes;  ///< as written, graphs excepted: those are in `subgraphs`
  std::vector<Subgraph> subgraphs;
  std::vector<ValueId> captures;  ///< values of this graph that the subgraphs use, in the order of Graph::captures()

  /// The attribute as written on the node, or nullptr.
  const Attribute* FindAttribute(std::string_view attribute) const noexcept;
  /// For messages: `'name' (domain.Op)` or, unnamed, `#7 (domain.Op)`.
  std::string Label() const;
};

struct GraphValue {
  enum class Origin : uint8_t { kInput, kInitializer, kNode, kCapture };

  std::string name;
  ValueType type;
  Origin origin = Origin::kNode;
  bool is_graph_output = false;
  bool is_overridable = false;  ///< an initializer that is also a graph input: a default, hence not constant
  NodeId producer = kNoNode;
  uint32_t output_index = 0;
  ValueId outer = kNoValue;  ///< of a capture: its id in the enclosing graph
  std::shared_ptr<const Tensor> initializer;
  std::shared_ptr<const ExternalData> external;
  std::vector<Use> uses;

  /// The tensor, if the value is a constant initializer, else nullptr.
  const Tensor* constant() const noexcept { return is_overridable ? nullptr : initializer.get(); }
};

/// A graph with names resolved to ids, functions inlined, types and shapes inferred. Immutable once built; safe to
/// read from any thread. Made by GraphBuilder and by nothing else. Nodes are in an order in which they can run.
class Graph {
 public:
  const std::string& name() const noexcept { return name_; }
  const std::string& doc_string() const noexcept { return doc_string_; }
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  const Node& node(NodeId id) const noexcept { return nodes_[id]; }
  const std::vector<GraphValue>& values() const noexcept { return values_; }
  const GraphValue& value(ValueId id) const noexcept { return values_[id]; }
  /// Inputs that a caller must or may feed, initializers with a default included, in the order of the model.
  const std::vector<ValueId>& inputs() const noexcept { return inputs_; }
  const std::vector<ValueId>& outputs() const noexcept { return outputs_; }
  const std::vector<ValueId>& initializers() const noexcept { return initializers_; }
  /// Values taken from the enclosing graph, empty for the main graph.
  const std::vector<ValueId>& captures() const noexcept { return captures_; }
  const ModelInfo& model() const noexcept { return *model_; }

 private:
  friend class GraphBuilder;
  std::string name_;
  std::string doc_string_;
  std::vector<Node> nodes_;
  std::vector<GraphValue> values_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<ValueId> initializers_;
  std::vector<ValueId> captures_;
  std::shared_ptr<const ModelInfo> model_;
};

}  // namespace light
