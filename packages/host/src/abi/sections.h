// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "abi/guard.h"

namespace ort_host::abi {

// Each section of the ABI sets its slots in a table that holds stubs so far.
void FillStatus(OrtApi& table) noexcept;
void FillValues(OrtApi& table) noexcept;
void FillStrings(OrtApi& table) noexcept;
void FillTypes(OrtApi& table) noexcept;
void FillMemory(OrtApi& table) noexcept;
void FillAllocators(OrtApi& table) noexcept;
void FillKernelContext(OrtApi& table) noexcept;
void FillKernelInfo(OrtApi& table) noexcept;
void FillAttributes(OrtApi& table) noexcept;
void FillOpAttr(OrtApi& table) noexcept;
void FillConfig(OrtApi& table) noexcept;
void FillLogging(OrtApi& table) noexcept;
void FillCustomOpDomain(OrtApi& table) noexcept;
void FillShapeInference(OrtApi& table) noexcept;
void FillEnv(OrtApi& table) noexcept;
void FillDevices(OrtApi& table) noexcept;
void FillGraphs(OrtApi& table) noexcept;
void FillNodes(OrtApi& table) noexcept;
void FillValueInfos(OrtApi& table) noexcept;
void FillModelMetadata(OrtApi& table) noexcept;
void FillRunOptions(OrtApi& table) noexcept;
// Those of OrtEpApi.
void FillEpDevices(OrtEpApi& table) noexcept;
void FillOpSchemas(OrtEpApi& table) noexcept;
void FillKernelDefs(OrtEpApi& table) noexcept;
void FillEpSession(OrtEpApi& table) noexcept;

/// Extents that a library may pass at once. Model files have no higher rank, and a count without sense is no reason to
/// read foreign memory.
inline constexpr std::size_t kMaxRank = 256;

[[noreturn, gnu::cold, gnu::noinline]] inline void RefuseRank(const char* name, std::size_t count) {
  throw StatusError(ORT_FAIL, std::string(name) + ": at most " + std::to_string(kMaxRank) + " dimensions, got " +
                                  std::to_string(count));
}
inline void CheckRank(const char* name, std::size_t count) {
  if (count > kMaxRank) [[unlikely]]
    RefuseRank(name, count);
}

/// What a slot does not do, in one sentence; a contract test shows it.
struct Limit {
  const char* table;
  const char* slot;
  const char* sentence;
};
std::span<const Limit> KernelContextLimits() noexcept;
std::span<const Limit> OpSchemaLimits() noexcept;

/// A string by the two calls that the ABI has for it: `*size` is in bytes and counts the trailing NUL, a null `out`
/// asks for the size. `size` is not null.
inline OrtStatus* CopyString(Slot slot, std::string_view text, char* out, std::size_t* size) {
  const std::size_t needed = text.size() + 1;
  const std::size_t given = *size;
  *size = needed;
  if (out == nullptr) return nullptr;
  if (given < needed) return slot.Fail(ORT_INVALID_ARGUMENT, "size: %zu bytes are needed, got %zu", needed, given);
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return nullptr;
}

/// As CopyString for numbers: `*size` is in elements.
template <class T>
OrtStatus* CopyArray(Slot slot, const T* data, std::size_t count, T* out, std::size_t* size) {
  const std::size_t given = *size;
  *size = count;
  if (out == nullptr) return nullptr;
  if (given < count) return slot.Fail(ORT_INVALID_ARGUMENT, "size: %zu elements are needed, got %zu", count, given);
  if (count > 0) std::memcpy(out, data, count * sizeof(T));
  return nullptr;
}

}  // namespace ort_host::abi
