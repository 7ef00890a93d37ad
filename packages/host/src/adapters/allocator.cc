// SPDX-License-Identifier: Apache-2.0
#include "adapters/allocator.h"

#include <cstdint>
#include <cstdlib>
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

constexpr std::uint64_t kLiveBlock = 0x4b4c424c49474854;
constexpr std::uint64_t kFreedBlock = 0x4445455246474854;
/// In front of each block: what Free needs to know, whichever allocator it is asked through.
struct alignas(conversions::kBufferAlignment) BlockHeader {
  std::uint64_t tag = kLiveBlock;
  std::size_t bytes = 0;
  std::shared_ptr<BudgetLink> budget;
};
static_assert(sizeof(BlockHeader) == conversions::kBufferAlignment);

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
    // Exactly as large as asked for, so that a sanitizer sees the end.
    if (posix_memalign(&memory, conversions::kBufferAlignment, sizeof(BlockHeader) + bytes) != 0) memory = nullptr;
  }
  if (memory == nullptr && budget != nullptr) budget->Release(bytes);
  if (memory == nullptr) throw OutOfMemory(user, bytes);
  auto* header = new (memory) BlockHeader{kLiveBlock, bytes, budget};
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
    if (header->tag == kFreedBlock) {
      checked::Report("double_release", "OrtAllocator.Free", "the block was freed before");
    } else {
      checked::Report("wrong_kind", "OrtAllocator.Free", "the block is none of the host's");
    }
    return;
  }
  const std::size_t bytes = header->bytes;
  if (header->budget != nullptr) header->budget->Release(bytes);
  header->~BlockHeader();
  *const_cast<volatile std::uint64_t*>(&header->tag) = kFreedBlock;
  if (checked::enabled()) [[unlikely]]
    return checked::Bury(header, sizeof(BlockHeader) + bytes, sizeof(header->tag), std::free);
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
