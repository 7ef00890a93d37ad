// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "adapters/asked_versions.h"
#include "adapters/session_options.h"
#include "loader/audited_libraries.h"
#include "loader/dependency_closure.h"
#include "loader/load_policy.h"
#include "loader/shared_library.h"

namespace ort_host {

/// A plugin library of this host. Shared by everything whose code lies in it; by default it stays loaded even when
/// nothing else holds it any more.
class LoadedLibrary {
 public:
  LoadedLibrary(std::string path, SharedLibrary::Lifetime lifetime, const AuditedLibrary* audit, bool imports_api_base)
      : library_(std::move(path), lifetime), audit_(audit), imports_api_base_(imports_api_base) {}

  const std::string& path() const noexcept { return library_.path(); }
  /// The library's row on the list of tested libraries, or null.
  const AuditedLibrary* audit() const noexcept { return audit_; }
  /// True if it relies on the OrtGetApiBase that this host provides on demand.
  bool imports_api_base() const noexcept { return imports_api_base_; }
  /// Held while its entry point runs, once at a time: libraries keep their domains in globals without a lock of their
  /// own. Each library has one, so that an entry point may wait for a thread that registers another library.
  std::mutex& registering() noexcept { return registering_; }
  /// What its RegisterCustomOps is lent, the same object each time: a library may keep the handle. Under the lock
  /// `registering`.
  SessionOptionsAdapter& options() noexcept { return options_; }
  /// Versions of the API that it has asked for while it was loaded and registered. Under the lock `registering`.
  AskedVersions& asked_versions() noexcept { return asked_versions_; }
  template <class Function>
  Function* Find(const char* name) const noexcept {
    return library_.Find<Function>(name);
  }

 private:
  SharedLibrary library_;
  const AuditedLibrary* audit_;
  bool imports_api_base_;
  std::mutex registering_;
  SessionOptionsAdapter options_;
  AskedVersions asked_versions_;
};

/// Loads the library at `path` under the process's policy, or shares it if it is loaded already, whatever path led to
/// it. Nothing of it is opened before path, policy, file format and every dependency are checked.
///
/// Throws HostError naming the path: ORT_NO_SUCHFILE; ORT_FAIL with the rule that refused it, the missing dependency or
/// symbol, or the missing `entry_point`.
std::shared_ptr<LoadedLibrary> LoadLibrary(const std::string& path, const char* entry_point);

/// Why the host would not load the file, checked as LoadLibrary does and running nothing; "" if it would.
std::string WhyRefused(const std::string& given, const std::string& resolved, const DependencyClosure& closure);

/// True once a library has been loaded.
bool HasLoadedLibraries() noexcept;

}  // namespace ort_host
