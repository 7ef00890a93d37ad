// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "loader/mapped_objects.h"

namespace ort_host {

/// Finds dependencies by name as glibc's loader does. A snapshot: it describes the moment it was made.
class LibrarySearch {
 public:
  /// A library whose dependencies are looked for, with the libraries that led to it.
  struct Requester {
    std::string folder;  ///< where `$ORIGIN` points
    std::string rpath;
    std::string runpath;
    const Requester* loader = nullptr;  ///< nullptr for the library that is opened
  };

  LibrarySearch();

  /// The path of the file that `name` means to `requester`, or "".
  std::string Find(const std::string& name, const Requester& requester) const;

 private:
  static std::string FindIn(std::string_view search_path, const std::string& origin, const std::string& name);
  void ReadCache();

  std::vector<MappedObject> mapped_;
  std::string program_rpath_;
  std::string program_folder_;
  std::string library_path_;                       // LD_LIBRARY_PATH
  std::multimap<std::string, std::string> cache_;  // name to paths, as ldconfig found them
};

}  // namespace ort_host
