// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "light/assignment.h"
#include "light/boundary_io.h"
#include "light/kernel_info.h"
#include "light/memory_budget.h"
#include "light/parallel.h"

namespace light {

struct Frame;

struct ProgramOptions {
  MemoryBudget* budget = nullptr;  ///< charged for buffers of runs; must outlive the program
  bool fuse = true;                ///< lets native nodes run together as one step; their sums may be rounded once less
  /// What the enclosing program knows ahead of Graph::captures(), in their order; nullptr where it knows nothing.
  std::vector<std::shared_ptr<const Value>> captured = {};
  KernelOptions kernels = {};
  ParallelBackend* parallel = nullptr;  ///< prepares large weights on several threads, during Lower only; may be null
};

/// A graph ready to run: steps, a buffer plan, kernels, constants. Run may be called from many threads at once.
class Program {
 public:
  class Runs;

  /// Makes the kernels and the plan. `graph` is kept alive; `assignment` is taken.
  /// Throws Error: what a kernel factory threw, prefixed by the node.
  static std::unique_ptr<Program> Lower(std::shared_ptr<const Graph> graph, Assignment assignment,
                                        const ProgramOptions& options = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Runs once. Inputs were checked against the graph's types by the caller.
  /// Throws Error, prefixed by the node that failed; what the boundary received until then does not count.
  void Run(BoundaryIo& boundary, ParallelBackend& parallel);

  const Graph& graph() const noexcept;
  /// What `bodies` of it said is with the programs of the bodies now.
  const Assignment& assignment() const noexcept;
  /// The subgraphs of a node that are run here, in their order.
  std::span<const std::unique_ptr<Program>> bodies(NodeId node) const noexcept;

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// One run of a program after another, in the same memory. Used from one thread at a time.
class Program::Runs {
 public:
  explicit Runs(Program& program);
  ~Runs();
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  void Run(BoundaryIo& boundary, ParallelBackend& parallel);  ///< as Program::Run

 private:
  Program& program_;
  std::unique_ptr<Frame> frame_;  // null until the first run, and after one that failed
};

}  // namespace light
