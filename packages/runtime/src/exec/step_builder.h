// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "exec/fold.h"
#include "exec/plan.h"
#include "fuse/fusion.h"
#include "light/program.h"

namespace light {

/// For messages: the node of a step, or its partition and whose it is.
std::string StepLabel(const Graph& graph, const Assignment& assignment, const Step& step);

/// Turns the nodes of an assigned graph into steps: computes constants, fuses, makes kernels and programs of bodies.
class StepBuilder {
 public:
  using Bodies = std::vector<std::vector<std::unique_ptr<Program>>>;  // by NodeId

  /// All are changed: `assignment` (reasons; the assignments of bodies go to their programs), `constants` (computed
  /// ones are added) and `bodies`.
  StepBuilder(const Graph& graph, Assignment& assignment, ConstantTable& constants, Bodies& bodies,
              const ProgramOptions& options);

  /// Throws Error: what a kernel factory threw, prefixed by the node.
  std::vector<Step> Build();
  /// By step, once built: the registration that the plan goes by; nullptr for a partition.
  const std::vector<const KernelRegistration*>& registrations() const noexcept { return registrations_; }

 private:
  std::vector<NodeId> Order() const;
  void LowerBodies(const Node& node);
  std::unique_ptr<KernelBase> MakeKernel(NodeId id, const Epilogue* epilogue = nullptr);
  Layouts LayoutsOf(const Node& node) const;
  bool ReadsConstantsAlone(const Node& node) const;
  void ComputeConstants(const std::vector<NodeId>& order);
  void Fuse(const std::vector<NodeId>& order);
  void MakeLargeAhead(const std::vector<NodeId>& order);
  const Epilogue* EpilogueOf(NodeId id) const;
  void Explain(const Fusion& fusion);
  Step StepOfNode(NodeId id);
  Step StepOfPartition(int partition);
  Step StepOfFusion(const Fusion& fusion);
  void Add(Step step, const KernelRegistration* registration);

  const Graph& graph_;
  Assignment& assignment_;
  ConstantTable& constants_;
  Bodies& bodies_;
  const ProgramOptions& options_;
  std::vector<std::unique_ptr<KernelBase>> kernels_;  // by NodeId, of those made so far
  std::vector<bool> is_computed_;                     // by NodeId
  std::vector<Fusion> fusions_;
  std::vector<int> fusion_of_;  // by NodeId: index of fusions_, or -1
  std::vector<bool> is_last_;   // by ValueId: its channels are last in memory; empty: none
  std::vector<Step> steps_;
  std::vector<const KernelRegistration*> registrations_;  // by step
  std::deque<KernelRegistration> fused_;                  // of fused steps
};

}  // namespace light
