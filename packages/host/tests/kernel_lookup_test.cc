// SPDX-License-Identifier: Apache-2.0
// Which kernel a node gets, in which words it is refused one, and what a session keeps of a registry.
#include "bridge/kernel_lookup.h"

#include "adapters/current_schemas.h"
#include "adapters/op_schema.h"
#include "check.h"
#include "light/graph_builder.h"

namespace {

using namespace ort_host;
using light::Attribute;
using light::ElementType;
using light::GraphDef;
using light::ModelDef;
using light::NodeDef;
using light::TypeSet;
using light::ValueType;

constexpr const char* kProvider = "TestExecutionProvider";

NodeDef NodeOf(const std::string& op_type, std::vector<std::string> inputs, const std::string& domain = "") {
  NodeDef node;
  node.op_type = op_type;
  node.domain = domain;
  node.inputs = std::move(inputs);
  node.outputs = {"y"};
  return node;
}

std::shared_ptr<const light::Graph> GraphOf(NodeDef node, std::vector<std::pair<std::string, ElementType>> inputs,
                                            const light::SchemaSet& schemas = light::OnnxSchemas()) {
  ModelDef model;
  model.ir_version = 8;
  model.opset_imports = {{"", 17}, {"test", 1}};
  model.graph.name = "graph";
  for (const auto& [name, type] : inputs) model.graph.inputs.push_back({name, ValueType::Tensor(type)});
  model.graph.nodes.push_back(std::move(node));
  model.graph.outputs.push_back({"y", {}});
  return light::GraphBuilder(schemas).Build(std::move(model));
}

std::shared_ptr<const light::Graph> Relu(ElementType type = ElementType::kFloat) {
  return GraphOf(NodeOf("Relu", {"x"}), {{"x", type}});
}

/// Arguments of any type each, so that ONNX's rule that they share one does not hide what is looked at.
light::OperatorSchema Mixed() {
  light::OperatorSchema schema;
  schema.domain = "test";
  schema.name = "Mixed";
  schema.source = "/lib/mixed.so";
  schema.max_inputs = INT_MAX;
  schema.min_outputs = schema.max_outputs = 1;
  schema.type_parameters = {{"V", TypeSet::AllTensors()}, {"tensor(float)", TypeSet::Tensors({ElementType::kFloat})}};
  schema.inputs.push_back({"values", 0, light::FormalParameter::Option::kVariadic, false, 1});
  schema.outputs.push_back({"result", 1});
  return schema;
}

KernelDefinition For(const std::string& op_type, int since, int until) {
  KernelDefinition definition;
  definition.op_type = op_type;
  definition.provider = kProvider;
  definition.since = since;
  definition.until = until;
  return definition;
}

KernelDefinition For(const std::string& op_type, int since, int until, const std::string& parameter,
                     std::initializer_list<ElementType> types) {
  KernelDefinition definition = For(op_type, since, until);
  definition.constraints.push_back({parameter, TypeSet::Tensors(types)});
  return definition;
}

OrtStatus* Create(void*, const OrtKernelInfo*, OrtKernelImpl**) { return nullptr; }

std::unique_ptr<KernelRegistryAdapter> RegistryOf(const std::vector<KernelDefinition>& definitions) {
  auto registry = std::make_unique<KernelRegistryAdapter>();
  for (const KernelDefinition& definition : definitions) registry->Add(definition, Create, nullptr);
  return registry;
}

/// Why the graph's only node gets none of the kernels; "" if it gets one.
std::string WhyNot(const light::Graph& graph, const std::vector<KernelDefinition>& definitions) {
  const auto registry = RegistryOf(definitions);
  std::string why;
  const auto* found = FindRegisteredKernel(*registry, kProvider, graph, graph.nodes().front(), &why);
  CHECK(FindRegisteredKernel(*registry, kProvider, graph, graph.nodes().front(), nullptr) == found);
  CHECK((found == nullptr) == !why.empty());
  return why;
}

void SaysWhatTheNearestKernelLacks() {
  const auto relu = Relu();
  CHECK(WhyNot(*relu, {For("Relu", 14, 14)}) == "");
  CHECK(WhyNot(*relu, {}) == "no kernel is registered for Relu");
  CHECK(WhyNot(*relu, {For("Abs", 14, 14)}) == "no kernel is registered for Relu");

  KernelDefinition elsewhere = For("Relu", 14, 14);
  elsewhere.domain = "test";
  CHECK(WhyNot(*relu, {elsewhere}) == "the kernel for Relu is for domain 'test'");
  elsewhere.domain = "ai.onnx";
  CHECK(WhyNot(*relu, {elsewhere}) == "");

  KernelDefinition foreign = For("Relu", 14, 14);
  foreign.provider = "X";
  CHECK(WhyNot(*relu, {foreign}) == "the definition names provider 'X'");

  CHECK(WhyNot(*relu, {For("Relu", 6, 13)}) == "version 14 is outside 6 to 13");
  CHECK(WhyNot(*relu, {For("Relu", 15, 20)}) == "version 14 is outside 15 to 20");
  CHECK(WhyNot(*relu, {For("Relu", 6, INT_MAX)}) ==
        "version 14 is not 6; without an end a definition is for its start alone");
  CHECK(WhyNot(*relu, {For("Relu", 14, INT_MAX)}) == "");

  CHECK(WhyNot(*Relu(ElementType::kInt32), {For("Relu", 14, 14, "T", {ElementType::kFloat})}) ==
        "T is tensor(int32), the kernel takes tensor(float)");
  CHECK(WhyNot(*relu, {For("Relu", 14, 14, "T", {ElementType::kDouble, ElementType::kInt8})}) ==
        "T is tensor(float), the kernel takes tensor(int8), tensor(double)");
  CHECK(WhyNot(*relu, {For("Relu", 14, 14, "T2", {ElementType::kFloat})}) == "'T2' is no type parameter of Relu");

  KernelDefinition strange = For("Relu", 14, 14);
  strange.output_memory.emplace(3, static_cast<OrtMemType>(7));
  CHECK(WhyNot(*relu, {strange}) == "memory type 7 of output 3 does not exist");
}

void TheNearestMissIsTold() {
  KernelDefinition foreign = For("Relu", 14, 14);
  foreign.provider = "X";
  const KernelDefinition old = For("Relu", 6, 13);
  const KernelDefinition older = For("Relu", 1, 5);
  const KernelDefinition typed = For("Relu", 14, 14, "T", {ElementType::kDouble});
  CHECK(WhyNot(*Relu(), {foreign, typed, old}) == "T is tensor(float), the kernel takes tensor(double)");
  CHECK(WhyNot(*Relu(), {foreign, old}) == "version 14 is outside 6 to 13");
  CHECK(WhyNot(*Relu(), {older, old}) == "version 14 is outside 1 to 5");
}

void EveryArgumentOfAParameterIsMatched() {
  light::SchemaSet schemas(&light::OnnxSchemas());
  schemas.Add(Mixed());
  const auto mixed =
      GraphOf(NodeOf("Mixed", {"a", "b"}, "test"), {{"a", ElementType::kFloat}, {"b", ElementType::kInt64}}, schemas);
  const auto miss = [&](std::initializer_list<ElementType> types) {
    KernelDefinition definition = For("Mixed", 1, 1, "V", types);
    definition.domain = "test";
    return WhyNot(*mixed, {definition});
  };
  CHECK(miss({ElementType::kFloat, ElementType::kInt64}) == "");
  CHECK(Contains(miss({ElementType::kFloat}), "V is tensor(int64), the kernel takes tensor(float)"));
  CHECK(Contains(miss({ElementType::kInt64}), "V is tensor(float), the kernel takes tensor(int64)"));
}

void ANodeWithSubgraphsGetsNone() {
  auto body = std::make_shared<GraphDef>();
  body->name = "body";
  NodeDef inner = NodeOf("Relu", {"x"});
  inner.outputs = {"z"};
  body->nodes.push_back(std::move(inner));
  body->outputs.push_back({"z", {}});
  NodeDef node = NodeOf("If", {"c"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    Attribute attribute;
    attribute.name = branch;
    attribute.kind = light::AttributeKind::kGraph;
    attribute.data = std::shared_ptr<const GraphDef>(body);
    node.attributes.push_back(std::move(attribute));
  }
  const auto graph = GraphOf(std::move(node), {{"c", ElementType::kBool}, {"x", ElementType::kFloat}});
  CHECK(WhyNot(*graph, {For("If", 16, 16)}) == "a node with subgraphs runs on no kernel of a library");
}

void TheCopyKeepsOrderFunctionAndState() {
  int states[2];
  auto original = std::make_unique<KernelRegistryAdapter>();
  KernelDefinition twice = For("Relu", 14, 14);
  twice.input_memory.emplace(0, OrtMemTypeCPUInput);
  original->Add(twice, Create, &states[0]);
  original->Add(twice, Create, &states[1]);
  const std::unique_ptr<KernelRegistryAdapter> copy = original->Copy();
  original.reset();
  CHECK(copy->kernels().size() == 2);
  const auto graph = Relu();
  const auto* found = FindRegisteredKernel(*copy, kProvider, *graph, graph->nodes().front(), nullptr);
  CHECK(found == &copy->kernels().front() && found->create == Create && found->state == &states[0]);
  CHECK(found->definition.definition().input_memory.at(0) == OrtMemTypeCPUInput);
}

void AConflictNamesBothDefinitions() {
  const auto registry = RegistryOf({For("Relu", 6, 13)});
  const auto error = CHECK_THROWS(ort_abi::StatusError, registry->Add(For("Relu", 13, 14), Create, nullptr));
  CHECK(error.code() == ORT_FAIL);
  CHECK(Contains(error.what(), "Relu (versions 13 to 14) of provider 'TestExecutionProvider'"));
  CHECK(Contains(error.what(), "Relu (versions 6 to 13)"));
  CHECK(registry->kernels().size() == 1);
}

void SchemasOfASessionAreCurrentWhileAScopeLives() {
  auto schemas = std::make_unique<light::SchemaSet>(&light::OnnxSchemas());
  schemas->Add(Mixed());
  CHECK(CurrentSchemas::Get().Find("test", "Mixed", 1) == nullptr);
  std::unique_ptr<OpSchemaAdapter> kept;
  {
    const CurrentSchemas outer(*schemas);
    {
      const CurrentSchemas inner(light::OnnxSchemas());
      CHECK(CurrentSchemas::Get().Find("test", "Mixed", 1) == nullptr);
    }
    CHECK(CurrentSchemas::Get().Find("", "Relu", 14) != nullptr);
    kept = std::make_unique<OpSchemaAdapter>(*CurrentSchemas::Get().Find("test", "Mixed", 1));
  }
  CHECK(CurrentSchemas::Get().Find("test", "Mixed", 1) == nullptr);
  schemas.reset();  // the library keeps its handle longer than the session lives
  CHECK(kept->schema().inputs.front().name == "values");
  CHECK(kept->ConstraintOf(kept->schema().inputs.front())->name() == "V");
}

}  // namespace

int main() {
  SaysWhatTheNearestKernelLacks();
  TheNearestMissIsTold();
  EveryArgumentOfAParameterIsMatched();
  ANodeWithSubgraphsGetsNone();
  TheCopyKeepsOrderFunctionAndState();
  AConflictNamesBothDefinitions();
  SchemasOfASessionAreCurrentWhileAScopeLives();
  return 0;
}
