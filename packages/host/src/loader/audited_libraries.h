// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ort_host {

/// A published library that the tests of this host run, unmodified.
struct AuditedLibrary {
  const char* name;
  const char* version;
  const char* file_name;
  uint64_t bytes;
  const char* sha256;
  const char* profile;  ///< `custom_ops`, `string_tensors`, `kernel_ep`, `compiling_ep`; joined by commas
  int abi;              ///< API version that it asks for
  /// What becomes of its groups that cannot be run as one step: `refuse`, `split` or `drop`.
  const char* broken_groups = "refuse";
};

/// The whole list.
std::span<const AuditedLibrary> AuditedLibraries() noexcept;
/// The row of the list that this very file is, or null. The hash is computed only for a file of a listed name and size.
const AuditedLibrary* FindAudited(const std::string& path);

}  // namespace ort_host
