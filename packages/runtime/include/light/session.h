// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "light/program.h"

namespace light {

struct SessionConfig {
  int intra_op_threads = 0;  ///< 0: one per physical core
  std::size_t memory_limit_bytes = MemoryBudget::kUnlimited;
  bool fuse = true;                    ///< see ProgramOptions
  const SchemaSet* schemas = nullptr;  ///< nullptr: OnnxSchemas(). Must outlive the session
  AssignmentSources sources;           ///< native == nullptr means NativeKernels(). Must outlive the session
  std::function<void(const std::string&)> warn;
  KernelOptions kernels;
};

/// One model, ready to run.
class Session {
 public:
  /// model -> Graph -> assignment -> lowering -> Program. Throws Error.
  Session(ModelDef model, const SessionConfig& config);
  ~Session();

  const Graph& graph() const noexcept;
  const Program& program() const noexcept { return *program_; }
  MemoryBudget& budget() noexcept { return budget_; }

  /// Checks an input against the graph's declared type. Returns "" or what is wrong, naming the input, the expected and
  /// the given type and extents.
  std::string CheckInput(std::size_t i, const Value& value) const;

  /// Compares what a run gave as an output with the graph's declared extents. Returns "" or what differs, naming the
  /// output, the declared and the actual type and extents.
  std::string CheckOutput(std::size_t i, const Value& value) const;

  /// Runs once, on the session's pool. Inputs must have passed CheckInput. Safe from many threads.
  void Run(BoundaryIo& boundary);
  /// Convenience for native tests: feeds in, outputs out, everything checked.
  std::vector<Value> Run(const std::vector<Value>& inputs);

 private:
  MemoryBudget budget_;
  std::shared_ptr<ParallelBackend> pool_;
  std::unique_ptr<Program> program_;
};

}  // namespace light
