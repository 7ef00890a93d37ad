// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "adapters/allocator.h"
#include "adapters/key_value_pairs.h"
#include "adapters/logger.h"

namespace ort_host {

/// What the adapters of one session share. Held by the session and by each kernel info, which a library may keep longer
/// than the session. Read-only once made, except for Close.
class SessionScope {
 public:
  SessionScope(ConfigEntries config, int log_severity, std::string log_id)
      : config_(std::move(config)), logger_(log_severity, std::move(log_id)), budget_(std::make_shared<BudgetLink>()) {}

  const ConfigEntries& config() const noexcept { return config_; }
  const LoggerAdapter& logger() const noexcept { return logger_; }
  const std::shared_ptr<BudgetLink>& budget() const noexcept { return budget_; }

  /// A wrapper for a library, charged to the session.
  std::unique_ptr<HostAllocator> MakeAllocator(const std::string& user) const {
    return std::make_unique<HostAllocator>(CpuMemory(OrtArenaAllocator), budget_, user);
  }
  /// The session ends: its budget is about to go.
  void Close() noexcept { budget_->Cut(); }

 private:
  ConfigEntries config_;
  LoggerAdapter logger_;
  std::shared_ptr<BudgetLink> budget_;
};

}  // namespace ort_host
