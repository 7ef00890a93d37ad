// SPDX-License-Identifier: Apache-2.0
#include "infer/einsum_equation.h"

#include <algorithm>
#include <cctype>

#include "light/error.h"

namespace light {
namespace {

[[noreturn]] void Fail(const std::string& equation, const std::string& rule) {
  throw Error(ErrorCode::kInvalidGraph, "attribute equation: " + rule + ", got '" + equation + "'");
}

}  // namespace

EinsumEquation::EinsumEquation(const std::string& equation, std::size_t input_count) {
  std::string compact;
  for (const char c : equation)
    if (c != ' ') compact += c;
  const std::size_t arrow = compact.find("->");
  const std::string left = compact.substr(0, arrow);
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t end = std::min(left.find(',', begin), left.size());
    terms.push_back(Term(left.substr(begin, end - begin), true, equation));
    begin = end + 1;
  }
  if (terms.size() != input_count)
    Fail(equation, "must have a term for each of the " + std::to_string(input_count) + " inputs");
  if (arrow == std::string::npos)
    Implicit();
  else
    output = Term(compact.substr(arrow + 2), false, equation);
  for (std::size_t i = 0; i < output.size(); ++i)
    if (std::find(output.begin() + static_cast<std::ptrdiff_t>(i) + 1, output.end(), output[i]) != output.end())
      Fail(equation, "must not repeat an index on the right");
}

std::vector<int> EinsumEquation::Term(const std::string& term, bool is_input, const std::string& equation) {
  std::vector<int> labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, "...") == 0) {
      if (std::find(labels.begin(), labels.end(), kEllipsis) != labels.end())
        Fail(equation, "must have at most one ellipsis in a term");
      labels.push_back(kEllipsis);
      i += 2;
      continue;
    }
    if (!std::isalpha(static_cast<unsigned char>(term[i])))
      Fail(equation, "must consist of letters, commas, ... and ->");
    if (letters.find(term[i]) == std::string::npos) {
      if (!is_input) Fail(equation, "must not have an index on the right alone");
      letters += term[i];
    }
    labels.push_back(static_cast<int>(letters.find(term[i])));
  }
  return labels;
}

// The ellipsis, then the letters that appear once, in the order of their codes.
void EinsumEquation::Implicit() {
  std::vector<int> uses(letters.size());
  bool ellipsis = false;
  for (const std::vector<int>& term : terms)
    for (const int label : term) {
      if (label == kEllipsis)
        ellipsis = true;
      else
        ++uses[static_cast<std::size_t>(label)];
    }
  if (ellipsis) output.push_back(kEllipsis);
  std::string once;
  for (std::size_t i = 0; i < letters.size(); ++i)
    if (uses[i] == 1) once += letters[i];
  std::sort(once.begin(), once.end());
  for (const char c : once) output.push_back(static_cast<int>(letters.find(c)));
}

}  // namespace light
