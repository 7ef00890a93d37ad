// SPDX-License-Identifier: Apache-2.0
#include "adapters/checked.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ort_abi/handle.h>

#include "adapters/current_kernel.h"
#include "adapters/kind_names.h"
#include "adapters/kinds.h"

namespace ort_host {
namespace checked {
namespace {

constexpr std::size_t kShards = 16;
constexpr std::size_t kQuarantineBlocks = 4096;
constexpr std::size_t kQuarantineBytes = std::size_t{32} << 20;
constexpr std::size_t kMostDead = 1 << 12;  // records of released handles that a shard keeps
constexpr unsigned char kPoison = 0xdd;

struct Record {
  uint32_t kind = 0;
  bool is_given = false;  // to a library, which has to release it
  bool is_dead = false;
  bool is_over = false;
  bool is_expired = false;
  bool is_reported = false;
  const void* owner = nullptr;
  bool has_thread = false;  // instead of an owner
  std::weak_ptr<void> thread;
  const char* made_by = "";
  const char* ended_by = "";
};

struct Shard {
  std::mutex mutex;
  std::unordered_map<const void*, Record> records;
};

struct Buried {
  void* memory;
  std::size_t size;
  bool held_many;
  void (*free)(void*);
};

/// Never destroyed: libraries release handles in their static destructors.
struct State {
  std::array<Shard, kShards> shards;
  std::mutex mutex;
  std::deque<Buried> quarantine;
  std::size_t quarantine_bytes = 0;
};

State* g_state = nullptr;
thread_local const char* t_slot = "";
thread_local const void* t_owner = nullptr;

/// Ends with this thread.
const std::shared_ptr<void>& ThisThread() {
  thread_local const std::shared_ptr<void> token = std::make_shared<char>();
  return token;
}

Shard& ShardOf(const void* handle) noexcept {
  return g_state->shards[(reinterpret_cast<std::uintptr_t>(handle) >> 4) % kShards];
}

/// As `the OrtValue made by CreateTensorAsOrtValue`.
std::string Name(const Record& record) {
  std::string text = std::string("the ") + KindName(record.kind);
  if (*record.made_by != '\0') text += std::string(" made by ") + record.made_by;
  return text;
}

/// A rule that the use of a handle breaks; the rule is null if it is alive and of its kind.
struct Verdict {
  const char* rule = nullptr;
  std::string sentence;
};

Verdict WrongKind(const Record* record, uint32_t kind) {
  return {"wrong_kind", std::string(KindName(kind)) + " expected, got " +
                            (record != nullptr ? Name(*record) : std::string("no handle of ours"))};
}

/// What the library did with a handle that is gone. One that it never released ended with the call that lent it.
Verdict Gone(const Record& record) {
  if (*record.ended_by == '\0') return {"out_of_phase", Name(record) + " was good only for the call that lent it"};
  return {"use_after_release", Name(record) + " was released by " + record.ended_by};
}

Verdict JudgeUse(const Record* record, uint32_t kind) {
  if (record == nullptr || record->kind != kind) return WrongKind(record, kind);
  if (record->is_dead) return Gone(*record);
  if (record->is_expired) return {"out_of_phase", Name(*record) + " was good only for the call that lent its graph"};
  return {};
}

Verdict JudgeRelease(const Record* record, uint32_t kind) {
  if (record == nullptr || record->kind != kind) return WrongKind(record, kind);
  if (record->is_given) return {};
  if (*record->ended_by != '\0') {
    return {"double_release", Name(*record) + " was released by " + record->ended_by + " before"};
  }
  return {"release_of_borrowed", Name(*record) + " is only lent"};
}

void Born(const void* handle, uint32_t kind) noexcept {
  Shard& shard = ShardOf(handle);
  const std::lock_guard lock(shard.mutex);
  Record record;
  record.kind = kind;
  record.made_by = t_slot;
  shard.records[handle] = record;
}

void Died(const void* handle, uint32_t) noexcept {
  Shard& shard = ShardOf(handle);
  Record leaked;
  {
    const std::lock_guard lock(shard.mutex);
    Record& record = shard.records[handle];
    if (record.is_given && !record.is_reported) leaked = record;
    record.is_given = false;
    record.is_dead = true;
    if (shard.records.size() > kMostDead) {
      std::erase_if(shard.records, [](const auto& entry) { return entry.second.is_dead; });
    }
  }
  if (leaked.is_given) {
    Report("leak", leaked.made_by, Name(leaked) + " was never released, and the object it belongs to has ended");
  }
}

/// The record of a handle, or null. An adapter that is older than checked mode gets its record here.
Record* Find(Shard& shard, const void* handle, uint32_t kind) {
  const auto found = shard.records.find(handle);
  if (found != shard.records.end()) return &found->second;
  if (static_cast<const ort_abi::AdapterHeader*>(handle)->kind() != kind) return nullptr;
  Record& record = shard.records[handle];
  record.kind = kind;
  record.is_given = true;
  record.is_reported = true;  // whether anybody has to release it is not known
  return &record;
}

void BorrowHook(const void* handle, uint32_t kind, const char*) {
  Shard& shard = ShardOf(handle);
  Verdict verdict;
  bool is_over = false;
  {
    const std::lock_guard lock(shard.mutex);
    Record* record = Find(shard, handle, kind);
    verdict = JudgeUse(record, kind);
    if (verdict.rule == nullptr && record->is_over) {
      is_over = true;
      verdict = {"out_of_phase", Name(*record) + " was good only for the call that it was passed to"};
    }
  }
  if (verdict.rule == nullptr) return;
  Report(verdict.rule, t_slot, verdict.sentence);
  if (!is_over) throw ort_abi::StatusError(ORT_INVALID_ARGUMENT, std::string(verdict.rule) + ": " + verdict.sentence);
}

void GiveHook(const void* handle, uint32_t) noexcept {
  Shard& shard = ShardOf(handle);
  const std::lock_guard lock(shard.mutex);
  Record& record = shard.records[handle];
  record.is_given = true;
  record.ended_by = "";
  const KernelContent* kernel = t_owner == nullptr ? CurrentKernel::Get() : nullptr;
  record.owner = kernel != nullptr ? kernel->scope.get() : t_owner;
  record.has_thread = record.owner == nullptr;
  if (record.has_thread) record.thread = ThisThread();
  if (*t_slot != '\0') record.made_by = t_slot;
}

bool TakeHook(const void* handle, uint32_t kind) noexcept {
  Shard& shard = ShardOf(handle);
  Verdict verdict;
  {
    const std::lock_guard lock(shard.mutex);
    Record* record = Find(shard, handle, kind);
    verdict = JudgeRelease(record, kind);
    if (verdict.rule == nullptr) {
      record->is_given = false;
      record->is_reported = false;
      record->ended_by = t_slot;
      return true;
    }
    // What somebody returned after its release is released again on the way: one finding is enough.
    if (record != nullptr && record->is_dead && record->is_reported) return false;
  }
  Report(verdict.rule, t_slot, verdict.sentence);
  return false;
}

/// Made outside of sessions and registrations by a thread that is over. While one lives it may release what it has
/// made.
bool IsLeftByThread(const Record& record) { return record.has_thread && record.thread.expired(); }

/// Reports what the owner was given and did not release.
template <class Wanted>
void ReportLeaks(const void* owner, const char* end, Wanted&& wanted) {
  std::vector<Record> leaks;
  for (Shard& shard : g_state->shards) {
    const std::lock_guard lock(shard.mutex);
    for (auto& [handle, record] : shard.records) {
      if (!record.is_given || record.is_reported || !wanted(record)) continue;
      if (record.owner != owner && !IsLeftByThread(record)) continue;
      record.is_reported = true;
      leaks.push_back(record);
    }
  }
  for (const Record& record : leaks) {
    const char* maker = record.has_thread ? " (a thread of the library's own made it, and has ended)" : "";
    Report("leak", record.made_by, Name(record) + " was not released by the " + end + maker);
  }
}

void Forget(const void* handle) {
  Shard& shard = ShardOf(handle);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.records.find(handle);
  if (found != shard.records.end() && found->second.is_dead) shard.records.erase(found);
}

/// The memory of released handles goes back: something else may be there soon.
void Forget(const Buried& block) {
  const std::size_t end = block.held_many ? block.size : 1;
  for (std::size_t at = 0; at < end; at += alignof(void*)) Forget(static_cast<const char*>(block.memory) + at);
}

void SetOver(const void* handle, bool is_over) noexcept {
  if (g_state == nullptr) return;
  Shard& shard = ShardOf(handle);
  const std::lock_guard lock(shard.mutex);
  shard.records[handle].is_over = is_over;
}

constexpr ort_abi::CheckedHooks kHooks = {&Born, &Died, &BorrowHook, &GiveHook, &TakeHook};

}  // namespace

/// The switch for a whole process; it must be set before the first adapter is made.
[[gnu::constructor]] void EnableFromEnvironment() {
  const char* value = std::getenv("ONNX_LIGHT_ORT_CHECKED");
  if (value != nullptr && std::strcmp(value, "1") == 0) Enable();
}

void Enable() noexcept {
  if (g_state != nullptr) return;
  g_state = new State;
  ort_abi::checked_hooks = &kHooks;
}

bool enabled() noexcept { return ort_abi::checked_hooks != nullptr; }

const char* EnterSlot(const char* slot) noexcept { return std::exchange(t_slot, slot); }

Owner::Owner(const void* address) noexcept : outer_(t_owner) { t_owner = address; }
Owner::~Owner() { t_owner = outer_; }

void BeginCall(const void* handle) noexcept { SetOver(handle, false); }
void EndCall(const void* handle) noexcept { SetOver(handle, true); }

void Expire(const void* handle) noexcept {
  if (g_state == nullptr) return;
  Shard& shard = ShardOf(handle);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.records.find(handle);
  if (found != shard.records.end()) found->second.is_expired = true;
}

std::string JudgeForeign(const void* handle, uint32_t kind) {
  if (g_state == nullptr) return "";
  Shard& shard = ShardOf(handle);
  Verdict verdict;
  bool is_new = true;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.records.find(handle);
    if (found == shard.records.end()) return "";
    Record& record = found->second;
    // Where something of another kind has ended, there may be the library's own object now.
    if (record.is_dead && record.kind != kind) return "";
    verdict = JudgeUse(&record, kind);
    if (verdict.rule == nullptr) return "";
    if (record.is_dead) is_new = !std::exchange(record.is_reported, true);
  }
  if (is_new) Report(verdict.rule, t_slot, verdict.sentence);
  return std::string(verdict.rule) + ": " + verdict.sentence;
}

bool IsUsable(const void* handle, uint32_t kind, bool is_reported) noexcept {
  Shard& shard = ShardOf(handle);
  Verdict verdict;
  {
    const std::lock_guard lock(shard.mutex);
    Record* record = Find(shard, handle, kind);
    verdict = JudgeUse(record, kind);
    if (verdict.rule == nullptr) return true;
    if (record != nullptr && is_reported) record->is_reported = record->is_dead;
  }
  if (is_reported) Report(verdict.rule, t_slot, verdict.sentence);
  return false;
}

void EndRegistration(const void* owner) noexcept {
  if (g_state == nullptr) return;
  ReportLeaks(owner, "end of the registration", [](const Record& record) { return record.kind == kStatusKind; });
}

void EndSession(const void* owner) noexcept {
  if (g_state == nullptr) return;
  ReportLeaks(owner, "end of the session", [](const Record&) { return true; });
}

void Bury(void* memory, std::size_t size, std::size_t tag, void (*free)(void*)) noexcept {
  std::memset(static_cast<char*>(memory) + tag, kPoison, size - tag);
  std::deque<Buried> oldest;
  {
    const std::lock_guard lock(g_state->mutex);
    std::deque<Buried>& quarantine = g_state->quarantine;
    quarantine.push_back({memory, size, tag == 0, free});
    g_state->quarantine_bytes += size;
    while (quarantine.size() > kQuarantineBlocks || g_state->quarantine_bytes > kQuarantineBytes) {
      oldest.push_back(quarantine.front());
      g_state->quarantine_bytes -= quarantine.front().size;
      quarantine.pop_front();
    }
  }
  for (const Buried& block : oldest) {
    Forget(block);
    block.free(block.memory);
  }
}

}  // namespace checked

void* AdapterBase::operator new(std::size_t size) { return ::operator new(size); }

void AdapterBase::operator delete(void* memory, std::size_t size) noexcept {
  if (checked::enabled()) [[unlikely]]
    return checked::Bury(memory, size, sizeof(uint32_t), [](void* block) { ::operator delete(block); });
  ::operator delete(memory, size);
}

}  // namespace ort_host
