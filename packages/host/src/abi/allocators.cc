// SPDX-License-Identifier: Apache-2.0
#include <ort_abi/callbacks.h>

#include "abi/sections.h"
#include "adapters/allocator.h"
#include "adapters/logger.h"

namespace ort_host::abi {
namespace {

constexpr const char* kAllocator = "ort_allocator";

OrtStatus* ORT_API_CALL GetAllocatorWithDefaultOptions(OrtAllocator** out) noexcept {
  return Guard("GetAllocatorWithDefaultOptions",
               [&] { Out(out) = static_cast<OrtAllocator*>(&HostAllocator::Default()); });
}

OrtStatus* ORT_API_CALL AllocatorAlloc(OrtAllocator* allocator, size_t size, void** out) noexcept {
  return Guard("AllocatorAlloc", [&](Slot slot) -> OrtStatus* {
    BorrowAllocator(allocator, kAllocator);
    const auto destination = Out(out);
    void* block = AllocateWith(allocator, size);
    if (block == nullptr && size > 0) {
      return slot.Fail(ORT_RUNTIME_EXCEPTION, "ort_allocator: out of memory, asked for %zu bytes", size);
    }
    destination = block;
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL AllocatorFree(OrtAllocator* allocator, void* block) noexcept {
  return Guard("AllocatorFree", [&] {
    BorrowAllocator(allocator, kAllocator);
    if (block != nullptr) FreeWith(allocator, block);
  });
}

OrtStatus* ORT_API_CALL AllocatorGetInfo(const OrtAllocator* allocator, const OrtMemoryInfo** out) noexcept {
  return Guard("AllocatorGetInfo", [&] {
    ort_abi::RequireVersion(BorrowAllocator(allocator, kAllocator));
    Out(out) = ort_abi::Call<&OrtAllocator::Info, HostStatus>(allocator);
  });
}

void ORT_API_CALL ReleaseAllocator(OrtAllocator* allocator) noexcept {
  if (allocator == nullptr) return;
  if (allocator == &HostAllocator::Default()) {
    return checked::Report("release_of_borrowed", "ReleaseAllocator", "the default allocator is nobody's");
  }
  const checked::InSlot in_slot("ReleaseAllocator");
  if (ort_abi::checked_hooks != nullptr) [[unlikely]] {
    if (!ort_abi::checked_hooks->take(allocator, kAllocatorKind)) return;
  }
  if (HostAllocator* ours = HostAllocator::From(allocator)) {
    delete ours;
  } else {
    // A library's own, or released memory, which may say anything.
    LogLine(ORT_LOGGING_LEVEL_WARNING, "ReleaseAllocator: no allocator of the host's that lives; it is left alone");
  }
}

}  // namespace

void FillAllocators(OrtApi& table) noexcept {
  table.GetAllocatorWithDefaultOptions = GetAllocatorWithDefaultOptions;
  table.AllocatorAlloc = AllocatorAlloc;
  table.AllocatorFree = AllocatorFree;
  table.AllocatorGetInfo = AllocatorGetInfo;
  table.ReleaseAllocator = ReleaseAllocator;
}

}  // namespace ort_host::abi
