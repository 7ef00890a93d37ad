// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

namespace ort_host {

/// An opened shared library. By default its code stays mapped after the object is gone: threads, thread-local
/// destructors and exit handlers of a library may outlive everything that we know of it.
class SharedLibrary {
 public:
  enum class Lifetime { kProcess, kObject };

  /// Opens an absolute path. Throws HostError (ORT_FAIL) with the path and the loader's reason, a missing symbol or
  /// dependency by name.
  SharedLibrary(std::string path, Lifetime lifetime);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// True if the dynamic loader would answer this path with an object that it has mapped already.
  static bool IsMappedAs(const std::string& path) noexcept;

  /// The address of an exported symbol, or nullptr.
  template <class Function>
  Function* Find(const char* name) const noexcept {
    return reinterpret_cast<Function*>(FindAddress(name));
  }

 private:
  void* FindAddress(const char* name) const noexcept;

  std::string path_;
  void* handle_ = nullptr;
  Lifetime lifetime_;
  std::set<std::string> threads_before_;  // of the process, when the library was opened
};

}  // namespace ort_host
