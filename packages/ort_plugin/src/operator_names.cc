// SPDX-License-Identifier: Apache-2.0
#include "operator_names.h"

#include <algorithm>

#include <ort_abi/status_error.h>

#include "kernel_registry.h"

namespace ort_plugin {
namespace {

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::set<std::string> ReadOperatorNames(const std::string& where, std::string_view list) {
  std::set<std::string> known, operators;
  for (const SupportedOperator& supported : SupportedOperators()) known.insert(supported.schema->name);
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string op_type(Trimmed(rest.substr(0, comma)));
    if (!known.contains(op_type)) {
      throw ort_abi::StatusError(
          ORT_INVALID_ARGUMENT,
          where + ": must be operators that there are kernels for, separated by commas, got '" + op_type + "'");
    }
    operators.insert(op_type);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return operators;
}

}  // namespace ort_plugin
