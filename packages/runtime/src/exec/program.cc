// SPDX-License-Identifier: Apache-2.0
#include "light/program.h"

#include <limits>

#include "exec/frame.h"
#include "exec/plan.h"
#include "exec/run_steps.h"
#include "exec/spares.h"
#include "exec/step_builder.h"
#include "exec/step_context.h"
#include "exec/step_error.h"
#include "kernels/simd_dispatch.h"
#include "light/error.h"

namespace light {
struct Program::Impl {
  std::shared_ptr<const Graph> graph;
  Assignment assignment;  // before steps: a partition outlives the kernel that refers to it
  ConstantTable constants;
  StepBuilder::Bodies bodies;
  std::vector<Step> steps;
  BufferPlan plan;
  RunSteps run_steps;
  MemoryBudget* budget = nullptr;
  Spares<Frame> idle;

  std::unique_ptr<Frame> TakeFrame();
  void Bind(Frame& frame, BoundaryIo& boundary) const;
  void CopyOutputs(Frame& frame, BoundaryIo& boundary) const;
  /// Runs in `frame`, and ends it if a step fails.
  void Run(std::unique_ptr<Frame>& frame, BoundaryIo& boundary, ParallelBackend& parallel) const;
};

std::unique_ptr<Frame> Program::Impl::TakeFrame() {
  if (auto frame = idle.Take()) return frame;
  auto frame = std::make_unique<Frame>(graph->values().size(), plan.slot_count);
  for (ValueId id = 0; id < frame->values.size(); ++id) {
    frame->values[id] = constants[id] != nullptr ? constants[id].get() : &frame->own[id];
  }
  return frame;
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
  Simd();  // what is wrong with ONNX_LIGHT_SIMD is told here and not by a node
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
  StepBuilder builder(*impl->graph, impl->assignment, impl->constants, impl->bodies, options);
  impl->steps = builder.Build();
  for (const ValueId id : defaults) impl->constants[id] = std::make_shared<Value>(Tensor(*values[id].initializer));
  std::vector<bool> is_constant(values.size());
  for (ValueId id = 0; id < values.size(); ++id) is_constant[id] = impl->constants[id] != nullptr;
  impl->plan = PlanBuffers(*impl->graph, builder.registrations(), impl->steps, is_constant);
  impl->run_steps = RunSteps(impl->steps, impl->plan);
  return std::unique_ptr<Program>(new Program(std::move(impl)));
}

Program::Runs::Runs(Program& program) : program_(program) {}
Program::Runs::~Runs() {
  if (frame_ != nullptr) program_.impl_->idle.GiveBack(std::move(frame_));
}

void Program::Runs::Run(BoundaryIo& boundary, ParallelBackend& parallel) {
  if (frame_ == nullptr) frame_ = program_.impl_->TakeFrame();
  program_.impl_->Run(frame_, boundary, parallel);
}

void Program::Run(BoundaryIo& boundary, ParallelBackend& parallel) { Runs(*this).Run(boundary, parallel); }

void Program::Impl::Run(std::unique_ptr<Frame>& frame, BoundaryIo& boundary, ParallelBackend& parallel) const {
  Bind(*frame, boundary);
  StepContext context(*frame, boundary, parallel, budget);
  Cancellation* const cancellation = boundary.cancellation();
  int32_t until_look = cancellation != nullptr ? cancellation->stride() : std::numeric_limits<int32_t>::max();
  try {
    for (const RunStep& step : run_steps.all()) {
      context.Begin(step);
      if (--until_look == 0) [[unlikely]]
        until_look = cancellation->Look();
      if (step.is_hosted) context.Quiesce();
      if (step.makes_text) [[unlikely]]
        context.RunMakingText(*step.kernel);
      else
        step.kernel->Run(context);
      frame->scratch.Reset();
      for (const ValueId id : std::span(step.releases, step.release_count)) {
        if (!frame->own[id].is_tensor()) frame->own[id].Reset();
      }
    }
    if (!plan.copies.empty()) context.Metered([&] { CopyOutputs(*frame, boundary); });
  } catch (const std::exception&) {
    const RunStep* step = context.step();
    frame.reset();  // a failed step may have left anything in it
    if (step == nullptr) throw;
    RethrowFrom(StepLabel(*graph, assignment, steps[run_steps.IndexOf(*step)]));
  }
}

const Graph& Program::graph() const noexcept { return *impl_->graph; }
const Assignment& Program::assignment() const noexcept { return impl_->assignment; }
std::span<const std::unique_ptr<Program>> Program::bodies(NodeId node) const noexcept { return impl_->bodies[node]; }

}  // namespace light
