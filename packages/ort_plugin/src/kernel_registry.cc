// SPDX-License-Identifier: Apache-2.0
#include "kernel_registry.h"

#include "api.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

/// True if the parameter is one of the schema's own, such as "T". A type that the schema fixes has a parameter here,
/// too, which no host knows by that name; nothing else than the fixed type can arrive then.
bool IsNamed(const light::TypeParameter& parameter) { return parameter.name.find('(') == std::string::npos; }

/// The host's types among those of the set. Types that it does not know are left out: no value can have them.
std::vector<const OrtDataType*> HostTypes(const OrtApi& api, const OrtEpApi& ep_api, const light::TypeSet& set) {
  std::vector<const OrtDataType*> types;
  for (int32_t number = 1; number < conversions::kElementTypeCount; ++number) {
    const auto element = static_cast<light::ElementType>(number);
    if ((set.tensors >> number & 1u) == 0 || conversions::ToOrt(element) == 0) continue;
    const OrtDataType* type = nullptr;
    OrtStatus* status =
        ep_api.GetTensorDataType(static_cast<ONNXTensorElementDataType>(conversions::ToOrt(element)), &type);
    if (status == nullptr) {
      types.push_back(type);
    } else if (api.GetErrorCode(status) == ORT_NOT_IMPLEMENTED) {
      api.ReleaseStatus(status);
    } else {
      ThrowIfError(api, status);
    }
  }
  return types;
}

/// False if a type parameter has no type that the host knows.
bool Describe(const OrtApi& api, const OrtEpApi& ep_api, const SupportedOperator& supported,
              OrtKernelDefBuilder* builder) {
  const light::OperatorSchema& schema = *supported.schema;
  ThrowIfError(api, ep_api.KernelDefBuilder_SetOperatorType(builder, schema.name.c_str()));
  ThrowIfError(api, ep_api.KernelDefBuilder_SetDomain(builder, schema.domain.c_str()));
  ThrowIfError(api, ep_api.KernelDefBuilder_SetSinceVersion(builder, schema.since_version, schema.since_version));
  ThrowIfError(api, ep_api.KernelDefBuilder_SetExecutionProvider(builder, kEpName));
  for (std::size_t i = 0; i < supported.types.size(); ++i) {
    const light::TypeParameter& parameter = schema.type_parameters[i];
    if (!IsNamed(parameter)) continue;
    const std::vector<const OrtDataType*> types = HostTypes(api, ep_api, supported.types[i]);
    if (types.empty()) return false;
    ThrowIfError(
        api, ep_api.KernelDefBuilder_AddTypeConstraint(builder, parameter.name.c_str(), types.data(), types.size()));
  }
  for (const auto& [input, output] : supported.aliases) {
    ThrowIfError(api, ep_api.KernelDefBuilder_AddInputOutputAliases(builder, &input, &output, 1));
  }
  return true;
}

}  // namespace

ort_abi::OwnedHandle<OrtKernelRegistry> MakeKernelRegistry(const OrtApi& api, const OrtEpApi& ep_api,
                                                           OrtKernelCreateFunc create, void* state) {
  auto registry = ort_abi::Receive<OrtKernelRegistry>(api, ep_api, ep_api.CreateKernelRegistry);
  for (const SupportedOperator& supported : SupportedOperators()) {
    const auto builder = ort_abi::Receive<OrtKernelDefBuilder>(api, ep_api, ep_api.CreateKernelDefBuilder);
    if (!Describe(api, ep_api, supported, builder.get())) continue;
    const auto definition = ort_abi::Receive<OrtKernelDef>(
        api, ep_api, [&](OrtKernelDef** out) { return ep_api.KernelDefBuilder_Build(builder.get(), out); });
    ThrowIfError(api, ep_api.KernelRegistry_AddKernel(registry.get(), definition.get(), create, state));
  }
  return registry;
}

}  // namespace ort_plugin
