// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace light {

/// The equation of Einsum with its letters numbered in the order in which they appear.
struct EinsumEquation {
  static constexpr int kEllipsis = -1;

  std::string letters;
  std::vector<std::vector<int>> terms;  ///< one per input: letters by number, or kEllipsis
  std::vector<int> output;

  /// Reads the attribute `equation` of a node with that many inputs. Throws Error (kInvalidGraph) if it breaks a rule.
  EinsumEquation(const std::string& equation, std::size_t input_count);

 private:
  std::vector<int> Term(const std::string& term, bool is_input, const std::string& equation);
  void Implicit();
};

}  // namespace light
