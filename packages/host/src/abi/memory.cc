// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>

#include "abi/sections.h"
#include "adapters/memory_info.h"

namespace ort_host::abi {
namespace {

/// A name that CreateMemoryInfo knows, and the memory that it stands for.
struct KnownMemory {
  const char* name;
  OrtMemoryInfoDeviceType device;
  OrtDeviceMemoryType memory;
  uint32_t vendor;
};

constexpr uint32_t kAmd = 0x1002;
constexpr uint32_t kNvidia = 0x10de;
constexpr uint32_t kIntel = 0x8086;
constexpr uint32_t kMicrosoft = 0x1414;
constexpr uint32_t kQualcomm = 0x5143;

constexpr auto kGpu = OrtMemoryInfoDeviceType_GPU;
constexpr auto kNpu = OrtMemoryInfoDeviceType_NPU;
constexpr auto kOwnMemory = OrtDeviceMemoryType_DEFAULT;
constexpr auto kPinned = OrtDeviceMemoryType_HOST_ACCESSIBLE;

constexpr KnownMemory kKnownMemories[] = {
    {"Cpu", OrtMemoryInfoDeviceType_CPU, kOwnMemory, 0},
    {"Cuda", kGpu, kOwnMemory, kNvidia},
    {"CudaPinned", kGpu, kPinned, kNvidia},
    {"DML", kGpu, kOwnMemory, kMicrosoft},
    {"Hip", kGpu, kOwnMemory, kAmd},
    {"HipPinned", kGpu, kPinned, kAmd},
    {"OpenVINO_GPU", kGpu, kOwnMemory, kIntel},
    {"OpenVINO_RT_NPU", kNpu, kOwnMemory, kIntel},
    {"QnnHtpShared", OrtMemoryInfoDeviceType_CPU, kPinned, kQualcomm},
    {"WebGPU_Buf", kGpu, kOwnMemory, 0},
    {"WebGPU_Buffer", kGpu, kOwnMemory, 0},
    {"WebNN_Ten", kGpu, kOwnMemory, 0},
    {"WebNN_Tensor", kGpu, kOwnMemory, 0},
};

OrtStatus* ORT_API_CALL CreateMemoryInfo(const char* name, OrtAllocatorType type, int id, OrtMemType mem_type,
                                         OrtMemoryInfo** out) noexcept {
  return Guard("CreateMemoryInfo", [&](Slot slot) -> OrtStatus* {
    Require(name, "name");
    const auto destination = Out(out);
    for (const KnownMemory& known : kKnownMemories) {
      if (std::strcmp(known.name, name) != 0) continue;
      MemoryDescription description;
      description.name = name;
      description.allocator_type = type;
      description.mem_type = mem_type;
      description.id = std::strcmp(name, "Cpu") == 0 ? 0 : static_cast<int16_t>(id);
      description.device_type = known.device;
      description.device_memory = known.memory;
      description.vendor = known.vendor;
      destination = MemoryInfoAdapter::MakeOwned(std::move(description));
      return nullptr;
    }
    return slot.Fail(ORT_INVALID_ARGUMENT, "name: a known memory name is expected, got '%s'", name);
  });
}

OrtStatus* ORT_API_CALL CreateCpuMemoryInfo(OrtAllocatorType type, OrtMemType mem_type, OrtMemoryInfo** out) noexcept {
  return Guard("CreateCpuMemoryInfo", [&] {
    const auto destination = Out(out);
    MemoryDescription description = CpuMemory(type);
    description.mem_type = mem_type;
    destination = MemoryInfoAdapter::MakeOwned(std::move(description));
  });
}

OrtStatus* ORT_API_CALL CreateMemoryInfo_V2(const char* name, OrtMemoryInfoDeviceType device_type, uint32_t vendor_id,
                                            int32_t device_id, OrtDeviceMemoryType mem_type, size_t alignment,
                                            OrtAllocatorType allocator_type, OrtMemoryInfo** out) noexcept {
  return Guard("CreateMemoryInfo_V2", [&](Slot slot) -> OrtStatus* {
    Require(name, "name");
    const auto destination = Out(out);
    if (device_type < OrtMemoryInfoDeviceType_CPU || device_type > OrtMemoryInfoDeviceType_NPU) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "device_type: unknown, got %d", static_cast<int>(device_type));
    }
    if (mem_type != OrtDeviceMemoryType_DEFAULT && mem_type != OrtDeviceMemoryType_HOST_ACCESSIBLE) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "mem_type: unknown, got %d", static_cast<int>(mem_type));
    }
    if (alignment != 0 && (alignment & (alignment - 1)) != 0) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "alignment: must be a power of two or 0, got %zu", alignment);
    }
    if (allocator_type < OrtInvalidAllocator || allocator_type > OrtReadOnlyAllocator) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "allocator_type: unknown, got %d", static_cast<int>(allocator_type));
    }
    if (device_id < std::numeric_limits<int16_t>::min() || device_id > std::numeric_limits<int16_t>::max()) {
      return slot.Fail(ORT_RUNTIME_EXCEPTION, "device_id: must fit in 16 bits, got %d", static_cast<int>(device_id));
    }
    MemoryDescription description;
    description.name = name;
    description.allocator_type = allocator_type;
    description.mem_type = mem_type == OrtDeviceMemoryType_DEFAULT ? OrtMemTypeDefault : OrtMemTypeCPU;
    description.id = device_id;
    description.device_type = device_type;
    description.device_memory = mem_type;
    description.vendor = vendor_id;
    description.alignment = alignment;
    destination = MemoryInfoAdapter::MakeOwned(std::move(description));
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL CompareMemoryInfo(const OrtMemoryInfo* info1, const OrtMemoryInfo* info2, int* out) noexcept {
  return Guard("CompareMemoryInfo", [&] {
    Out(out) = Borrow(info1, "info1").description() == Borrow(info2, "info2").description() ? 0 : -1;
  });
}

OrtStatus* ORT_API_CALL MemoryInfoGetName(const OrtMemoryInfo* info, const char** out) noexcept {
  return Guard("MemoryInfoGetName", [&] { Out(out) = Borrow(info).description().name.c_str(); });
}

OrtStatus* ORT_API_CALL MemoryInfoGetId(const OrtMemoryInfo* info, int* out) noexcept {
  return Guard("MemoryInfoGetId", [&] { Out(out) = Borrow(info).description().id; });
}

OrtStatus* ORT_API_CALL MemoryInfoGetMemType(const OrtMemoryInfo* info, OrtMemType* out) noexcept {
  return Guard("MemoryInfoGetMemType", [&] { Out(out) = Borrow(info).description().mem_type; });
}

OrtStatus* ORT_API_CALL MemoryInfoGetType(const OrtMemoryInfo* info, OrtAllocatorType* out) noexcept {
  return Guard("MemoryInfoGetType", [&] { Out(out) = Borrow(info).description().allocator_type; });
}

// These return no status: a bad handle is answered with the values of plain CPU memory.

MemoryDescription Described(const char* slot, const OrtMemoryInfo* info) noexcept {
  MemoryDescription description;
  ReleaseStatusHandle(Guard(slot, [&] { description = Borrow(info).description(); }));
  return description;
}

void ORT_API_CALL MemoryInfoGetDeviceType(const OrtMemoryInfo* info, OrtMemoryInfoDeviceType* out) noexcept {
  if (out != nullptr) *out = Described("MemoryInfoGetDeviceType", info).device_type;
}

OrtDeviceMemoryType ORT_API_CALL MemoryInfoGetDeviceMemType(const OrtMemoryInfo* info) noexcept {
  return Described("MemoryInfoGetDeviceMemType", info).device_memory;
}

uint32_t ORT_API_CALL MemoryInfoGetVendorId(const OrtMemoryInfo* info) noexcept {
  return Described("MemoryInfoGetVendorId", info).vendor;
}

void ORT_API_CALL ReleaseMemoryInfo(OrtMemoryInfo* info) noexcept {
  auto adapter = TakeIn("ReleaseMemoryInfo", info);
  if (adapter != nullptr && !adapter->is_owned()) {
    checked::Report("release_of_borrowed", "ReleaseMemoryInfo", "the info of an allocator or a value is borrowed");
    adapter.release();
  }
}

}  // namespace

void FillMemory(OrtApi& table) noexcept {
  table.CreateMemoryInfo = CreateMemoryInfo;
  table.CreateCpuMemoryInfo = CreateCpuMemoryInfo;
  table.CreateMemoryInfo_V2 = CreateMemoryInfo_V2;
  table.CompareMemoryInfo = CompareMemoryInfo;
  table.MemoryInfoGetName = MemoryInfoGetName;
  table.MemoryInfoGetId = MemoryInfoGetId;
  table.MemoryInfoGetMemType = MemoryInfoGetMemType;
  table.MemoryInfoGetType = MemoryInfoGetType;
  table.MemoryInfoGetDeviceType = MemoryInfoGetDeviceType;
  table.MemoryInfoGetDeviceMemType = MemoryInfoGetDeviceMemType;
  table.MemoryInfoGetVendorId = MemoryInfoGetVendorId;
  table.ReleaseMemoryInfo = ReleaseMemoryInfo;
}

}  // namespace ort_host::abi
