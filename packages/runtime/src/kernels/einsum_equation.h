// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "light/kernel_info.h"

namespace light {

/// The equation of Einsum with its letters numbered in the order in which they appear.
struct EinsumEquation {
  static constexpr int kEllipsis = -1;

  std::string letters;
  std::vector<std::vector<int>> terms;  ///< one per input: letters by number, or kEllipsis
  std::vector<int> output;

  /// Reads the attribute. Throws Error (kInvalidGraph) if it breaks a rule.
  explicit EinsumEquation(const KernelInfo& info);

 private:
  std::vector<int> Term(const std::string& term, bool is_input, const KernelInfo& info);
  void Implicit();
};

}  // namespace light
