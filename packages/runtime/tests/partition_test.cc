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
  CHECK(Contains(Refusal(graph, {{"p", {0, 1}}, {"q", {1, 2}}}),
                 "'n1' (toy.Increment) is already in partition 'p' (`broken_groups` can split or drop"));
  CHECK(Contains(Refusal(graph, {{"p", {0, 2}}}),
                 "'n0' (toy.Increment) -> 'n1' (toy.Increment) -> 'n2' (toy.Increment)"));
  CHECK(Contains(Refusal(graph, {{"p", {0, 4}}}), "depends on itself through nodes outside it"));
  // Each is fine alone; together they wait for each other.
  CHECK(Contains(Refusal(graph, {{"p", {0, 3}}, {"q", {1, 2}}}), "partition 'p': depends on itself"));
}

/// No node of a group reaches that group again, but the groups wait for each other.
void GroupsThatFeedEachOtherAreRefused(const Graph& chains) {
  CHECK(Contains(Refusal(chains, {{"p", {0, 3}}, {"q", {1, 2}}}),
                 "'n0' (toy.Increment) -> 'n1' (toy.Increment) with 'n2' (toy.Increment) -> 'n3' (toy.Increment) "
                 "(`broken_groups` can split or drop such a group)"));
}

using Groups = std::vector<std::vector<NodeId>>;

struct Mended {
  Groups nodes;
  std::vector<PartitionProposal> groups;
  std::vector<std::string> notes;
};

Mended Mend(const Graph& graph, std::vector<PartitionProposal> groups, BrokenGroups policy,
            const std::vector<NodeId>& hidden = {}) {
  Mended mended;
  mended.groups = MendGroups(graph, std::move(groups), policy, hidden, mended.notes);
  for (const PartitionProposal& group : mended.groups) mended.nodes.push_back(group.nodes);
  return mended;
}

constexpr BrokenGroups kPolicies[] = {BrokenGroups::kRefuse, BrokenGroups::kSplit, BrokenGroups::kDrop};

void BrokenGroupsAreSplitOrDropped(const Graph& graph) {
  const Mended split = Mend(graph, {{"p", {0, 2, 3}, true}}, BrokenGroups::kSplit);
  CHECK((split.nodes == Groups{{0}, {2, 3}}));
  CHECK(split.groups[0].name == "p_0" && split.groups[1].name == "p_1" && split.groups[1].drop_constant_initializers);
  CHECK(split.notes.size() == 1);
  CHECK(Contains(split.notes[0],
                 "partition 'p' depends on itself through nodes outside it and is split into 2: "
                 "'n0' (toy.Increment) -> 'n1' (toy.Increment) -> 'n2' (toy.Increment); its nodes: "));
  // What does not depend on the group from outside stays with its first part.
  CHECK((Mend(graph, {{"p", {4, 1, 0}}}, BrokenGroups::kSplit).nodes == Groups{{0, 1}, {4}}));
  const Mended drop = Mend(graph, {{"p", {0, 2}}, {"q", {1}}}, BrokenGroups::kDrop);
  CHECK((drop.nodes == Groups{{1}}));
  CHECK(drop.notes.size() == 1 && Contains(drop.notes[0], "is dropped: 'n0'"));
  CHECK(Mend(graph, {{"p", {0, 2}}}, BrokenGroups::kRefuse).notes.empty());
}

void SoundGroupsStayAsTheyAre(const Graph& graph) {
  for (const BrokenGroups policy : kPolicies) {
    const Mended mended = Mend(graph, {{"p", {3, 2}}, {"q", {0}}, {"r", {1}}}, policy);
    CHECK((mended.nodes == Groups{{3, 2}, {0}, {1}}) && mended.groups[0].name == "p" && mended.notes.empty());
    CHECK((Mend(graph, {{"p", {0, 1, 2, 4}}}, policy).nodes == Groups{{0, 1, 2, 4}}));
    CHECK(Mend(graph, {}, policy).nodes.empty());
  }
}

void GroupsThatShareNodesAreMended(const Graph& graph) {
  const std::vector<PartitionProposal> groups = {{"p", {0, 1}}, {"q", {1, 2}}, {"r", {0}}, {"s", {3}}};
  const Mended split = Mend(graph, groups, BrokenGroups::kSplit);
  CHECK((split.nodes == Groups{{0, 1}, {2}, {3}}));
  CHECK(split.notes.size() == 2);
  CHECK(Contains(split.notes[0], "partition 'q' goes on without nodes of others: 'n1' (toy.Increment) is in 'p'"));
  CHECK(Contains(split.notes[1], "'n0' (toy.Increment) is in 'p'"));
  const Mended drop = Mend(graph, groups, BrokenGroups::kDrop);
  CHECK((drop.nodes == Groups{{0, 1}, {3}}));
  CHECK(Contains(drop.notes[0], "partition 'q' is dropped, for it shares nodes of others: 'n1' (toy.Increment)"));
  // Without the shared node it is two parts.
  CHECK((Mend(graph, {{"p", {1}}, {"q", {0, 1, 2}}}, BrokenGroups::kSplit).nodes == Groups{{1}, {0}, {2}}));
}

/// x -> n0 -> a -> n1 -> y and u -> n2 -> b -> n3 -> z.
ModelDef TwoChains() {
  ModelWriter writer;
  writer.Input("x").Node("Increment", {"x"}, {"a"}).Node("Increment", {"a"}, {"y"});
  writer.Input("u").Node("Increment", {"u"}, {"b"}).Node("Increment", {"b"}, {"z"});
  return writer.Output("y").Output("z").Take();
}

void GroupsThatFeedEachOtherAreMended(const Graph& chains) {
  const std::vector<PartitionProposal> groups = {{"p", {0, 3}}, {"q", {1, 2}}};
  CHECK((Mend(chains, groups, BrokenGroups::kSplit).nodes == Groups{{0, 3}, {2}, {1}}));
  const Mended drop = Mend(chains, groups, BrokenGroups::kDrop);
  CHECK((drop.nodes == Groups{{0, 3}}));
  CHECK(Contains(drop.notes[0],
                 "partition 'q' depends on itself through nodes outside it and is dropped: "
                 "'n2' (toy.Increment) -> 'n3' (toy.Increment) with 'n0' (toy.Increment) -> "
                 "'n1' (toy.Increment)"));
}

/// Its provider could not know of the nodes in between.
void GroupsAreSplitAroundHiddenNodes(const Graph& graph) {
  for (const BrokenGroups policy : kPolicies) {
    const Mended mended = Mend(graph, {{"p", {0, 2, 3}}}, policy, {1});
    CHECK((mended.nodes == Groups{{0}, {2, 3}}));
    CHECK(mended.notes.size() == 1);
    CHECK(Contains(mended.notes[0],
                   "partition 'p' is split into 2 around nodes that the provider was not shown: "
                   "'n1' (toy.Increment); its nodes: 'n0'"));
    // Node 4 reads what node 2 makes: a circle that the provider closes with open eyes is judged by the policy.
    const Mended known = Mend(graph, {{"p", {0, 1, 4}}}, policy, {3});
    if (policy == BrokenGroups::kRefuse) CHECK((known.nodes == Groups{{0, 1, 4}}) && known.notes.empty());
    if (policy == BrokenGroups::kSplit) CHECK((known.nodes == Groups{{0, 1}, {4}}));
    if (policy == BrokenGroups::kDrop) CHECK(known.nodes.empty());
  }
}

/// x -> n0 -> a -> n1 -> b -> n2 -> y and u -> n3 -> c -> n4 -> z: with node 1 hidden, two groups wait for each other.
void HiddenNodesBetweenGroupsSplitTheLater(const Operators& operators) {
  ModelWriter writer;
  writer.Input("x").Node("Increment", {"x"}, {"a"}).Node("Increment", {"a"}, {"b"}).Node("Increment", {"b"}, {"y"});
  writer.Input("u").Node("Increment", {"u"}, {"c"}).Node("Increment", {"c"}, {"z"});
  const auto graph = GraphBuilder(operators.schemas).Build(writer.Output("y").Output("z").Take());
  for (const BrokenGroups policy : kPolicies) {
    const Mended mended = Mend(*graph, {{"p", {0, 4}}, {"q", {2, 3}}}, policy, {1});
    CHECK((mended.nodes == Groups{{0, 4}, {3}, {2}}));
    CHECK(
        Contains(mended.notes[0], "partition 'q' is split into 2 around nodes that the provider was not shown: 'n1'"));
    Validate(*graph, mended.groups);
  }
}

/// What is left of any wish can run, and of two wishes for a node the first has it.
void WhatIsMendedIsSound(const Graph& graph) {
  const auto members = [&](unsigned mask) {
    std::vector<NodeId> nodes;
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
      if (mask >> id & 1) nodes.push_back(id);
    }
    return nodes;
  };
  const unsigned all = 1u << graph.nodes().size();
  for (unsigned first = 1; first < all; ++first) {
    for (unsigned second = 1; second < all; ++second) {
      const std::vector<PartitionProposal> groups = {{"p", members(first)}, {"q", members(second)}};
      for (unsigned hidden = 0; hidden < all; ++hidden) {
        if ((hidden & (first | second)) != 0) continue;
        const Mended split = Mend(graph, groups, BrokenGroups::kSplit, members(hidden));
        Validate(graph, split.groups);
        std::size_t kept = 0;
        for (const auto& nodes : split.nodes) kept += nodes.size();
        CHECK(kept == members(first | second).size());
        Validate(graph, Mend(graph, groups, BrokenGroups::kDrop, members(hidden)).groups);
      }
    }
  }
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
  const auto chains = light::GraphBuilder(operators.schemas).Build(toy::TwoChains());
  toy::BrokenGroupsAreSplitOrDropped(*graph);
  toy::SoundGroupsStayAsTheyAre(*graph);
  toy::GroupsThatShareNodesAreMended(*graph);
  toy::GroupsThatFeedEachOtherAreMended(*chains);
  toy::GroupsAreSplitAroundHiddenNodes(*graph);
  toy::HiddenNodesBetweenGroupsSplitTheLater(operators);
  for (const auto& each : {graph.get(), chains.get()}) toy::WhatIsMendedIsSound(*each);
  toy::BoundariesAreInOrder(*graph);
  toy::GroupsThatFeedEachOtherAreRefused(*chains);
  toy::ConstantsMayBeDropped(operators);
  toy::CompiledPartitionsRunAmongNativeNodes(operators);
  toy::NodesWithoutAKernelAreAnErrorOfTheProvider(operators);
  return 0;
}
