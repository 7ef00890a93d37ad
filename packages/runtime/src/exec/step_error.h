// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "light/error.h"

namespace light {

/// An error whose message says already at which node it was, though not at that of the step that failed.
class LocatedError final : public Error {
 public:
  using Error::Error;
};

/// Rethrows the exception in flight as an Error with `label` in front of its message, its code kept.
[[noreturn]] void RethrowFrom(const std::string& label);

/// The same as a LocatedError.
[[noreturn]] void RethrowLocated(const std::string& label);

}  // namespace light
