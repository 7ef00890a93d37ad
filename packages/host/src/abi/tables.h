// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ort_abi/ort_c_api.h>

namespace ort_host::abi {

/// The one table of the process, complete; it answers until the process ends.
const OrtApi& Api() noexcept;
/// What a library's registration receives.
const OrtEpApi& EpApi() noexcept;
const OrtApiBase& ApiBase() noexcept;
/// True for the versions that GetApi answers with the table.
bool IsGranted(uint32_t version) noexcept;

}  // namespace ort_host::abi
