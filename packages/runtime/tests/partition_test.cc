// SPDX-License-Identifier: Apache-2.0
// Partitions: what is refused, boundaries, and a provider that compiles.
#include "check.h"
#include "light/error.h"
#include "toy_operators.h"

namespace toy {
namespace {

/// Runs its nodes as one toy: every node must be Increment, so the result is x plus the number of nodes.
class AddCount final : public Partition {
 public:
  explicit AddCount(std::size_t count) : count_(static_cast<float>(count)) { ++live; }
  ~AddCount() override { --live; }
  void Run(RuntimeContext& context) override {
    const Tensor& x = *context.Input(0);
    Tensor& y = context.Output(0, x.dims());
    for (int64_t i = 0; i < x.element_count(); ++i) y.Data<float>()[i] = x.Data<float>()[i] + count_;
  }
  static inline int live = 0;

 private:
  float count_;
};

class ToyProvider final : public ExecutionProvider {
 public:
  explicit ToyProvider(std::vector<PartitionProposal> proposals) : proposals_(std::move(proposals)) {}
  const std::string& name() const noexcept override { return name_; }
  Proposals Propose(const GraphOffer&) override { return {proposals_, wants}; }
  std::string WhyNot(const GraphOffer&, const Node&) override { return "not wanted"; }
  const KernelEntry* FindKernel(const Graph&, const Node&, std::string* why) override {
    *why = "the provider has no kernels";
    return nullptr;
  }
  std::vector<std::unique_ptr<Partition>> Compile(const GraphOffer&,
                                                  const std::vector<PartitionShape>& shapes) override {
    std::vector<std::unique_ptr<Partition>> made;
    for (const PartitionShape& shape : shapes) made.push_back(std::make_unique<AddCount>(shape.nodes.size()));
    return made;
  }
  std::vector<NodeId> wants;

 private:
  std::string name_ = "ToyExecutionProvider";
  std::vector<PartitionProposal> proposals_;
};

/// x -> n0 -> a -> n1 -> b -> n2 -> c -> n3 -> y, and n4 reads a and c.
ModelDef Diamond() {
  ModelWriter writer;
  writer.Input("x").Node("Increment", {"x"}, {"a"}).Node("Increment", {"a"}, {"b"}).Node("Increment", {"b"}, {"c"});
  return writer.Node("Increment", {"c"}, {"y"}).Node("Sum", {"a", "c"}, {"z"}).Output("y").Output("z").Take();
}

/// The graph by itself: no provider has anything of it.
std::vector<PartitionShape> Validate(const Graph& graph, std::vector<PartitionProposal> proposals) {
  return ValidatePartitions({graph, Assignment()}, std::move(proposals));
}

std::string Refusal(const Graph& graph, std::vector<PartitionProposal> proposals) {
  return CHECK_THROWS(Error, Validate(graph, std::move(proposals))).what();
}

void BadProposalsAreRefusedByName(const Graph& graph) {
  CHECK(Contains(Refusal(graph, {{"p", {}}}), "partition 'p': has no nodes"));
  CHECK(Contains(Refusal(graph, {{"p", {9}}}), "node id 9 is not in the graph, which has 5 nodes"));
  CHECK(Contains(Refusal(graph, {{"p", {1, 1}}}), "'n1' (toy.Increment) is listed twice"));
  CHECK(Contains(Refusal(graph, {{"p", {0, 1}}, {"q", {1, 2}}}), "'n1' (toy.Increment) is already in partition 'p'"));
  CHECK(Contains(Refusal(graph, {{"p", {0, 2}}}),
                 "'n0' (toy.Increment) -> 'n1' (toy.Increment) -> 'n2' (toy.Increment)"));
  CHECK(Contains(Refusal(graph, {{"p", {0, 4}}}), "depends on itself through nodes outside it"));
  // Each is fine alone; together they wait for each other.
  CHECK(Contains(Refusal(graph, {{"p", {0, 3}}, {"q", {1, 2}}}), "partition 'p': depends on itself"));
}

/// No node of a group reaches that group again, but the groups wait for each other.
void GroupsThatFeedEachOtherAreRefused(const Operators& operators) {
  ModelWriter writer;
  writer.Input("x").Node("Increment", {"x"}, {"a"}).Node("Increment", {"a"}, {"y"});
  writer.Input("u").Node("Increment", {"u"}, {"b"}).Node("Increment", {"b"}, {"z"});
  const auto graph = GraphBuilder(operators.schemas).Build(writer.Output("y").Output("z").Take());
  CHECK(Contains(Refusal(*graph, {{"p", {0, 3}}, {"q", {1, 2}}}),
                 "'n0' (toy.Increment) -> 'n1' (toy.Increment) with 'n2' (toy.Increment) -> 'n3' (toy.Increment)"));
}

void BrokenGroupsAreSplitOrDropped(const Graph& graph) {
  const auto nodes = [](const std::vector<PartitionProposal>& groups) {
    std::vector<std::vector<NodeId>> all;
    for (const PartitionProposal& group : groups) all.push_back(group.nodes);
    return all;
  };
  using Groups = std::vector<std::vector<NodeId>>;
  std::vector<std::string> notes;
  CHECK((nodes(MendGroups(graph, {{"p", {0, 2, 3}}}, BrokenGroups::kSplit, notes)) == Groups{{0}, {2, 3}}));
  CHECK(notes.size() == 1 && Contains(notes[0], "partition 'p' depends on itself") && Contains(notes[0], "into 2"));
  // What does not depend on the group from outside stays with its first part.
  CHECK((nodes(MendGroups(graph, {{"p", {4, 1, 0}}}, BrokenGroups::kSplit, notes)) == Groups{{0, 1}, {4}}));
  CHECK((nodes(MendGroups(graph, {{"p", {0, 1, 2, 4}}}, BrokenGroups::kSplit, notes)) == Groups{{0, 1, 2, 4}}));
  CHECK(MendGroups(graph, {{"p", {0, 2}}}, BrokenGroups::kDrop, notes).empty());
  CHECK(MendGroups(graph, {{"p", {0, 2}}}, BrokenGroups::kRefuse, notes).size() == 1);
  CHECK(notes.size() == 3);
  const auto parts = MendGroups(graph, {{"p", {0, 2}, true}}, BrokenGroups::kSplit, notes);
  CHECK(parts[0].name == "p_0" && parts[1].name == "p_1" && parts[1].drop_constant_initializers);
}

void BoundariesAreInOrder(const Graph& graph) {
  const auto shapes = Validate(graph, {{"p", {2, 1}}, {"q", {4}}});
  const auto name = [&](ValueId id) { return graph.value(id).name; };
  CHECK((shapes[0].nodes == std::vector<NodeId>{1, 2}));
  CHECK(shapes[0].inputs.size() == 1 && name(shapes[0].inputs[0]) == "a");
  CHECK(shapes[0].outputs.size() == 1 && name(shapes[0].outputs[0]) == "c");
  CHECK(shapes[1].inputs.size() == 2 && name(shapes[1].inputs[0]) == "a" && name(shapes[1].inputs[1]) == "c");
  CHECK(name(shapes[1].outputs[0]) == "z");
}

void ConstantsMayBeDropped(const Operators& operators) {
  ModelWriter writer;
  writer.Input("x").Initializer("w", Floats({1})).Node("Sum", {"x", "w"}, {"y"});
  const auto graph = GraphBuilder(operators.schemas).Build(writer.Output("y").Take());
  PartitionProposal proposal{"p", {0}};
  CHECK(Validate(*graph, {proposal})[0].inputs.size() == 2);
  proposal.drop_constant_initializers = true;
  const auto shape = Validate(*graph, {proposal})[0];
  CHECK(shape.inputs.size() == 1 && shape.constants.size() == 1);
}

void CompiledPartitionsRunAmongNativeNodes(const Operators& operators) {
  ToyProvider provider({{"middle", {1, 2}, false}});
  SessionConfig config;
  config.schemas = &operators.schemas;
  config.sources.native = &operators.kernels;
  config.sources.providers = {&provider};
  {
    Session session(Diamond(), config);
    CHECK(AddCount::live == 1);
    const auto outputs = session.Run({Floats({1, 2})});
    CHECK((Read(outputs[0]) == std::vector<float>{5, 6}));
    CHECK((Read(outputs[1]) == std::vector<float>{6, 8}));
    const auto& nodes = session.program().assignment().nodes;
    CHECK(nodes[1].provider == "ToyExecutionProvider" && nodes[1].partition == 0 && nodes[1].kernel == "middle");
    CHECK(nodes[0].provider == "CPUExecutionProvider" && nodes[0].kernel == "toy::Increment");
  }
  CHECK(AddCount::live == 0);
}

void NodesWithoutAKernelAreAnErrorOfTheProvider(const Operators& operators) {
  ToyProvider provider({});
  provider.wants = {1};
  SessionConfig config;
  config.schemas = &operators.schemas;
  config.sources.native = &operators.kernels;
  config.sources.providers = {&provider};
  const Error error = CHECK_THROWS(Error, Session(Diamond(), config));
  CHECK(error.code() == ErrorCode::kNotImplemented);
  CHECK(
      Contains(error.what(), "ToyExecutionProvider: asks for node 'n1' (toy.Increment) of version 1 without a kernel"));
}

}  // namespace
}  // namespace toy

int main() {
  toy::Operators operators;
  operators.Add("Increment", 1, 1, toy::Increment, {}, toy::SameShape);
  operators.Add("Sum", 2, 1, toy::Sum, {}, toy::SameShape);
  const auto graph = light::GraphBuilder(operators.schemas).Build(toy::Diamond());
  toy::BadProposalsAreRefusedByName(*graph);
  toy::BrokenGroupsAreSplitOrDropped(*graph);
  toy::BoundariesAreInOrder(*graph);
  toy::GroupsThatFeedEachOtherAreRefused(operators);
  toy::ConstantsMayBeDropped(operators);
  toy::CompiledPartitionsRunAmongNativeNodes(operators);
  toy::NodesWithoutAKernelAreAnErrorOfTheProvider(operators);
  return 0;
}
