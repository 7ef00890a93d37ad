// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ort_host {

/// The name of the machine this process was built for, as messages write it.
const char* ThisMachine() noexcept;

/// What the dynamic loader would read of a shared object, read without mapping or running anything of it.
///
/// Every read is bounded by the file's size, so a truncated or corrupt file is an error and nothing else.
class ElfFile {
 public:
  struct Symbol {
    std::string_view name;
    bool is_defined = false;
    bool is_unique = false;  ///< one instance per process, whoever loads the library (STB_GNU_UNIQUE)
  };

  /// Reads a shared object of this process's machine.
  ///
  /// Throws HostError: ORT_NO_SUCHFILE if it cannot be opened; ORT_FAIL if it is not a shared library, or one of
  /// another machine, or damaged. The message names the path.
  static ElfFile Read(const std::string& path);

  /// True if the file is a shared object that a process of this machine could load: the loader passes over others
  /// while it searches.
  static bool IsLoadable(const std::string& path) noexcept;

  const std::string& path() const noexcept { return path_; }
  const std::string& soname() const noexcept { return soname_; }
  const std::vector<std::string>& needed() const noexcept { return needed_; }
  /// Search path for the library and what it needs; "" if there is none, or if there is a runpath.
  const std::string& rpath() const noexcept { return rpath_; }
  /// Search path for direct dependencies alone.
  const std::string& runpath() const noexcept { return runpath_; }
  /// Dynamic symbols that are not local. The names live as long as this object.
  const std::vector<Symbol>& symbols() const noexcept { return symbols_; }

  bool Exports(std::string_view name) const noexcept;
  bool Imports(std::string_view name) const noexcept;

 private:
  class Reader;

  std::string path_;
  std::string soname_;
  std::vector<std::string> needed_;
  std::string rpath_;
  std::string runpath_;
  std::unique_ptr<char[]> strings_;
  std::vector<Symbol> symbols_;
};

}  // namespace ort_host
