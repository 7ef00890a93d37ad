// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapters/run_options.h"
#include "bridge/plugin_provider.h"
#include "engine/session_options_impl.h"
#include "light/cancellation.h"

namespace ort_host {

/// The plugin EPs of one session, in the order in which they are asked.
class SessionProviders {
 public:
  /// Creates them. Throws light::Error; those that were created are released.
  SessionProviders(const std::vector<EpSelection>& selections, const SessionOptionsState& options,
                   const std::shared_ptr<SessionScope>& scope, const std::string& model_path);

  bool empty() const noexcept { return providers_.empty(); }
  const std::vector<std::unique_ptr<PluginProvider>>& all() const noexcept { return providers_; }
  std::vector<light::ExecutionProvider*> AsSources() const;
  /// Throws light::Error if one prefers a layout other than the model's.
  void RequireModelLayout() const;
  /// Tells all of them that the session is ready. Throws the first error when all have been told.
  void EndInitialization() const;

  /// Runs `run` between OnRunStart and OnRunEnd of the providers; one run at a time if a provider asks for that.
  /// @param cancellation  may end the wait for another run; may be null
  template <class Body>
  void Around(const ConfigEntries* config, light::Cancellation* cancellation, Body&& run) {
    if (providers_.empty()) [[likely]]
      return run();
    const Turn turn(*this, cancellation);
    RunHooks hooks(*this, config);
    hooks.Start();
    run();
    hooks.End();
  }

 private:
  /// Holds the session while a run is under way, if runs must not overlap.
  class Turn {
   public:
    Turn(SessionProviders& owner, light::Cancellation* cancellation);

    ~Turn();

   private:
    SessionProviders& owner_;
    bool is_held_ = false;
  };

  /// Tells the providers of one run. Each that was told of the start is told of the end, also on failure.
  class RunHooks {
   public:
    RunHooks(const SessionProviders& owner, const ConfigEntries* config);
    ~RunHooks();
    /// Throws light::Error of the provider that refuses the run.
    void Start();
    /// Throws the first light::Error when all have been told.
    void End();

   private:
    const SessionProviders& owner_;
    RunOptionsAdapter options_;
    std::size_t started_ = 0;
  };

  std::size_t group_count_ = 0;
  std::vector<std::unique_ptr<PluginProvider>> providers_;
  std::mutex turn_;
  std::condition_variable turn_ends_;
  std::thread::id whose_turn_;  // nobody's: no run is under way
  bool runs_overlap_ = true;
};

}  // namespace ort_host
