// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ort_host {

/// Functions that a library defines and does not export, whose names contain `part`, whatever its case; linkers keep
/// them for debuggers unless told not to. For hints: a file that has no such table, or a damaged one, gives none.
std::vector<std::string> LocalFunctions(const std::string& path, std::string_view part);

/// True if `text` contains `part`, both in any case.
bool ContainsInAnyCase(std::string_view text, std::string_view part) noexcept;

}  // namespace ort_host
