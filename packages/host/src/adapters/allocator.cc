// SPDX-License-Identifier: Apache-2.0
#include "adapters/allocator.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <ort_abi/callbacks.h>
#include <ort_abi/out.h>

#include "abi/guard.h"
#include "adapters/checked.h"
#include "adapters/current_kernel.h"
#include "adapters/logger.h"
#include "adapters/status.h"
#include "conversions/buffer.h"

namespace ort_host {
namespace {

constexpr std::uint32_t kLastVersion = 10'000;  // no interface will ever have so many
constexpr std::uint64_t kLiveBlock = 0x4b4c424c49474854;
constexpr std::uint64_t kFreedBlock = 0x4445455246474854;
constexpr std::size_t kGuard = 64;  // bytes behind each block, in checked mode
constexpr unsigned char kPattern = 0xc9;
/// In front of each block: what Free needs to know, whichever allocator it is asked through.
struct alignas(conversions::kBufferAlignment) BlockHeader {
  std::uint64_t tag = kLiveBlock;
  std::size_t bytes = 0;
  std::shared_ptr<BudgetLink> budget;
  bool has_guard = false;  // behind the block too
  unsigned char guard[conversions::kBufferAlignment - 33] = {};
};
static_assert(sizeof(BlockHeader) == conversions::kBufferAlignment);

void Protect(BlockHeader* header) noexcept {
  header->has_guard = true;
  std::memset(header->guard, kPattern, sizeof(header->guard));
  std::memset(reinterpret_cast<unsigned char*>(header + 1) + header->bytes, kPattern, kGuard);
}

void JudgeGuards(const BlockHeader& header) noexcept {
  const auto is_intact = [](const unsigned char* guard, std::size_t bytes) {
    return std::all_of(guard, guard + bytes, [](unsigned char byte) { return byte == kPattern; });
  };
  const std::string block = "a block of " + std::to_string(header.bytes) + " bytes: the library wrote ";
  if (!is_intact(header.guard, sizeof(header.guard))) {
    checked::Report("overrun", "OrtAllocator.Free", block + "before the first byte");
  }
  if (!is_intact(reinterpret_cast<const unsigned char*>(&header + 1) + header.bytes, kGuard)) {
    checked::Report("overrun", "OrtAllocator.Free", block + "behind the last byte");
  }
}

HostAllocator& Self(OrtAllocator* allocator) noexcept { return *static_cast<HostAllocator*>(allocator); }

void* ORT_API_CALL AllocThunk(OrtAllocator* allocator, size_t bytes) { return Self(allocator).TryAllocate(bytes); }
void* ORT_API_CALL ReserveThunk(OrtAllocator* allocator, size_t bytes) { return Self(allocator).TryAllocate(bytes); }
void* ORT_API_CALL StreamThunk(OrtAllocator* allocator, size_t bytes, OrtSyncStream*) {
  return Self(allocator).TryAllocate(bytes);
}
void ORT_API_CALL FreeThunk(OrtAllocator*, void* block) { HostAllocator::Free(block); }
const OrtMemoryInfo* ORT_API_CALL InfoThunk(const OrtAllocator* allocator) {
  return ort_abi::Lend<OrtMemoryInfo>(static_cast<const HostAllocator*>(allocator)->memory());
}

// What a released allocator is left with, in checked mode.

void ReportReleased(const char* member, const OrtAllocator* allocator) {
  const checked::InSlot in_slot(member);
  checked::JudgeForeign(allocator, kAllocatorKind);
}
void* ORT_API_CALL ReleasedAlloc(OrtAllocator* allocator, size_t) {
  ReportReleased("OrtAllocator.Alloc", allocator);
  return nullptr;
}
void ORT_API_CALL ReleasedFree(OrtAllocator* allocator, void* block) {
  ReportReleased("OrtAllocator.Free", allocator);
  HostAllocator::Free(block);
}
const OrtMemoryInfo* ORT_API_CALL ReleasedInfo(const OrtAllocator* allocator) {
  ReportReleased("OrtAllocator.Info", allocator);
  return ort_abi::Lend<OrtMemoryInfo>(HostAllocator::Default().memory());
}
OrtAllocator Released() noexcept {
  OrtAllocator released{};
  released.version = 1;  // the members that follow are not there
  released.Alloc = ReleasedAlloc;
  released.Free = ReleasedFree;
  released.Info = ReleasedInfo;
  return released;
}

OrtStatus* ORT_API_CALL StatsThunk(const OrtAllocator* allocator, OrtKeyValuePairs** out) noexcept {
  return abi::Guard("OrtAllocator.GetStats",
                    [&] { abi::Out(out) = static_cast<const HostAllocator*>(allocator)->MakeStats(); });
}

}  // namespace

void BudgetLink::Attach(light::MemoryBudget* budget) noexcept {
  std::lock_guard lock(mutex_);
  budget_ = budget;
}

void BudgetLink::Charge(std::size_t bytes, const std::string& user) {
  std::lock_guard lock(mutex_);
  if (budget_ == nullptr || budget_->TryCharge(bytes)) return;
  if (budget_->limit() == light::MemoryBudget::kUnlimited) throw OutOfMemory(user, bytes);
  throw ort_abi::StatusError(ORT_FAIL, user + ": needs " + std::to_string(bytes) + " bytes, over the memory limit of " +
                                           std::to_string(budget_->limit()) + " bytes (" +
                                           std::to_string(budget_->used()) + " in use)");
}

void BudgetLink::Release(std::size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  if (budget_ != nullptr) budget_->Release(bytes);
}

bool BudgetLink::Describe(std::size_t* limit, std::size_t* used) const noexcept {
  std::lock_guard lock(mutex_);
  if (budget_ == nullptr) return false;
  *limit = budget_->limit();
  *used = budget_->used();
  return true;
}

HostAllocator::HostAllocator(const MemoryDescription& memory, std::shared_ptr<BudgetLink> budget, std::string user)
    : OrtAllocator{}, memory_(memory), budget_(std::move(budget)), user_(std::move(user)) {
  version = ORT_API_VERSION;
  Alloc = AllocThunk;
  OrtAllocator::Free = FreeThunk;
  Info = InfoThunk;
  Reserve = ReserveThunk;
  GetStats = StatsThunk;
  AllocOnStream = budget_ != nullptr ? StreamThunk : nullptr;
  Shrink = nullptr;
  if (ort_abi::checked_hooks != nullptr) [[unlikely]]
    ort_abi::checked_hooks->born(static_cast<OrtAllocator*>(this), kAllocatorKind);
}

HostAllocator::~HostAllocator() {
  if (ort_abi::checked_hooks != nullptr) [[unlikely]]
    ort_abi::checked_hooks->died(static_cast<OrtAllocator*>(this), kAllocatorKind);
}

void* HostAllocator::operator new(std::size_t size) { return ::operator new(size); }

void HostAllocator::operator delete(void* memory, std::size_t size) noexcept {
  if (!checked::enabled()) [[likely]]
    return ::operator delete(memory, size);
  new (memory) OrtAllocator(Released());
  checked::Bury(memory, size, sizeof(OrtAllocator), [](void* block) { ::operator delete(block); });
}

OrtAllocator* HostAllocator::Give(std::unique_ptr<HostAllocator> allocator) noexcept {
  OrtAllocator* handle = allocator.release();
  if (ort_abi::checked_hooks != nullptr) [[unlikely]]
    ort_abi::checked_hooks->give(handle, kAllocatorKind);
  return handle;
}

HostAllocator& HostAllocator::Default() noexcept {
  static HostAllocator& allocator = *new HostAllocator(CpuMemory(OrtDeviceAllocator), nullptr, "default allocator");
  return allocator;
}

HostAllocator* HostAllocator::From(const OrtAllocator* allocator) noexcept {
  if (allocator->Alloc != AllocThunk) return nullptr;
  return static_cast<HostAllocator*>(const_cast<OrtAllocator*>(allocator));
}

std::shared_ptr<BudgetLink> HostAllocator::budget() const noexcept {
  const KernelContent* kernel = budget_ == nullptr ? CurrentKernel::Get() : nullptr;
  return kernel != nullptr ? kernel->scope->budget() : budget_;
}

const std::string& HostAllocator::user() const noexcept {
  const KernelContent* kernel = budget_ == nullptr ? CurrentKernel::Get() : nullptr;
  return kernel != nullptr ? kernel->label : user_;
}

void* HostAllocator::Allocate(std::size_t bytes) { return AllocateFor(budget(), user(), bytes); }

ort_abi::StatusError OutOfMemory(const std::string& user, std::size_t bytes) {
  return ort_abi::StatusError(ORT_RUNTIME_EXCEPTION,
                              user + ": out of memory, asked for " + std::to_string(bytes) + " bytes");
}

void* HostAllocator::AllocateFor(const std::shared_ptr<BudgetLink>& budget, const std::string& user,
                                 std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (budget != nullptr) budget->Charge(bytes, user);
  void* memory = nullptr;
  if (bytes <= kMaxBlock) {
    // Otherwise exactly as large as asked for, so that a sanitizer sees the end.
    const std::size_t guard = checked::enabled() ? kGuard : 0;
    if (posix_memalign(&memory, conversions::kBufferAlignment, sizeof(BlockHeader) + bytes + guard) != 0) {
      memory = nullptr;
    }
  }
  if (memory == nullptr && budget != nullptr) budget->Release(bytes);
  if (memory == nullptr) throw OutOfMemory(user, bytes);
  auto* header = new (memory) BlockHeader{kLiveBlock, bytes, budget};
  if (checked::enabled()) [[unlikely]]
    Protect(header);
  return header + 1;
}

void* HostAllocator::TryAllocate(std::size_t bytes) noexcept {
  try {
    return Allocate(bytes);
  } catch (const std::exception& error) {
    LogLine(ORT_LOGGING_LEVEL_WARNING, std::string("OrtAllocator.Alloc: ") + error.what());
    return nullptr;
  }
}

void HostAllocator::Free(void* block) noexcept {
  if (block == nullptr) return;
  auto* header = static_cast<BlockHeader*>(block) - 1;
  if (header->tag != kLiveBlock) [[unlikely]] {
    if (!checked::enabled()) {
      // Freed memory may say anything.
      LogLine(ORT_LOGGING_LEVEL_WARNING, "OrtAllocator.Free: no block of the host's that is in use; it is left alone");
    } else if (header->tag == kFreedBlock) {
      checked::Report("double_release", "OrtAllocator.Free", "the block was freed before");
    } else {
      checked::Report("wrong_kind", "OrtAllocator.Free", "the block is none of the host's");
    }
    return;
  }
  const std::size_t bytes = header->bytes;
  const std::size_t guard = header->has_guard ? kGuard : 0;
  if (guard > 0) [[unlikely]]
    JudgeGuards(*header);
  if (header->budget != nullptr) header->budget->Release(bytes);
  header->~BlockHeader();
  *const_cast<volatile std::uint64_t*>(&header->tag) = kFreedBlock;
  if (checked::enabled()) [[unlikely]]
    return checked::Bury(header, sizeof(BlockHeader) + bytes + guard, sizeof(header->tag), std::free);
  std::free(header);
}

std::unique_ptr<KeyValuePairsAdapter> HostAllocator::MakeStats() const {
  auto stats = std::make_unique<KeyValuePairsAdapter>();
  std::size_t limit = 0;
  std::size_t used = 0;
  if (budget_ != nullptr && budget_->Describe(&limit, &used)) {
    stats->Set("InUse", std::to_string(used));
    stats->Set("Limit", std::to_string(limit));
  }
  return stats;
}

void CheckAllocator(const OrtAllocator* allocator, const char* name) {
  ort_abi::Require(allocator, name);
  const std::string broken = checked::JudgeForeign(allocator, kAllocatorKind);
  if (!broken.empty()) throw ort_abi::StatusError(ORT_INVALID_ARGUMENT, broken);
  // Where a handle of ours has its kind, an allocator has the version of the interface that it was written for.
  if (allocator->version > kLastVersion) [[unlikely]] {
    throw ort_abi::StatusError(ORT_INVALID_ARGUMENT, std::string(name) + " is no allocator, version " +
                                                         std::to_string(allocator->version) +
                                                         " is none of the interface's");
  }
}

MemoryDescription RequireCpuMemory(OrtAllocator* allocator) {
  if (const HostAllocator* ours = HostAllocator::From(allocator)) return ours->memory().description();
  ort_abi::RequireVersion(allocator);
  const OrtMemoryInfo* info =
      ort_abi::Call<&OrtAllocator::Info, HostStatus>(static_cast<const OrtAllocator*>(allocator));
  const MemoryDescription memory = ort_abi::Borrow(info, "memory info of the allocator").description();
  if (!memory.is_plain_cpu()) {
    throw ort_abi::StatusError(ORT_INVALID_ARGUMENT,
                               "allocator: only plain CPU memory is written to, got memory of '" + memory.name + "'");
  }
  return memory;
}

void RequireFree(const OrtAllocator* allocator) {
  ort_abi::RequireVersion(allocator);
  if (!ort_abi::Has<&OrtAllocator::Free>(allocator)) {
    throw ort_abi::StatusError(ORT_INVALID_ARGUMENT, "OrtAllocator.Free: a required callback is missing, got null");
  }
}

void* AllocateWith(OrtAllocator* allocator, std::size_t bytes) {
  if (HostAllocator* ours = HostAllocator::From(allocator)) return ours->Allocate(bytes);
  RequireFree(allocator);
  return ort_abi::Call<&OrtAllocator::Alloc, HostStatus>(allocator, bytes);
}

void FreeWith(OrtAllocator* allocator, void* block) noexcept {
  if (HostAllocator::From(allocator) != nullptr) return HostAllocator::Free(block);
  try {
    ort_abi::Call<&OrtAllocator::Free, HostStatus>(allocator, block);
  } catch (const std::exception& error) {
    LogLine(ORT_LOGGING_LEVEL_ERROR, error.what());
  }
}

}  // namespace ort_host
