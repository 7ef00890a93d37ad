// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ort_host {

/// True for MAJOR.MINOR.PATCH[-pre][+build] as Semantic Versioning 2.0.0 has it, with numbers that fit in 32 bits.
bool IsSemanticVersion(std::string_view text) noexcept;

}  // namespace ort_host
