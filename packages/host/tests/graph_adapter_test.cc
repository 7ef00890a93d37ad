// SPDX-License-Identifier: Apache-2.0
// What a fused group shows of itself, and values that come from graphs further out.
#include "adapters/graph.h"

#include <algorithm>

#include "check.h"
#include "light/assignment.h"
#include "light/graph_builder.h"

namespace {

using namespace ort_host;
using light::ElementType;
using light::GraphDef;
using light::NodeDef;
using light::ValueType;

constexpr const char* kProvider = "TestExecutionProvider";
const std::string kPath = "folder/m.onnx";

NodeDef NodeOf(const std::string& op_type, std::vector<std::string> inputs, const std::string& output) {
  NodeDef node;
  node.name = output + "_node";
  node.op_type = op_type;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  return node;
}

light::InitializerDef Initializer(const std::string& name, float element) {
  light::Tensor tensor = light::Tensor::Allocate(ElementType::kFloat, {});
  *tensor.Data<float>() = element;
  return {name, std::move(tensor), nullptr};
}

light::ValueInfoDef Float(const std::string& name) { return {name, ValueType::Tensor(ElementType::kFloat)}; }

/// a = -x; b = a + W; c = b * V; y = c + k, k being a Constant node; W an input with a default. Outputs b and y.
GraphDef Chain() {
  GraphDef graph;
  graph.name = "chain";
  graph.inputs = {Float("W"), Float("x")};
  graph.initializers = {Initializer("W", 1), Initializer("V", 2)};
  NodeDef constant = NodeOf("Constant", {}, "k");
  light::Attribute value;
  value.name = "value_float";
  value.kind = light::AttributeKind::kFloat;
  value.data = 2.5f;
  constant.attributes.push_back(std::move(value));
  graph.nodes = {NodeOf("Neg", {"x"}, "a"), NodeOf("Add", {"a", "W"}, "b"), NodeOf("Mul", {"b", "V"}, "c"),
                 std::move(constant), NodeOf("Add", {"c", "k"}, "y")};
  graph.outputs = {Float("b"), Float("y")};
  return graph;
}

std::shared_ptr<const light::Graph> Build(GraphDef graph, int ir_version = 8) {
  light::ModelDef model;
  model.ir_version = ir_version;
  model.opset_imports = {{"", 17}};
  model.graph = std::move(graph);
  return light::GraphBuilder(light::OnnxSchemas()).Build(std::move(model));
}

/// A graph as it is offered while nobody has a node.
struct Offered {
  explicit Offered(std::shared_ptr<const light::Graph> offered) : graph(std::move(offered)) {
    assignment.nodes.resize(graph->nodes().size());
    assignment.bodies.resize(graph->nodes().size());
  }
  light::GraphOffer offer() const { return {*graph, assignment}; }

  std::shared_ptr<const light::Graph> graph;
  light::Assignment assignment;
};

light::NodeId Producer(const light::Graph& graph, const std::string& value) {
  for (const light::GraphValue& candidate : graph.values()) {
    if (candidate.name == value) return candidate.producer;
  }
  return light::kNoNode;
}

std::string Names(const GraphAdapter& graph, const std::vector<light::ValueId>& ids) {
  std::string text;
  for (const light::ValueId id : ids) text += (text.empty() ? "" : " ") + graph.value(id)->value().name;
  return text;
}

const ValueInfoAdapter& Value(const GraphAdapter& graph, const std::string& name) {
  for (light::ValueId id = 0; id < graph.graph().values().size(); ++id) {
    if (graph.graph().value(id).name == name && graph.value(id) != nullptr) return *graph.value(id);
  }
  std::abort();
}

/// The flags that are set: required, optional, output, constant, outer.
std::string Flags(const ValueInfoAdapter& value) {
  std::string flags;
  if (value.is_required_input()) flags += 'r';
  if (value.is_optional_input()) flags += 'o';
  if (value.is_output()) flags += 'g';
  if (value.is_constant()) flags += 'c';
  if (value.is_from_outer_scope()) flags += 's';
  return flags;
}

/// The step of these nodes, by what they produce.
light::PartitionShape ShapeOf(const light::Graph& graph, const std::vector<std::string>& values, bool drop) {
  light::PartitionProposal proposal;
  proposal.name = "group";
  proposal.drop_constant_initializers = drop;
  for (const std::string& value : values) proposal.nodes.push_back(Producer(graph, value));
  return std::move(light::ValidatePartitions({graph, light::Assignment()}, {std::move(proposal)}).front());
}

void AFusedGroupHasTheBorderOfItsStep() {
  const Offered offered(Build(Chain()));
  const light::GraphOffer offer = offered.offer();
  const light::PartitionShape shape = ShapeOf(*offered.graph, {"c", "b", "y"}, false);
  const auto fused = GraphAdapter::MakeFused(offer, kPath, "group_0", shape);
  CHECK(fused->name() == "group_0");
  CHECK(fused->model_path() == kPath);
  CHECK(fused->parent() == nullptr);
  CHECK(!fused->is_view());
  CHECK(fused->inputs() == shape.inputs);
  CHECK(Names(*fused, fused->inputs()) == "a W V k");
  CHECK(Names(*fused, fused->outputs()) == "b y");
  CHECK(Names(*fused, fused->initializers()) == "W V k");
  CHECK(fused->nodes().size() == 3);
  CHECK(Flags(Value(*fused, "a")) == "r");
  CHECK(Flags(Value(*fused, "W")) == "o");
  CHECK(Flags(Value(*fused, "V")) == "oc");
  CHECK(Flags(Value(*fused, "k")) == "oc");
  CHECK(Flags(Value(*fused, "b")) == "g");
  CHECK(Flags(Value(*fused, "c")).empty());
  CHECK(Value(*fused, "a").producer() == nullptr);
  CHECK(Value(*fused, "c").producer() == &fused->nodes()[1]);
  CHECK(*Value(*fused, "k").initializer()->tensor()->Data<float>() == 2.5f);
}

void DroppedConstantsAreReadAllTheSame() {
  const Offered offered(Build(Chain()));
  const light::GraphOffer offer = offered.offer();
  const auto fused = GraphAdapter::MakeFused(offer, kPath, "g", ShapeOf(*offered.graph, {"b", "c"}, true));
  CHECK(Names(*fused, fused->inputs()) == "a W");
  CHECK(Names(*fused, fused->initializers()) == "W V");
  CHECK(Flags(Value(*fused, "V")) == "c");
  CHECK(*Value(*fused, "V").initializer()->tensor()->Data<float>() == 2);
}

void ConstantsOfOldModelsAreNoOptionalInputs() {
  const Offered offered(Build(Chain(), 3));
  const light::GraphOffer offer = offered.offer();
  const auto fused = GraphAdapter::MakeFused(offer, kPath, "g", ShapeOf(*offered.graph, {"b", "c"}, false));
  CHECK(Names(*fused, fused->inputs()) == "a W V");
  CHECK(Flags(Value(*fused, "W")) == "c");
  CHECK(Flags(Value(*fused, "V")) == "c");
}

/// An If whose branches are the body.
NodeDef IfOf(std::shared_ptr<const GraphDef> body, const std::string& output) {
  NodeDef node = NodeOf("If", {"cond"}, output);
  for (const char* name : {"then_branch", "else_branch"}) {
    light::Attribute attribute;
    attribute.name = name;
    attribute.kind = light::AttributeKind::kGraph;
    attribute.data = body;
    node.attributes.push_back(std::move(attribute));
  }
  return node;
}

/// Two Ifs, one in the other; the inner body reads x, W, V and k of the main graph.
GraphDef Nested() {
  GraphDef inner;
  inner.name = "inner";
  inner.nodes = {NodeOf("Add", {"x", "W"}, "p"), NodeOf("Mul", {"p", "V"}, "q"), NodeOf("Sub", {"q", "k"}, "r")};
  inner.outputs = {Float("r")};
  GraphDef middle;
  middle.name = "middle";
  middle.nodes = {IfOf(std::make_shared<GraphDef>(std::move(inner)), "s")};
  middle.outputs = {Float("s")};
  GraphDef graph = Chain();
  graph.inputs.push_back({"cond", ValueType::Tensor(ElementType::kBool)});
  graph.nodes.push_back(IfOf(std::make_shared<GraphDef>(std::move(middle)), "z"));
  graph.outputs.push_back(Float("z"));
  return graph;
}

void ValuesComeThroughTwoGraphs() {
  const Offered offered(Build(Nested()));
  const light::GraphOffer offer = offered.offer();
  const GraphAdapter graph(offer, kPath);
  const NodeAdapter& outer_if = *graph.FindNode(Producer(*offered.graph, "z"));
  const GraphAdapter& middle = outer_if.subgraph(0);
  const GraphAdapter& inner = middle.nodes().front().subgraph(1);
  CHECK(&outer_if.subgraph(0) == &middle);
  CHECK(inner.parent() == &middle.nodes().front());
  CHECK(&inner.main_graph() == offered.graph.get());
  CHECK(Flags(Value(inner, "x")) == "s");
  CHECK(Flags(Value(inner, "W")) == "os");
  CHECK(Flags(Value(inner, "V")) == "cs");
  CHECK(Flags(Value(inner, "k")) == "cs");
  CHECK(*Value(inner, "V").initializer()->tensor()->Data<float>() == 2);
  CHECK(*Value(inner, "k").initializer()->tensor()->Data<float>() == 2.5f);
  CHECK(Value(inner, "x").initializer() == nullptr);
}

void AGroupOfABodyTakesOuterConstantsAsInputs() {
  const Offered offered(Build(Nested()));
  const light::GraphOffer offer = offered.offer();
  const light::Node& outer_if = offered.graph->node(Producer(*offered.graph, "z"));
  const Offered middle(outer_if.subgraphs[0].graph);
  const light::GraphOffer middle_offer{*middle.graph, middle.assignment, &offer, outer_if.id};
  const Offered inner(middle.graph->nodes()[0].subgraphs[0].graph);
  const light::GraphOffer inner_offer{*inner.graph, inner.assignment, &middle_offer, 0};
  const auto fused = GraphAdapter::MakeFused(inner_offer, kPath, "g", ShapeOf(*inner.graph, {"p", "q", "r"}, false));
  CHECK(Names(*fused, fused->inputs()) == "x W V k");
  CHECK(fused->initializers().empty());
  CHECK(Flags(Value(*fused, "x")) == "rs");
  CHECK(Flags(Value(*fused, "W")) == "ros");
  CHECK(Flags(Value(*fused, "V")) == "rcs");
  CHECK(Flags(Value(*fused, "k")) == "rcs");

  // The body by itself: the node around it is read, and shows no graph.
  const GraphAdapter body(inner_offer, kPath);
  CHECK(body.parent()->node().name == "s_node");
  CHECK(body.parent()->graph().is_alone());
  CHECK(body.parent() == body.parent());
}

void ANodeSaysWhoHasIt() {
  Offered offered(Build(Nested()));
  const light::NodeId id = Producer(*offered.graph, "z");
  offered.assignment.nodes[id].provider = kProvider;
  const light::GraphOffer offer = offered.offer();
  const GraphAdapter graph(offer, kPath);
  CHECK(graph.FindNode(id)->provider() == kProvider);
  CHECK(graph.FindNode(Producer(*offered.graph, "a"))->provider().empty());
  // Nothing is known of the bodies of a node that somebody has.
  CHECK(graph.FindNode(id)->subgraph(0).nodes().front().provider().empty());
}

}  // namespace

int main() {
  AFusedGroupHasTheBorderOfItsStep();
  DroppedConstantsAreReadAllTheSame();
  ConstantsOfOldModelsAreNoOptionalInputs();
  ValuesComeThroughTwoGraphs();
  AGroupOfABodyTakesOuterConstantsAsInputs();
  ANodeSaysWhoHasIt();
  return 0;
}
