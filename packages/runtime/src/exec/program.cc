// SPDX-License-Identifier: Apache-2.0
#include "light/program.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>

#include "conversions/out_of_memory.h"
#include "exec/fold.h"
#include "exec/frame.h"
#include "exec/plan.h"
#include "exec/step_context.h"
#include "exec/units.h"
#include "light/error.h"

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

std::string StepLabel(const Graph& graph, const Assignment& assignment, const Step& step) {
  if (step.partition < 0) return "node " + graph.node(step.node).Label();
  const AssignedPartition& part = assignment.partitions[static_cast<std::size_t>(step.partition)];
  return "partition '" + part.shape.proposal.name + "' of " + part.provider;
}

/// Rethrows the exception in flight with the step in front of its message, its code kept.
[[noreturn]] void RethrowFrom(const std::string& label) {
  try {
    throw;
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.find(label) != std::string::npos) throw;  // it says already where it was
    throw Error(error.code(), label + ": " + message, error.foreign_code());
  } catch (const conversions::OutOfMemory& error) {
    throw Error(ErrorCode::kRuntimeException, label + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kRuntimeException, label + ": out of memory");
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kRuntimeException, label + ": " + error.what());
  }
}

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

struct Program::Impl {
  std::shared_ptr<const Graph> graph;
  Assignment assignment;  // before steps: a partition outlives the kernel that refers to it
  ConstantTable constants;
  std::vector<std::vector<std::unique_ptr<Program>>> bodies;  // by NodeId
  std::vector<Step> steps;
  BufferPlan plan;
  MemoryBudget* budget = nullptr;
  std::mutex mutex;
  std::vector<std::unique_ptr<Frame>> idle;

  void MakeSteps();
  void LowerBodies(const Node& node);
  std::unique_ptr<Frame> TakeFrame();
  void GiveBack(std::unique_ptr<Frame> frame);
  void Bind(Frame& frame, BoundaryIo& boundary) const;
  void CopyOutputs(Frame& frame, BoundaryIo& boundary) const;
};

void Program::Impl::LowerBodies(const Node& node) {
  auto& assigned = assignment.bodies[node.id];
  for (std::size_t i = 0; i < assigned.size(); ++i) {
    const auto& body = node.subgraphs[i].graph;
    ProgramOptions options;
    options.budget = budget;
    for (const ValueId id : body->captures()) options.captured.push_back(constants[body->value(id).outer]);
    bodies[node.id].push_back(Lower(body, std::move(assigned[i]), options));
  }
  assigned.clear();
}

void Program::Impl::MakeSteps() {
  bodies.resize(graph->nodes().size());
  std::vector<uint32_t> unit_of(graph->nodes().size());
  std::vector<NodeId> first_of;
  std::vector<uint32_t> unit_of_partition(assignment.partitions.size(), ~uint32_t{0});
  for (const Node& node : graph->nodes()) {
    const int partition = assignment.nodes[node.id].partition;
    uint32_t unit = static_cast<uint32_t>(first_of.size());
    if (partition >= 0) {
      uint32_t& known = unit_of_partition[static_cast<std::size_t>(partition)];
      if (known != ~uint32_t{0}) {
        unit_of[node.id] = known;
        continue;
      }
      known = unit;
    }
    unit_of[node.id] = unit;
    first_of.push_back(node.id);
  }
  const bool grouped = !assignment.partitions.empty();
  const auto order =
      grouped ? OrderUnits(*graph, unit_of, static_cast<uint32_t>(first_of.size())) : std::vector<uint32_t>{};
  steps.reserve(first_of.size());
  for (std::size_t i = 0; i < first_of.size(); ++i) {
    const Node& node = graph->node(first_of[grouped ? order[i] : i]);
    Step step;
    step.node = node.id;
    step.partition = assignment.nodes[node.id].partition;
    if (step.partition >= 0) {
      AssignedPartition& part = assignment.partitions[static_cast<std::size_t>(step.partition)];
      step.inputs = part.shape.inputs;
      step.outputs = part.shape.outputs;
      step.is_hosted = true;
      FillTypes(*graph, step);
      try {
        part.partition->Prepare(budget);
      } catch (const std::exception&) {
        RethrowFrom(StepLabel(*graph, assignment, step));
      }
      step.kernel = std::make_unique<PartitionKernel>(*part.partition);
      steps.push_back(std::move(step));
      continue;
    }
    const KernelEntry& entry = *assignment.nodes[node.id].entry;
    step.inputs = node.inputs;
    step.outputs = node.outputs;
    step.captures = node.captures;
    step.is_hosted = entry.registration.is_hosted;
    FillTypes(*graph, step);
    try {
      LowerBodies(node);
      step.kernel = entry.make(KernelInfo(*graph, node, budget, &constants, bodies[node.id]));
    } catch (const std::exception&) {
      RethrowFrom("node " + node.Label());
    }
    if (FoldStep(*graph, entry.registration, step, constants)) {
      assignment.nodes[node.id].reason += "; computed at preparation";
      continue;
    }
    steps.push_back(std::move(step));
  }
}

std::unique_ptr<Frame> Program::Impl::TakeFrame() {
  {
    const std::lock_guard lock(mutex);
    if (!idle.empty()) {
      auto frame = std::move(idle.back());
      idle.pop_back();
      return frame;
    }
  }
  auto frame = std::make_unique<Frame>(graph->values().size(), plan.slot_count);
  for (ValueId id = 0; id < frame->values.size(); ++id) {
    frame->values[id] = constants[id] != nullptr ? constants[id].get() : &frame->own[id];
  }
  return frame;
}

void Program::Impl::GiveBack(std::unique_ptr<Frame> frame) {
  const std::lock_guard lock(mutex);
  idle.push_back(std::move(frame));
}

void Program::Impl::Bind(Frame& frame, BoundaryIo& boundary) const {
  std::size_t i = 0;
  for (const ValueId id : graph->inputs()) {
    const Value& given = boundary.Input(i++);
    const bool keeps_default = given.is_none() && constants[id] != nullptr;
    frame.values[id] = keeps_default ? constants[id].get() : &given;
  }
  for (const ValueId id : graph->captures()) frame.values[id] = &boundary.Input(i++);
}

void Program::Impl::CopyOutputs(Frame& frame, BoundaryIo& boundary) const {
  for (const OutputCopy& copy : plan.copies) {
    const Value& value = *frame.values[copy.value];
    if (!value.is_tensor()) {
      boundary.SetOutput(copy.output, value);
      continue;
    }
    const Tensor& from = value.tensor();
    CopyElements(from, boundary.CreateOutput(copy.output, from.type(), from.dims()));
  }
  // The caller's from here on; a frame that waits for its next run would keep them alive.
  for (const OutputCopy& copy : plan.copies) {
    if (!frame.own[copy.value].is_tensor()) frame.own[copy.value].Reset();
  }
}

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;

std::unique_ptr<Program> Program::Lower(std::shared_ptr<const Graph> graph, Assignment assignment,
                                        const ProgramOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->graph = std::move(graph);
  impl->assignment = std::move(assignment);
  impl->budget = options.budget;
  const auto& values = impl->graph->values();
  impl->constants.resize(values.size());
  std::vector<ValueId> defaults;
  for (ValueId id = 0; id < values.size(); ++id) {
    if (values[id].initializer == nullptr) continue;
    if (values[id].is_overridable) {
      defaults.push_back(id);  // holds only when the caller feeds nothing: no constant for kernels
    } else {
      impl->constants[id] = std::make_shared<Value>(Tensor(*values[id].initializer));
    }
  }
  const auto& captures = impl->graph->captures();
  for (std::size_t i = 0; i < options.captured.size(); ++i) impl->constants[captures[i]] = options.captured[i];
  impl->MakeSteps();
  for (const ValueId id : defaults) impl->constants[id] = std::make_shared<Value>(Tensor(*values[id].initializer));
  std::vector<bool> is_constant(values.size());
  for (ValueId id = 0; id < values.size(); ++id) is_constant[id] = impl->constants[id] != nullptr;
  impl->plan = PlanBuffers(*impl->graph, impl->assignment, impl->steps, is_constant);
  return std::unique_ptr<Program>(new Program(std::move(impl)));
}

void Program::Run(BoundaryIo& boundary, ParallelBackend& parallel) {
  auto frame = impl_->TakeFrame();
  impl_->Bind(*frame, boundary);
  StepContext context(impl_->plan, *frame, boundary, parallel, impl_->budget);
  Cancellation* const cancellation = boundary.cancellation();
  int32_t until_look = cancellation != nullptr ? cancellation->stride() : std::numeric_limits<int32_t>::max();
  try {
    for (const Step& step : impl_->steps) {
      context.Begin(step);
      if (--until_look == 0) [[unlikely]]
        until_look = cancellation->Look();
      if (step.is_hosted) parallel.Quiesce();
      if (step.makes_text) [[unlikely]]
        context.RunMakingText(*step.kernel);
      else
        step.kernel->Run(context);
      frame->scratch.Reset();
      for (const ValueId id : step.releases) {
        if (!frame->own[id].is_tensor()) frame->own[id].Reset();
      }
    }
    if (!impl_->plan.copies.empty()) context.Metered([&] { impl_->CopyOutputs(*frame, boundary); });
  } catch (const std::exception&) {
    const Step* step = context.step();
    frame.reset();  // a failed step may have left anything in it
    if (step == nullptr) throw;
    RethrowFrom(StepLabel(*impl_->graph, impl_->assignment, *step));
  }
  impl_->GiveBack(std::move(frame));
}

const Graph& Program::graph() const noexcept { return *impl_->graph; }
const Assignment& Program::assignment() const noexcept { return impl_->assignment; }
std::span<const std::unique_ptr<Program>> Program::bodies(NodeId node) const noexcept { return impl_->bodies[node]; }

}  // namespace light
