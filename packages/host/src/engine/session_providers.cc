// SPDX-License-Identifier: Apache-2.0
#include "engine/session_providers.h"

#include <chrono>
#include <exception>

#include "adapters/logger.h"

namespace ort_host {
namespace {

using ort_abi::Lend;

/// Calls `visit` for each item; throws the first light::Error when all were visited.
template <class Items, class Visit>
void ForAll(const Items& items, Visit&& visit) {
  std::exception_ptr first;
  for (const auto& item : items) {
    try {
      visit(item);
    } catch (const light::Error&) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

light::BrokenGroups PolicyFor(const EpSelection& selection, const std::string& chosen) {
  std::string_view policy = chosen;
  if (policy == "auto") {
    const AuditedLibrary* audit = selection.library->library()->audit();
    policy = audit != nullptr ? audit->broken_groups : "refuse";
  }
  if (policy == "split") return light::BrokenGroups::kSplit;
  return policy == "drop" ? light::BrokenGroups::kDrop : light::BrokenGroups::kRefuse;
}

}  // namespace

SessionProviders::SessionProviders(const std::vector<EpSelection>& selections, const SessionOptionsState& options,
                                   const std::shared_ptr<SessionScope>& scope, const std::string& model_path) {
  for (const EpSelection& selection : selections) {
    providers_.push_back(std::make_unique<PluginProvider>(selection, options.adapter, scope, model_path,
                                                          PolicyFor(selection, options.broken_groups), group_count_));
    runs_overlap_ = runs_overlap_ && providers_.back()->instance().runs_concurrently();
  }
}

std::vector<light::ExecutionProvider*> SessionProviders::AsSources() const {
  std::vector<light::ExecutionProvider*> sources;
  for (const auto& provider : providers_) sources.push_back(provider.get());
  return sources;
}

void SessionProviders::RequireModelLayout() const {
  for (const auto& provider : providers_) {
    if (!provider->instance().prefers_nhwc()) continue;
    provider->instance().Fail(ORT_NOT_IMPLEMENTED, "OrtEp.GetPreferredDataLayout",
                              "asks for NHWC, and strict_layout allows the model's layout only");
  }
}

void SessionProviders::EndInitialization() const {
  ForAll(providers_, [](const auto& provider) {
    const EpInstance& instance = provider->instance();
    if (instance.Has<&OrtEp::OnSessionInitializationEnd>()) instance.Call<&OrtEp::OnSessionInitializationEnd>();
  });
}

SessionProviders::Turn::Turn(SessionProviders& owner, light::Cancellation* cancellation) : owner_(owner) {
  if (owner.runs_overlap_) return;
  std::unique_lock lock(owner.turn_);
  if (owner.whose_turn_ == std::this_thread::get_id()) {
    throw light::Error(light::ErrorCode::kFail,
                       "the session runs on this thread already, and one of its providers allows one run at a time");
  }
  constexpr std::chrono::milliseconds kPatience(50);
  const auto is_free = [&] { return owner.whose_turn_ == std::thread::id(); };
  while (!owner.turn_ends_.wait_for(lock, kPatience, is_free)) {
    if (cancellation == nullptr) continue;
    lock.unlock();  // it may run whatever a signal asks for
    cancellation->Look();
    lock.lock();
  }
  owner.whose_turn_ = std::this_thread::get_id();
  is_held_ = true;
}

SessionProviders::Turn::~Turn() {
  if (!is_held_) return;
  {
    const std::lock_guard lock(owner_.turn_);
    owner_.whose_turn_ = std::thread::id();
  }
  owner_.turn_ends_.notify_one();
}

SessionProviders::RunHooks::RunHooks(const SessionProviders& owner, const ConfigEntries* config)
    : owner_(owner), options_(config) {}

SessionProviders::RunHooks::~RunHooks() {
  try {
    End();
  } catch (const std::exception& error) {
    LogLine(ORT_LOGGING_LEVEL_ERROR, error.what());  // the run's own error comes first
  }
}

void SessionProviders::RunHooks::Start() {
  for (const auto& provider : owner_.providers_) {
    const EpInstance& instance = provider->instance();
    if (instance.Has<&OrtEp::OnRunStart>()) instance.Call<&OrtEp::OnRunStart>(Lend<OrtRunOptions>(options_));
    ++started_;
  }
}

void SessionProviders::RunHooks::End() {
  const std::string* no_wait = options_.Find("disable_synchronize_execution_providers");
  const bool waits = no_wait == nullptr || *no_wait != "1";
  const std::span told(owner_.providers_.data(), std::exchange(started_, 0));
  ForAll(told, [&](const auto& provider) {
    const EpInstance& instance = provider->instance();
    if (instance.Has<&OrtEp::OnRunEnd>()) instance.Call<&OrtEp::OnRunEnd>(Lend<OrtRunOptions>(options_), waits);
    provider->JudgeConstants("OrtNodeComputeInfo.Compute");
  });
}

}  // namespace ort_host
