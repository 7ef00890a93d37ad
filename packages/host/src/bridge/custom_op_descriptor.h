// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ort_abi/ort_c_api.h>

#include "conversions/element_type.h"
#include "loader/loaded_library.h"

namespace ort_host {

/// One declared input or output of a custom op.
struct CustomOpArgument {
  conversions::ElementType element = conversions::ElementType::kUndefined;  ///< undefined: any tensor type
  bool is_optional = false;
  bool is_variadic = false;  ///< the last argument only
  OrtMemType memory = OrtMemTypeDefault;

  bool takes_any() const noexcept { return element == conversions::ElementType::kUndefined; }
};

/// The inputs or the outputs that a custom op declares.
struct CustomOpArguments {
  std::vector<CustomOpArgument> items;
  int min_arity = 1;           ///< of the variadic argument
  bool is_homogeneous = true;  ///< the variadic argument's values share one type

  /// The declaration of argument `i` of a node; the last one for the arguments of a variadic, null past the end.
  const CustomOpArgument* At(std::size_t i) const noexcept;
  /// Fewest and most arguments that a node may write.
  int Least() const noexcept;
  int Most() const noexcept;
  /// As `(float, any, ...double?)`.
  std::string ToString() const;
};

/// What an OrtCustomOp says about itself, read once. The struct and its strings stay the library's.
struct CustomOpDescriptor {
  const OrtCustomOp* op = nullptr;
  std::shared_ptr<LoadedLibrary> library;
  std::string domain;
  std::string name;
  std::string provider;      ///< `CPUExecutionProvider` if the op names none
  std::size_t position = 0;  ///< in its domain, for messages
  CustomOpArguments inputs;
  CustomOpArguments outputs;
  int start = 1;
  int end = INT_MAX;
  std::vector<std::pair<int, int>> may_inplace;  ///< (input, output): the output may take the input's memory
  std::vector<std::pair<int, int>> aliases;      ///< (input, output): both must be the same memory
  bool has_inference = false;
  bool creates_by_v2 = false;
  bool computes_by_v2 = false;

  bool Contains(int64_t version) const noexcept { return start <= version && version <= end; }
  /// For messages: `custom op domain.Op (#2 of its domain, from /path/lib.so)`.
  std::string Label() const;
};

/// Throws StatusError (ORT_FAIL) for a struct that cannot be read: version 0, or 6 or 7, which have another layout.
void CheckCustomOpVersion(const OrtCustomOp& op);

/// Reads the descriptor. Members that the struct's version does not have are not touched.
/// @param provider  execution provider that the domain came with, or "": without callbacks for kernels, an op of it
///                  describes an operator that the provider runs
/// Throws StatusError naming the op and the member: a required callback is missing or threw, a value breaks a rule.
CustomOpDescriptor ReadCustomOp(const OrtCustomOp& op, const std::string& domain, std::size_t position,
                                std::shared_ptr<LoadedLibrary> library, const std::string& provider = "");

/// As ReadCustomOp, for a report: what is wrong goes to `problem`, and the descriptor holds what was read before.
CustomOpDescriptor InspectCustomOp(const OrtCustomOp& op, const std::string& domain, std::size_t position,
                                   std::shared_ptr<LoadedLibrary> library, std::string& problem,
                                   const std::string& provider = "");

}  // namespace ort_host
