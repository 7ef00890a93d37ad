// SPDX-License-Identifier: Apache-2.0
#include <ort_abi/callbacks.h>

#include "abi/sections.h"
#include "adapters/allocator.h"

namespace ort_host::abi {
namespace {

OrtStatus* ORT_API_CALL GetAllocatorWithDefaultOptions(OrtAllocator** out) noexcept {
  return Guard("GetAllocatorWithDefaultOptions",
               [&] { Out(out) = static_cast<OrtAllocator*>(&HostAllocator::Default()); });
}

OrtStatus* ORT_API_CALL AllocatorAlloc(OrtAllocator* allocator, size_t size, void** out) noexcept {
  return Guard("AllocatorAlloc", [&](Slot slot) -> OrtStatus* {
    Require(allocator, "ort_allocator");
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
    Require(allocator, "ort_allocator");
    if (block != nullptr) FreeWith(allocator, block);
  });
}

OrtStatus* ORT_API_CALL AllocatorGetInfo(const OrtAllocator* allocator, const OrtMemoryInfo** out) noexcept {
  return Guard("AllocatorGetInfo", [&] {
    ort_abi::RequireVersion(Require(allocator, "ort_allocator"));
    Out(out) = ort_abi::Call<&OrtAllocator::Info, HostStatus>(allocator);
  });
}

void ORT_API_CALL ReleaseAllocator(OrtAllocator* allocator) noexcept {
  if (allocator == nullptr) return;
  HostAllocator* ours = HostAllocator::From(allocator);
  if (ours == nullptr || ours->is_default()) {
    checked::Report("release_of_borrowed",
                    "ReleaseAllocator: only allocators from a kernel's info or context are owned");
    return;
  }
  delete ours;
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
