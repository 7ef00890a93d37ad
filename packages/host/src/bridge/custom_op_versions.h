// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "bridge/custom_op_descriptor.h"

namespace ort_host {

using CustomOpPtr = std::shared_ptr<const CustomOpDescriptor>;

/// The overloads of one operator that serve a range of imported opset versions, in the order they were added.
struct CustomOpVersion {
  int since = 1;
  int until = INT_MAX;
  std::vector<CustomOpPtr> overloads;  ///< at least one
  bool is_fallback = false;            ///< no overload says that it serves these versions; the first added do

  const CustomOpDescriptor& first() const noexcept { return *overloads.front(); }
};

/// Checks the overloads of one operator name, given in the order they were added, against each other, and sorts them
/// into versions, ascending.
///
/// An op serves the versions from its start to its end. Versions that no op names are served by those that start where
/// the first one starts: real libraries rely on it. Throws StatusError (ORT_FAIL) if overloads differ in more than
/// types, if two are the same, or if an output's type follows from nothing.
std::vector<CustomOpVersion> SortByVersion(const std::vector<CustomOpPtr>& overloads);

}  // namespace ort_host
