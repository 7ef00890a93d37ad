// SPDX-License-Identifier: Apache-2.0
#include "exec/step_builder.h"

#include <algorithm>

#include "exec/step_error.h"
#include "exec/units.h"
#include "fuse/fused_elementwise.h"
#include "fuse/fused_product.h"
#include "fuse/sibling_products.h"

namespace light {
namespace {

/// A partition is one kernel with many nodes behind it.
class PartitionKernel final : public KernelBase {
 public:
  explicit PartitionKernel(Partition& partition) : partition_(partition) {}
  void Run(RuntimeContext& context) override { partition_.Run(context); }

 private:
  Partition& partition_;
};

void FillTypes(const Graph& graph, Step& step) {
  // Trailing outputs that the node leaves out count too: a kernel may compute them all the same.
  std::size_t count = step.outputs.size();
  if (step.partition < 0) count = std::max(count, graph.node(step.node).schema->outputs.size());
  step.output_types.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId id = i < step.outputs.size() ? step.outputs[i] : kNoValue;
    ElementType type = ElementType::kUndefined;
    if (id != kNoValue) {
      type = graph.value(id).type.element;
    } else if (step.partition < 0) {
      // An omitted output that the kernel computes all the same takes the type that a sibling or the schema fixes.
      const Node& node = graph.node(step.node);
      const FormalParameter* formal = node.schema->OutputFormal(i);
      if (formal != nullptr && formal->type_parameter >= 0) {
        const auto& parameter = node.schema->type_parameters[static_cast<std::size_t>(formal->type_parameter)];
        type = parameter.allowed.Single().element;
        for (std::size_t k = 0; k < node.inputs.size() && type == ElementType::kUndefined; ++k) {
          const FormalParameter* input = node.schema->InputFormal(k);
          if (node.inputs[k] != kNoValue && input != nullptr && input->type_parameter == formal->type_parameter) {
            type = graph.value(node.inputs[k]).type.element;
          }
        }
      }
    }
    step.output_types.push_back(type);
    // A hosted kernel's host charges what it makes.
    step.makes_text |= type == ElementType::kString && id != kNoValue && !step.is_hosted;
  }
}

}  // namespace

std::string StepLabel(const Graph& graph, const Assignment& assignment, const Step& step) {
  if (step.partition < 0) return "node " + graph.node(step.node).Label();
  const AssignedPartition& part = assignment.partitions[static_cast<std::size_t>(step.partition)];
  return "partition '" + part.shape.proposal.name + "' of " + part.provider;
}

StepBuilder::StepBuilder(const Graph& graph, Assignment& assignment, ConstantTable& constants, Bodies& bodies,
                         const ProgramOptions& options)
    : graph_(graph),
      assignment_(assignment),
      constants_(constants),
      bodies_(bodies),
      options_(options),
      kernels_(graph.nodes().size()),
      is_computed_(graph.nodes().size()),
      fusion_of_(graph.nodes().size(), -1) {
  bodies_.resize(graph.nodes().size());
}

/// All nodes in an order in which they can run, those of a partition in one place.
std::vector<NodeId> StepBuilder::Order() const {
  std::vector<NodeId> order;
  order.reserve(graph_.nodes().size());
  if (assignment_.partitions.empty()) {
    for (const Node& node : graph_.nodes()) order.push_back(node.id);
    return order;
  }
  std::vector<uint32_t> unit_of(graph_.nodes().size());
  std::vector<std::vector<NodeId>> members;
  std::vector<uint32_t> unit_of_partition(assignment_.partitions.size(), ~uint32_t{0});
  for (const Node& node : graph_.nodes()) {
    const int partition = assignment_.nodes[node.id].partition;
    auto unit = static_cast<uint32_t>(members.size());
    if (partition >= 0) {
      uint32_t& known = unit_of_partition[static_cast<std::size_t>(partition)];
      if (known == ~uint32_t{0}) known = unit;
      unit = known;
    }
    if (unit == members.size()) members.emplace_back();
    unit_of[node.id] = unit;
    members[unit].push_back(node.id);
  }
  for (const uint32_t unit : OrderUnits(graph_, unit_of, static_cast<uint32_t>(members.size())))
    order.insert(order.end(), members[unit].begin(), members[unit].end());
  return order;
}

void StepBuilder::LowerBodies(const Node& node) {
  auto& assigned = assignment_.bodies[node.id];
  for (std::size_t i = 0; i < assigned.size(); ++i) {
    const auto& body = node.subgraphs[i].graph;
    ProgramOptions options = options_;
    options.captured.clear();
    for (const ValueId id : body->captures()) options.captured.push_back(constants_[body->value(id).outer]);
    bodies_[node.id].push_back(Program::Lower(body, std::move(assigned[i]), options));
  }
  assigned.clear();
}

std::unique_ptr<KernelBase> StepBuilder::MakeKernel(NodeId id, const Epilogue* epilogue) {
  const Node& node = graph_.node(id);
  try {
    LowerBodies(node);
    return assignment_.nodes[id].entry->make(KernelInfo(graph_, node, options_.budget, &constants_, bodies_[id],
                                                        epilogue, options_.kernels, LayoutsOf(node)));
  } catch (const std::exception&) {
    RethrowFrom("node " + node.Label());
  }
}

Layouts StepBuilder::LayoutsOf(const Node& node) const {
  const auto is_last = [this](const std::vector<ValueId>& values) {
    return !is_last_.empty() && !values.empty() && values[0] != kNoValue && is_last_[values[0]];
  };
  return {.input_last = is_last(node.inputs), .output_last = is_last(node.outputs)};
}

bool StepBuilder::ReadsConstantsAlone(const Node& node) const {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return id == kNoValue || constants_[id] != nullptr; });
}

/// Makes the kernels whose nodes may be computed now, and those that fusing asks about.
void StepBuilder::ComputeConstants(const std::vector<NodeId>& order) {
  for (const NodeId id : order) {
    const NodeAssignment& assigned = assignment_.nodes[id];
    if (assigned.partition >= 0) continue;
    const bool is_constant = ReadsConstantsAlone(graph_.node(id));
    if (!is_constant && !assigned.entry->registration.is_elementwise) continue;
    kernels_[id] = MakeKernel(id);
    if (!is_constant) continue;
    Step step = StepOfNode(id);
    if (FoldStep(graph_, assigned.entry->registration, step, constants_)) {
      assignment_.nodes[id].reason += "; computed at preparation";
      is_computed_[id] = true;
    } else {
      kernels_[id] = std::move(step.kernel);
    }
  }
}

void StepBuilder::Fuse(const std::vector<NodeId>& order) {
  std::vector<NodeId> left;
  std::vector<bool> taken(graph_.nodes().size());
  for (const NodeId id : order) {
    if (!is_computed_[id]) left.push_back(id);
  }
  const FusionScope scope{graph_, assignment_, constants_, kernels_, left};
  fusions_ = FindEpilogues(scope);
  JoinSiblings(scope, fusions_);
  for (const Fusion& fusion : fusions_)
    for (const NodeId id : fusion.nodes) taken[id] = true;
  for (Fusion& fusion : FindElementwiseGroups(scope, taken)) fusions_.push_back(std::move(fusion));
  is_last_ = FindChannelsLast(scope);
  for (const NodeId id : left) {
    if (LayoutsOf(graph_.node(id)).output_last) assignment_.nodes[id].reason += "; its result has its channels last";
  }
  for (std::size_t i = 0; i < fusions_.size(); ++i) {
    for (const NodeId id : fusions_[i].nodes) fusion_of_[id] = static_cast<int>(i);
    Explain(fusions_[i]);
  }
}

const Epilogue* StepBuilder::EpilogueOf(NodeId id) const {
  if (fusion_of_[id] < 0) return nullptr;
  const Fusion& fusion = fusions_[static_cast<std::size_t>(fusion_of_[id])];
  return fusion.kind == Fusion::Kind::kProduct && fusion.nodes[0] == id ? &fusion.epilogue : nullptr;
}

/// Kernels that have much to pack, on all threads.
void StepBuilder::MakeLargeAhead(const std::vector<NodeId>& order) {
  constexpr std::size_t kLarge = 32 << 10, kWorthIt = 256 << 10;  // bytes, of one node and of all
  if (options_.parallel == nullptr || options_.parallel->thread_count() < 2) return;
  std::vector<NodeId> large;
  std::size_t total = 0;
  for (const NodeId id : order) {
    const NodeAssignment& assigned = assignment_.nodes[id];
    const Node& node = graph_.node(id);
    if (is_computed_[id] || kernels_[id] != nullptr || assigned.partition >= 0 || !node.subgraphs.empty()) continue;
    // A library's kernels are made one after another, in their order.
    if (assigned.entry->registration.is_hosted) continue;
    std::size_t bytes = 0;
    for (const ValueId input : node.inputs) {
      if (input != kNoValue && constants_[input] != nullptr && constants_[input]->is_tensor())
        bytes += constants_[input]->tensor().byte_size();
    }
    if (bytes < kLarge) continue;
    large.push_back(id);
    total += bytes;
  }
  if (large.size() < 2 || total < kWorthIt) return;
  const double cost = static_cast<double>(total / large.size());  // about a nanosecond a byte
  options_.parallel->ParallelFor(static_cast<int64_t>(large.size()), cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const NodeId id = large[static_cast<std::size_t>(i)];
      try {
        kernels_[id] = MakeKernel(id, EpilogueOf(id));
      } catch (const std::exception&) {
        // Tried again in its turn, so that of several failures the first one is told.
      }
    }
  });
}

void StepBuilder::Explain(const Fusion& fusion) {
  constexpr std::size_t kMostNamed = 8;
  std::string others;
  std::size_t named = 0;
  for (const NodeId id : fusion.nodes) {
    if (id == fusion.lead()) continue;
    assignment_.nodes[id].reason += "; fused into " + graph_.node(fusion.lead()).Label();
    if (++named <= kMostNamed) others += (others.empty() ? "" : ", ") + graph_.node(id).op_type;
  }
  if (named > kMostNamed) others += " and " + std::to_string(named - kMostNamed) + " more";
  assignment_.nodes[fusion.lead()].reason += "; runs as one step with " + others;
}

Step StepBuilder::StepOfNode(NodeId id) {
  const Node& node = graph_.node(id);
  Step step;
  step.node = id;
  step.inputs = node.inputs;
  step.outputs = node.outputs;
  step.captures = node.captures;
  step.is_hosted = assignment_.nodes[id].entry->registration.is_hosted;
  FillTypes(graph_, step);
  step.kernel = kernels_[id] != nullptr ? std::move(kernels_[id]) : MakeKernel(id);
  return step;
}

Step StepBuilder::StepOfPartition(int partition) {
  AssignedPartition& part = assignment_.partitions[static_cast<std::size_t>(partition)];
  Step step;
  step.node = part.shape.nodes.front();
  step.partition = partition;
  step.inputs = part.shape.inputs;
  step.outputs = part.shape.outputs;
  step.is_hosted = true;
  FillTypes(graph_, step);
  try {
    part.partition->Prepare(options_.budget);
  } catch (const std::exception&) {
    RethrowFrom(StepLabel(graph_, assignment_, step));
  }
  step.kernel = std::make_unique<PartitionKernel>(*part.partition);
  return step;
}

Step StepBuilder::StepOfFusion(const Fusion& fusion) {
  Step step;
  step.node = fusion.lead();
  step.inputs = fusion.inputs;
  step.outputs = fusion.outputs;
  step.output_types.assign(fusion.outputs.size(), ElementType::kFloat);
  KernelRegistration& registration = fused_.emplace_back();
  std::vector<std::unique_ptr<KernelBase>> kernels;
  if (fusion.kind == Fusion::Kind::kProduct) {
    if (kernels_[fusion.nodes[0]] == nullptr) kernels_[fusion.nodes[0]] = MakeKernel(fusion.nodes[0], &fusion.epilogue);
    if (fusion.epilogue.bias_input < 0 && fusion.epilogue.residual_input < 0) {
      step.kernel = std::move(kernels_[fusion.nodes[0]]);
      return step;
    }
  }
  for (const NodeId id : fusion.nodes) {
    if (kernels_[id] == nullptr) kernels_[id] = MakeKernel(id);
    kernels.push_back(std::move(kernels_[id]));
  }
  if (fusion.kind == Fusion::Kind::kProduct) {
    step.kernel = std::make_unique<FusedProduct>(graph_, fusion, std::move(kernels));
  } else if (fusion.kind == Fusion::Kind::kSiblings) {
    step.kernel = std::make_unique<SiblingProducts>(graph_, fusion, std::move(kernels));
  } else {
    auto kernel = std::make_unique<FusedElementwise>(graph_, fusion, std::move(kernels));
    registration.may_inplace = kernel->may_inplace();
    step.kernel = std::move(kernel);
  }
  return step;
}

void StepBuilder::Add(Step step, const KernelRegistration* registration) {
  steps_.push_back(std::move(step));
  registrations_.push_back(registration);
}

std::vector<Step> StepBuilder::Build() {
  const std::vector<NodeId> order = Order();
  ComputeConstants(order);
  if (options_.fuse) Fuse(order);
  MakeLargeAhead(order);
  std::vector<std::size_t> nodes_left(fusions_.size());
  for (std::size_t i = 0; i < fusions_.size(); ++i) nodes_left[i] = fusions_[i].nodes.size();
  steps_.reserve(order.size());
  for (const NodeId id : order) {
    const NodeAssignment& assigned = assignment_.nodes[id];
    if (is_computed_[id]) continue;
    if (assigned.partition >= 0) {
      const auto& part = assignment_.partitions[static_cast<std::size_t>(assigned.partition)];
      if (part.shape.nodes.front() == id) Add(StepOfPartition(assigned.partition), nullptr);
    } else if (fusion_of_[id] < 0) {
      Add(StepOfNode(id), &assigned.entry->registration);
    } else {
      const auto number = static_cast<std::size_t>(fusion_of_[id]);
      const Fusion& fusion = fusions_[number];
      const std::size_t left = nodes_left[number]--;
      if (left != (fusion.runs_early() ? fusion.nodes.size() : 1)) continue;
      Step step = StepOfFusion(fusion);
      Add(std::move(step), &fused_.back());
    }
  }
  return std::move(steps_);
}

}  // namespace light
