// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loader/elf_file.h"

namespace ort_host {

/// A library and everything it needs, found as the dynamic loader would find it, without opening anything.
struct DependencyClosure {
  struct Missing {
    std::string name;
    std::string needed_by;  ///< path
  };

  std::vector<ElfFile> files;  ///< the library first, then its dependencies in the order of a breadth-first search
  std::vector<Missing> missing;
};

/// Reads the closure of a library. `path` is absolute, links resolved.
///
/// Dependencies are looked for as glibc does: objects that are mapped already, the library's rpath and its loaders',
/// LD_LIBRARY_PATH, runpath, the loader's cache, the system's folders. A dependency that is not found, or that is no
/// readable library, is listed as missing. Throws HostError if the library itself cannot be read.
DependencyClosure ReadDependencyClosure(const std::string& path);

/// Why the closure may not be loaded, or "": it contains ONNX Runtime, needs its entry point, or misses something.
/// With `provides_api_base` it may import the entry point, since the host provides it.
std::string RefuseClosure(const DependencyClosure& closure, bool provides_api_base = false);

/// True for the file names under which ONNX Runtime itself is installed.
bool IsOnnxRuntimeName(std::string_view file_name) noexcept;

}  // namespace ort_host
