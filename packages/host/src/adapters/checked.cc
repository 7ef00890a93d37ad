// SPDX-License-Identifier: Apache-2.0
#include "adapters/checked.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>

#include <ort_abi/handle.h>

#include "adapters/kinds.h"
#include "adapters/logger.h"

namespace ort_host {
namespace checked {
namespace {

constexpr std::size_t kShards = 16;
constexpr std::size_t kQuarantineBlocks = 4096;
constexpr std::size_t kMaxFindings = 1000;
constexpr unsigned char kPoison = 0xdd;

struct Record {
  uint32_t kind = 0;
  bool is_given = false;
  bool is_dead = false;
  bool is_reported = false;
  std::size_t number = 0;
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
};

/// Never destroyed: libraries release handles in their static destructors.
struct State {
  std::array<Shard, kShards> shards;
  std::mutex mutex;
  std::vector<Finding> findings;
  std::deque<Buried> quarantine;
  std::atomic<std::size_t> next{1};
};

State* g_state = nullptr;
thread_local const char* t_slot = "";

Shard& ShardOf(const void* handle) noexcept {
  return g_state->shards[(reinterpret_cast<std::uintptr_t>(handle) >> 4) % kShards];
}

const char* KindName(uint32_t kind) noexcept {
  switch (kind) {
    case kStatusKind:
      return "OrtStatus";
    case kValueKind:
      return "OrtValue";
    case kTypeAndShapeKind:
      return "OrtTensorTypeAndShapeInfo";
    case kTypeInfoKind:
      return "OrtTypeInfo";
    case kMemoryInfoKind:
      return "OrtMemoryInfo";
    case kKernelInfoKind:
      return "OrtKernelInfo";
    case kKernelContextKind:
      return "OrtKernelContext";
    case kShapeInferKind:
      return "OrtShapeInferContext";
    case kOpAttrKind:
      return "OrtOpAttr";
    case kLoggerKind:
      return "OrtLogger";
    case kKeyValuePairsKind:
      return "OrtKeyValuePairs";
    case kSessionOptionsKind:
      return "OrtSessionOptions";
    case kCustomOpDomainKind:
      return "OrtCustomOpDomain";
    default:
      return "an unknown handle";
  }
}

std::string Describe(const char* slot, const Record* record, uint32_t kind) {
  std::string text = std::string(slot) + ": " + KindName(kind);
  if (record == nullptr) return text + " expected, got no handle of ours";
  if (record->kind != kind) text += std::string(" expected, got ") + KindName(record->kind);
  if (*record->made_by != '\0') text += std::string(", made by ") + record->made_by;
  if (*record->ended_by != '\0') text += std::string(", released by ") + record->ended_by;
  return text;
}

void Born(const void* handle, uint32_t kind) noexcept {
  Shard& shard = ShardOf(handle);
  std::lock_guard lock(shard.mutex);
  Record record;
  record.kind = kind;
  record.made_by = t_slot;
  shard.records[handle] = record;
}

void Died(const void* handle, uint32_t) noexcept {
  Shard& shard = ShardOf(handle);
  std::string leak;
  {
    std::lock_guard lock(shard.mutex);
    Record& record = shard.records[handle];
    if (record.is_given && record.number > 0 && !record.is_reported) {
      leak = Describe("end of the object it belongs to", &record, record.kind) + ", never released";
    }
    record.is_given = false;
    record.is_dead = true;
    if (*record.ended_by == '\0') record.ended_by = t_slot;
  }
  if (!leak.empty()) Report("leak", leak);
}

/// The record of a handle, or null. An adapter that is older than checked mode gets its record here.
Record* Find(Shard& shard, const void* handle, uint32_t kind) {
  const auto found = shard.records.find(handle);
  if (found != shard.records.end()) return &found->second;
  if (static_cast<const ort_abi::AdapterHeader*>(handle)->kind() != kind) return nullptr;
  Record& record = shard.records[handle];
  record.kind = kind;
  record.is_given = true;
  return &record;
}

/// What is wrong with a handle: a rule, or null if it is alive and of its kind.
const char* Judge(const Record* record, uint32_t kind) noexcept {
  if (record == nullptr) return "wrong_kind";
  if (record->is_dead) return "use_after_release";
  return record->kind == kind ? nullptr : "wrong_kind";
}

void BorrowHook(const void* handle, uint32_t kind, const char*) {
  Shard& shard = ShardOf(handle);
  std::string detail;
  const char* rule;
  {
    std::lock_guard lock(shard.mutex);
    const Record* record = Find(shard, handle, kind);
    rule = Judge(record, kind);
    if (rule == nullptr) return;
    detail = Describe(t_slot, record, kind);
  }
  Report(rule, detail);
  throw ort_abi::StatusError(ORT_INVALID_ARGUMENT, std::string(rule) + ": " + detail);
}

void GiveHook(const void* handle, uint32_t) noexcept {
  Shard& shard = ShardOf(handle);
  std::lock_guard lock(shard.mutex);
  Record& record = shard.records[handle];
  record.is_given = true;
  record.number = g_state->next.fetch_add(1, std::memory_order_relaxed);
  if (*t_slot != '\0') record.made_by = t_slot;
}

bool TakeHook(const void* handle, uint32_t kind) noexcept {
  Shard& shard = ShardOf(handle);
  std::string detail;
  const char* rule;
  {
    std::lock_guard lock(shard.mutex);
    Record* record = Find(shard, handle, kind);
    rule = Judge(record, kind);
    if (rule == nullptr && record->is_given) {
      record->is_given = false;
      record->ended_by = t_slot;
      return true;
    }
    if (rule == nullptr) rule = *record->ended_by != '\0' ? "double_release" : "release_of_borrowed";
    if (record != nullptr && record->is_dead && record->kind == kind) rule = "double_release";
    detail = Describe(t_slot, record, kind);
  }
  Report(rule, detail);
  return false;
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

void EnterSlot(const char* slot) noexcept { t_slot = slot; }

void Report(const char* rule, const std::string& detail) noexcept {
  LogAlways((std::string("finding: ") + rule + ": " + detail).c_str());
  if (g_state == nullptr) return;
  std::lock_guard lock(g_state->mutex);
  if (g_state->findings.size() < kMaxFindings) g_state->findings.push_back({rule, detail});
}

std::vector<Finding> Findings() {
  if (g_state == nullptr) return {};
  std::lock_guard lock(g_state->mutex);
  return g_state->findings;
}

std::size_t Mark() noexcept { return g_state != nullptr ? g_state->next.load(std::memory_order_relaxed) : 0; }

void EndSession(std::size_t mark) noexcept {
  if (g_state == nullptr) return;
  std::vector<std::string> leaks;
  for (Shard& shard : g_state->shards) {
    std::lock_guard lock(shard.mutex);
    for (auto& [handle, record] : shard.records) {
      // A library keeps its domains until it is unloaded.
      if (!record.is_given || record.is_reported || record.number < mark || record.kind == kCustomOpDomainKind)
        continue;
      record.is_reported = true;
      leaks.push_back(Describe("end of the session", &record, record.kind) + ", never released");
    }
    std::erase_if(shard.records, [](const auto& entry) { return entry.second.is_dead; });
  }
  for (const std::string& leak : leaks) Report("leak", leak);
  std::deque<Buried> buried;
  {
    std::lock_guard lock(g_state->mutex);
    buried.swap(g_state->quarantine);
  }
  for (const Buried& block : buried) ::operator delete(block.memory, block.size);
}

void Bury(void* memory, std::size_t size) noexcept {
  // The dead tag stays in front.
  std::memset(static_cast<char*>(memory) + sizeof(uint32_t), kPoison, size - sizeof(uint32_t));
  Buried oldest{nullptr, 0};
  {
    std::lock_guard lock(g_state->mutex);
    g_state->quarantine.push_back({memory, size});
    if (g_state->quarantine.size() > kQuarantineBlocks) {
      oldest = g_state->quarantine.front();
      g_state->quarantine.pop_front();
    }
  }
  if (oldest.memory != nullptr) ::operator delete(oldest.memory, oldest.size);
}

}  // namespace checked

void* AdapterBase::operator new(std::size_t size) { return ::operator new(size); }

void AdapterBase::operator delete(void* memory, std::size_t size) noexcept {
  if (checked::enabled()) [[unlikely]]
    return checked::Bury(memory, size);
  ::operator delete(memory, size);
}

}  // namespace ort_host
