// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "adapters/session_options.h"
#include "loader/loaded_library.h"

namespace ort_host {

/// The run of a library's RegisterCustomOps. It works on a copy of the options: the caller takes over what the library
/// did, or nothing has happened.
class Registration {
 public:
  explicit Registration(const SessionOptionsAdapter& current) : first_(current.domains().size()), staged_(current) {}

  /// Loads the library, or takes it as loaded, and runs its entry point. Throws HostError naming the library; with
  /// `check_ops` also for an op of a struct version that is not served.
  void Run(const std::string& path, bool check_ops = true);

  /// Null until the library is loaded; there too if its entry point failed.
  const std::shared_ptr<LoadedLibrary>& library() const noexcept { return library_; }
  /// The options with what the library added.
  const SessionOptionsAdapter& staged() const noexcept { return staged_; }
  /// The domains that it added.
  std::span<const StagedDomain> added() const noexcept { return std::span(staged_.domains()).subspan(first_); }
  /// The versions of the API that it has asked for so far, in this registration or an earlier one.
  const AskedVersions& asked_versions() const noexcept { return asked_versions_; }

 private:
  void CallEntryPoint();

  std::size_t first_;
  SessionOptionsAdapter staged_;
  std::shared_ptr<LoadedLibrary> library_;
  AskedVersions asked_versions_;
};

}  // namespace ort_host
