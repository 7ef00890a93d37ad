// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace ort_plugin {

/// The operators of a list that is separated by commas. Throws ort_abi::StatusError (invalid argument), starting with
/// `where`, for one that there is no kernel for.
std::set<std::string> ReadOperatorNames(const std::string& where, std::string_view list);

}  // namespace ort_plugin
