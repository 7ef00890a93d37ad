// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>

#include <ort_abi/callbacks.h>

#include "abi/sections.h"
#include "adapters/current_kernel.h"
#include "adapters/kernel_context.h"

namespace ort_host::abi {
namespace {

/// Nanoseconds that one call of a library's loop body is taken to last: enough for several threads to be worth it.
constexpr double kTaskCost = 10'000;
/// More ranges than this balance nothing better.
constexpr size_t kMaxBatches = 1 << 16;

[[gnu::cold, gnu::noinline]] OrtStatus* BeyondInt(Slot slot, size_t index) {
  return slot.Fail(ORT_RUNTIME_EXCEPTION, "index: must fit in an int, got %zu", index);
}

OrtStatus* ORT_API_CALL KernelContext_GetInputCount(const OrtKernelContext* context, size_t* out) noexcept {
  return Guard("KernelContext_GetInputCount", [&] { Out(out) = Borrow(context).input_count(); });
}

OrtStatus* ORT_API_CALL KernelContext_GetOutputCount(const OrtKernelContext* context, size_t* out) noexcept {
  return Guard("KernelContext_GetOutputCount", [&] { Out(out) = Borrow(context).output_count(); });
}

[[gnu::flatten]] OrtStatus* ORT_API_CALL KernelContext_GetInput(const OrtKernelContext* context, size_t index,
                                                                const OrtValue** out) noexcept {
  return Guard("KernelContext_GetInput", [&](Slot slot) -> OrtStatus* {
    const KernelContextAdapter& adapter = Borrow(context);
    const auto destination = Out(out);
    if (index > INT_MAX) [[unlikely]]
      return BeyondInt(slot, index);
    const ValueAdapter* value = adapter.Input(index);
    destination = value != nullptr ? Lend<OrtValue>(*value) : nullptr;
    return nullptr;
  });
}

[[gnu::cold, gnu::noinline]] OrtStatus* CannotMakeOutput(Slot slot, const KernelContent& content, size_t index,
                                                         const light::Error& error) {
  // A size that overflows is a failure in ORT, not a wrong argument.
  const OrtErrorCode code = error.code() == light::ErrorCode::kInvalidArgument ? ORT_FAIL : ToOrtCode(error);
  return slot.Fail(code, "%s: output %zu: %s", content.label.c_str(), index, error.what());
}

[[gnu::flatten]] OrtStatus* ORT_API_CALL KernelContext_GetOutput(OrtKernelContext* context, size_t index,
                                                                 const int64_t* dim_values, size_t dim_count,
                                                                 OrtValue** out) noexcept {
  return Guard("KernelContext_GetOutput", [&](Slot slot) -> OrtStatus* {
    KernelContextAdapter& adapter = Borrow(context);
    const auto destination = Out(out);
    if (index > INT_MAX) [[unlikely]]
      return BeyondInt(slot, index);
    if (!adapter.OutputRequested(index)) [[unlikely]] {
      destination = static_cast<OrtValue*>(nullptr);
      return nullptr;
    }
    if (dim_count > 0) Require(dim_values, "dim_values");
    CheckRank("dim_count", dim_count);
    const std::span<const int64_t> dims(dim_values, dim_count);
    if (ValueAdapter* made = adapter.FindOutput(index)) [[unlikely]] {
      if (!made->tensor()->dims().Equals(dims)) {
        return slot.Fail(ORT_INVALID_ARGUMENT, "dim_values: output %zu was made with other extents before", index);
      }
      destination = Lend<OrtValue>(*made);
      return nullptr;
    }
    for (const int64_t dim : dims) {
      if (dim < 0) [[unlikely]] {
        return slot.Fail(ORT_FAIL, "%s: output %zu: an extent is negative, got %lld", adapter.content().label.c_str(),
                         index, static_cast<long long>(dim));
      }
    }
    try {
      destination = Lend<OrtValue>(*adapter.MakeOutput(index, dims));
    } catch (const light::Error& error) {
      return CannotMakeOutput(slot, adapter.content(), index, error);
    } catch (const std::bad_alloc&) {
      return slot.Fail(ORT_RUNTIME_EXCEPTION, "%s: output %zu: out of memory for extents %s",
                       adapter.content().label.c_str(), index, conversions::FormatExtents(dims).c_str());
    }
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetPreallocatedOutput(const OrtKernelContext* context, size_t output_index,
                                                            OrtValue** output) noexcept {
  return Guard("KernelContext_GetPreallocatedOutput", [&](Slot slot) -> OrtStatus* {
    const KernelContextAdapter& adapter = Borrow(context);
    const auto destination = Out(output, "output");
    if (output_index >= adapter.output_count()) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "output_index: the node has %zu outputs, got %zu", adapter.output_count(),
                       output_index);
    }
    destination = static_cast<OrtValue*>(nullptr);
    return nullptr;
  });
}

// --- Memory

OrtStatus* NoAllocator(Slot slot, const MemoryDescription& memory) {
  return slot.Fail(ORT_INVALID_ARGUMENT,
                   "mem_info: only plain CPU memory is served, got '%s' (device %d, memory %d, vendor %u, id %d, "
                   "alignment %zu)",
                   memory.name.c_str(), static_cast<int>(memory.device_type), static_cast<int>(memory.device_memory),
                   memory.vendor, memory.id, memory.alignment);
}

OrtStatus* ORT_API_CALL KernelContext_GetAllocator(const OrtKernelContext* context, const OrtMemoryInfo* mem_info,
                                                   OrtAllocator** out) noexcept {
  return Guard("KernelContext_GetAllocator", [&](Slot slot) -> OrtStatus* {
    const KernelContent& content = Borrow(context).content();
    const MemoryDescription& memory = Borrow(mem_info, "mem_info").description();
    const auto destination = Out(out);
    if (!memory.is_plain_cpu()) return NoAllocator(slot, memory);
    destination = HostAllocator::Give(content.scope->MakeAllocator(content.label));
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetScratchBuffer(const OrtKernelContext* context, const OrtMemoryInfo* mem_info,
                                                       size_t count_or_bytes, void** out) noexcept {
  return Guard("KernelContext_GetScratchBuffer", [&](Slot slot) -> OrtStatus* {
    const KernelContent& content = Borrow(context).content();
    const MemoryDescription& memory = Borrow(mem_info, "mem_info").description();
    const auto destination = Out(out);
    if (!memory.is_plain_cpu()) return NoAllocator(slot, memory);
    // The caller frees the block with an allocator of the session, maybe in another run.
    destination = HostAllocator::AllocateFor(content.scope->budget(), content.label, count_or_bytes);
    return nullptr;
  });
}

// --- Threads, logging, devices

OrtStatus* ORT_API_CALL KernelContext_ParallelFor(const OrtKernelContext* context, void (*fn)(void*, size_t),
                                                  size_t total, size_t num_batch, void* usr_data) noexcept {
  return Guard("KernelContext_ParallelFor", [&](Slot slot) -> OrtStatus* {
    if (context == nullptr) return slot.Fail(ORT_RUNTIME_EXCEPTION, "context is null");
    const KernelContextAdapter& adapter = Borrow(context);
    if (fn == nullptr || total == 0) return nullptr;
    const auto range = [&](size_t begin, size_t end) {
      const CurrentKernel current(adapter.content());  // the body may be on another thread than the kernel
      for (size_t i = begin; i < end; ++i) ort_abi::CallFunction<HostStatus>("the callback", fn, usr_data, i);
    };
    const size_t batches = std::min({num_batch == 0 ? total : num_batch, total, kMaxBatches});
    if (batches == 1) {
      range(0, total);
      return nullptr;
    }
    const size_t length = total / batches;
    const size_t longer = total % batches;  // as many ranges have one index more
    adapter.runtime().ParallelFor(static_cast<int64_t>(batches), kTaskCost, [&](int64_t first, int64_t last) {
      for (auto batch = static_cast<size_t>(first); batch < static_cast<size_t>(last); ++batch) {
        const size_t begin = batch * length + std::min(batch, longer);
        range(begin, begin + length + (batch < longer ? 1 : 0));
      }
    });
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetLogger(const OrtKernelContext* context, const OrtLogger** logger) noexcept {
  return Guard("KernelContext_GetLogger",
               [&] { Out(logger, "logger") = Lend<OrtLogger>(Borrow(context).content().scope->logger()); });
}

OrtStatus* ORT_API_CALL KernelContext_GetGPUComputeStream(const OrtKernelContext* context, void** out) noexcept {
  return Guard("KernelContext_GetGPUComputeStream", [&] {
    Borrow(context);
    Out(out) = nullptr;
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetSyncStream(const OrtKernelContext* context, OrtSyncStream** out) noexcept {
  return Guard("KernelContext_GetSyncStream", [&] {
    Borrow(context);
    Out(out) = static_cast<OrtSyncStream*>(nullptr);
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetResource(const OrtKernelContext* context, int resource_version,
                                                  int resource_id, void** resource) noexcept {
  return Guard("KernelContext_GetResource", [&](Slot slot) -> OrtStatus* {
    Borrow(context);
    Require(resource, "resource");
    return slot.Fail(ORT_INVALID_ARGUMENT, "resource_id: a CPU has no resources, got %d (version %d)", resource_id,
                     resource_version);
  });
}

constexpr Limit kLimits[] = {
    {"OrtApi", "KernelContext_GetGPUComputeStream", "a CPU has no stream: success with null"},
    {"OrtApi", "KernelContext_GetSyncStream", "a CPU has no stream: success with null"},
};

}  // namespace

std::span<const Limit> KernelContextLimits() noexcept { return kLimits; }

void FillKernelContext(OrtApi& table) noexcept {
  table.KernelContext_GetInputCount = KernelContext_GetInputCount;
  table.KernelContext_GetOutputCount = KernelContext_GetOutputCount;
  table.KernelContext_GetInput = KernelContext_GetInput;
  table.KernelContext_GetOutput = KernelContext_GetOutput;
  table.KernelContext_GetPreallocatedOutput = KernelContext_GetPreallocatedOutput;
  table.KernelContext_GetAllocator = KernelContext_GetAllocator;
  table.KernelContext_GetScratchBuffer = KernelContext_GetScratchBuffer;
  table.KernelContext_ParallelFor = KernelContext_ParallelFor;
  table.KernelContext_GetLogger = KernelContext_GetLogger;
  table.KernelContext_GetGPUComputeStream = KernelContext_GetGPUComputeStream;
  table.KernelContext_GetSyncStream = KernelContext_GetSyncStream;
  table.KernelContext_GetResource = KernelContext_GetResource;
}

}  // namespace ort_host::abi
