// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <ort_abi/ort_c_api.h>

namespace ort_plugin {

/// The oldest table that has every slot used here; the newest of them read an attribute that is a list of strings.
inline constexpr uint32_t kOldestApi = 25;

/// The name of the execution provider, and the domain of the custom operators.
inline constexpr const char* kEpName = "OnnxLightExecutionProvider";
inline constexpr const char* kDomain = "onnx_light";

/// What a caller of an entry point gave: the table, or the status that refuses it.
struct GrantedApi {
  const OrtApi* api = nullptr;   ///< of version kOldestApi or newer
  OrtStatus* refused = nullptr;  ///< for the caller, if `api` is null
};

/// Asks for the version that is needed. Aborts the process, with a message, if there is no table of any version: no
/// status can be made then, and null would mean success.
GrantedApi AskForApi(const OrtApiBase* base, const char* entry_point);

/// The table of the last caller that was granted one, for the entry point that is given none; null before.
const OrtApi* LastApi() noexcept;

}  // namespace ort_plugin
