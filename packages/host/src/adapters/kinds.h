// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <ort_abi/handle.h>

namespace ort_host {

/// First base of each adapter: the kind tag, and, in checked mode, a quarantine for the memory of released ones, so
/// that a use after release finds a dead tag instead of somebody else's data.
class AdapterBase : public ort_abi::AdapterHeader {
 public:
  using AdapterHeader::AdapterHeader;
  static void* operator new(std::size_t size);
  static void* operator new(std::size_t, void* place) noexcept { return place; }
  static void operator delete(void* memory, std::size_t size) noexcept;
  static void operator delete(void*, void*) noexcept {}

 protected:
  ~AdapterBase() = default;
};

// The tag of each kind of handle: four letters, so that a memory dump can be read.
inline constexpr uint32_t kStatusKind = 0x54415453;            // STAT
inline constexpr uint32_t kValueKind = 0x554c4156;             // VALU
inline constexpr uint32_t kTypeAndShapeKind = 0x45504853;      // SHPE
inline constexpr uint32_t kTypeInfoKind = 0x45505954;          // TYPE
inline constexpr uint32_t kMemoryInfoKind = 0x494d454d;        // MEMI
inline constexpr uint32_t kKernelInfoKind = 0x4f464e49;        // INFO
inline constexpr uint32_t kKernelContextKind = 0x54585443;     // CTXT
inline constexpr uint32_t kShapeInferKind = 0x52464e49;        // INFR
inline constexpr uint32_t kOpAttrKind = 0x52545441;            // ATTR
inline constexpr uint32_t kLoggerKind = 0x52474f4c;            // LOGR
inline constexpr uint32_t kKeyValuePairsKind = 0x5350564b;     // KVPS
inline constexpr uint32_t kSessionOptionsKind = 0x5354504f;    // OPTS
inline constexpr uint32_t kCustomOpDomainKind = 0x4e4d4f44;    // DOMN
inline constexpr uint32_t kAllocatorKind = 0x4f4c4c41;         // ALLO
inline constexpr uint32_t kHardwareDeviceKind = 0x56454448;    // HDEV
inline constexpr uint32_t kEpDeviceKind = 0x56445045;          // EPDV
inline constexpr uint32_t kMemoryDeviceKind = 0x56454d4d;      // MMEV
inline constexpr uint32_t kOpSchemaKind = 0x4d484353;          // SCHM
inline constexpr uint32_t kTypeConstraintKind = 0x53434c54;    // TLCS
inline constexpr uint32_t kGraphKind = 0x48505247;             // GRPH
inline constexpr uint32_t kNodeKind = 0x45444f4e;              // NODE
inline constexpr uint32_t kValueInfoKind = 0x464e4956;         // VINF
inline constexpr uint32_t kExternalInfoKind = 0x49545845;      // EXTI
inline constexpr uint32_t kModelMetadataKind = 0x4154454d;     // META
inline constexpr uint32_t kKernelDefBuilderKind = 0x4c424b44;  // DKBL
inline constexpr uint32_t kKernelDefKind = 0x4645444b;         // KDEF
inline constexpr uint32_t kKernelRegistryKind = 0x4745524b;    // KREG
inline constexpr uint32_t kDataTypeKind = 0x50595444;          // DTYP
inline constexpr uint32_t kGraphSupportKind = 0x50505553;      // SUPP
inline constexpr uint32_t kRunOptionsKind = 0x504f5552;        // RUOP
inline constexpr uint32_t kNodeComputeKind = 0x504d434e;       // NCMP
inline constexpr uint32_t kIncompatibilityKind = 0x4d434e49;   // INCM

}  // namespace ort_host

/// Links an ORT tag to the adapter behind it; use at namespace scope, outside of any namespace.
#define ORT_HOST_HANDLE(Tag, Type, kind, name)          \
  template <>                                           \
  struct ort_abi::HandleTraits<Tag> {                   \
    using Adapter = ::ort_host::Type;                   \
    static constexpr uint32_t kKind = ::ort_host::kind; \
    static constexpr const char* kName = name;          \
  }
