// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/session_options.h"
#include "bridge/custom_ops.h"
#include "bridge/ep_selection.h"
#include "light/memory_budget.h"

namespace ort_host {

/// What SessionOptions say at one moment.
struct SessionOptionsState {
  SessionOptionsAdapter adapter;  ///< domains and config entries, as libraries see them
  std::map<std::string, std::shared_ptr<LoadedLibrary>> libraries;  ///< registered ones, by path
  std::vector<EpSelection> providers;                               ///< in the order in which they are asked
  int intra_op_threads = 0;
  std::size_t memory_limit_bytes = light::MemoryBudget::kUnlimited;
  int graph_optimization_level = 99;
  int log_severity = -1;
  std::string log_id;
  bool allow_onnx_override = false;
  bool reference_fallback = true;
  bool winograd = true;
  std::string broken_groups = "auto";
  bool strict_layout = false;  ///< a provider that prefers another layout than the model's is refused

  /// The domains with the libraries that keep their ops alive.
  std::vector<CustomOpSource> Sources() const;
};

/// What SessionOptions hold. The lock is never held while a library runs: that may wait for Python's.
struct SessionOptionsImpl {
  /// A copy, as a session takes it: one that is made meanwhile does not see half of a registration.
  SessionOptionsState Snapshot() const {
    std::lock_guard lock(mutex);
    return state;
  }

  mutable std::mutex mutex;
  SessionOptionsState state;
};

}  // namespace ort_host
