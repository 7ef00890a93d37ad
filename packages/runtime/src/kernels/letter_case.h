// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace light {

enum class LetterCase { kUpper, kLower };

/// UTF-8 text with each letter in that case, where Unicode has one letter for it; bytes that are no UTF-8 stay.
std::string ChangeCase(std::string_view text, LetterCase to);

}  // namespace light
