// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include <ort_abi/status_error.h>

#include "adapters/key_value_pairs.h"
#include "adapters/memory_info.h"
#include "light/memory_budget.h"

namespace ort_host {

/// The way from blocks that a library holds to the budget of their session. Outlives the session, which cuts the link:
/// a block freed later is charged to nobody. Thread-safe.
class BudgetLink {
 public:
  void Attach(light::MemoryBudget* budget) noexcept;
  void Cut() noexcept { Attach(nullptr); }
  /// Throws StatusError (FAIL) naming user, bytes and limit.
  void Charge(std::size_t bytes, const std::string& user);
  void Release(std::size_t bytes) noexcept;
  /// Limit and use; false if there is no limit.
  bool Describe(std::size_t* limit, std::size_t* used) const noexcept;

 private:
  mutable std::mutex mutex_;
  light::MemoryBudget* budget_ = nullptr;
};

/// An OrtAllocator of ours. Blocks are 64-byte aligned and may be freed through any of our allocators, from any thread.
///
/// There is the default allocator, whose blocks are charged to the session of the kernel that asks, if one does, and
/// wrappers that belong to a session and its memory limit; a wrapper lives until ReleaseAllocator.
class HostAllocator final : public OrtAllocator {
 public:
  /// @param user  for messages: who allocates, `node 'n' (domain.Op) of /path/lib.so`
  HostAllocator(const MemoryDescription& memory, std::shared_ptr<BudgetLink> budget, std::string user);
  HostAllocator(const HostAllocator&) = delete;
  ~HostAllocator();

  /// In checked mode the memory of a released one is kept for a while, with members that report their use.
  static void operator delete(void* memory, std::size_t size) noexcept;
  static void* operator new(std::size_t size);

  /// The process-wide allocator. Never destroyed.
  static HostAllocator& Default() noexcept;
  /// The allocator behind the handle if it is one of ours, else null.
  static HostAllocator* From(const OrtAllocator* allocator) noexcept;

  /// Gives a wrapper to a library, which releases it.
  static OrtAllocator* Give(std::unique_ptr<HostAllocator> allocator) noexcept;

  const MemoryInfoAdapter& memory() const noexcept { return memory_; }
  /// Whose limit counts what is allocated now: the session of the allocator or of the kernel that runs on this thread;
  /// null for nobody's.
  std::shared_ptr<BudgetLink> budget() const noexcept;
  /// Who allocates now, for messages.
  const std::string& user() const noexcept;
  bool is_default() const noexcept { return this == &Default(); }
  /// Null for 0 bytes. Throws StatusError: FAIL naming user, bytes and limit; RUNTIME_EXCEPTION out of memory.
  void* Allocate(std::size_t bytes);
  /// As Allocate, without an allocator object; `budget` may be null.
  static void* AllocateFor(const std::shared_ptr<BudgetLink>& budget, const std::string& user, std::size_t bytes);
  /// As Allocate, null on failure.
  void* TryAllocate(std::size_t bytes) noexcept;
  /// Null does nothing. A block that is not ours is reported and left alone.
  static void Free(void* block) noexcept;
  /// Use and limit of the session, for GetStats.
  std::unique_ptr<KeyValuePairsAdapter> MakeStats() const;

 private:
  MemoryInfoAdapter memory_;
  std::shared_ptr<BudgetLink> budget_;
  std::string user_;
};

/// More than an address space has; asking for it would only disturb the process.
inline constexpr std::size_t kMaxBlock = std::size_t{1} << 46;

/// The error of a `user` for whom the machine had no memory.
ort_abi::StatusError OutOfMemory(const std::string& user, std::size_t bytes);

/// Throws StatusError (INVALID_ARGUMENT) for null and for what is known to be no allocator that lives.
void CheckAllocator(const OrtAllocator* allocator, const char* name);
/// The allocator that a slot was given, ours or a library's, after CheckAllocator.
template <class Allocator>
Allocator* BorrowAllocator(Allocator* allocator, const char* name = "allocator") {
  CheckAllocator(allocator, name);
  return allocator;
}

/// Throws StatusError if a library's allocator has no version, or cannot take back what it gives.
void RequireFree(const OrtAllocator* allocator);
/// Allocates through any OrtAllocator, ours or a library's. Null for 0 bytes; a null of the callback is the caller's to
/// judge. Throws StatusError.
void* AllocateWith(OrtAllocator* allocator, std::size_t bytes);
/// The description of an allocator's memory. Throws StatusError (INVALID_ARGUMENT) unless it is plain CPU memory, the
/// only one that the host writes to.
MemoryDescription RequireCpuMemory(OrtAllocator* allocator);
/// Frees through any OrtAllocator. Never throws: what the callback throws is logged.
void FreeWith(OrtAllocator* allocator, void* block) noexcept;

}  // namespace ort_host
