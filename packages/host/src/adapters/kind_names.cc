// SPDX-License-Identifier: Apache-2.0
#include "adapters/kind_names.h"

#include "adapters/kinds.h"

namespace ort_host {
namespace {

constexpr struct {
  uint32_t kind;
  const char* name;
} kKindNames[] = {
    {kStatusKind, "OrtStatus"},
    {kValueKind, "OrtValue"},
    {kTypeAndShapeKind, "OrtTensorTypeAndShapeInfo"},
    {kTypeInfoKind, "OrtTypeInfo"},
    {kMemoryInfoKind, "OrtMemoryInfo"},
    {kKernelInfoKind, "OrtKernelInfo"},
    {kKernelContextKind, "OrtKernelContext"},
    {kShapeInferKind, "OrtShapeInferContext"},
    {kOpAttrKind, "OrtOpAttr"},
    {kLoggerKind, "OrtLogger"},
    {kKeyValuePairsKind, "OrtKeyValuePairs"},
    {kSessionOptionsKind, "OrtSessionOptions"},
    {kCustomOpDomainKind, "OrtCustomOpDomain"},
    {kAllocatorKind, "OrtAllocator"},
    {kHardwareDeviceKind, "OrtHardwareDevice"},
    {kEpDeviceKind, "OrtEpDevice"},
    {kMemoryDeviceKind, "OrtMemoryDevice"},
    {kOpSchemaKind, "OrtOpSchema"},
    {kTypeConstraintKind, "OrtOpSchemaTypeConstraint"},
    {kGraphKind, "OrtGraph"},
    {kNodeKind, "OrtNode"},
    {kValueInfoKind, "OrtValueInfo"},
    {kExternalInfoKind, "OrtExternalInitializerInfo"},
    {kModelMetadataKind, "OrtModelMetadata"},
    {kKernelDefBuilderKind, "OrtKernelDefBuilder"},
    {kKernelDefKind, "OrtKernelDef"},
    {kKernelRegistryKind, "OrtKernelRegistry"},
    {kDataTypeKind, "OrtDataType"},
    {kGraphSupportKind, "OrtEpGraphSupportInfo"},
    {kRunOptionsKind, "OrtRunOptions"},
    {kNodeComputeKind, "OrtNodeComputeContext"},
    {kIncompatibilityKind, "OrtDeviceEpIncompatibilityDetails"},
};

}  // namespace

const char* KindName(uint32_t kind) noexcept {
  for (const auto& known : kKindNames) {
    if (known.kind == kind) return known.name;
  }
  return "an unknown handle";
}

}  // namespace ort_host
