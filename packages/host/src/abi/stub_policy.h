// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ort_abi/slots.h>

namespace ort_host::abi {

/// What a slot without an implementation does.
struct StubPolicy {
  /// A status NOT_IMPLEMENTED that names the slot.
  static OrtStatus* NotImplemented(const char* slot) noexcept;
  /// For slots that cannot report: names slot and calling library on stderr and aborts the process.
  [[noreturn]] static void FailFast(const char* slot) noexcept;
};

}  // namespace ort_host::abi
