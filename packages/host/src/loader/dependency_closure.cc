// SPDX-License-Identifier: Apache-2.0
#include "loader/dependency_closure.h"

#include <deque>
#include <filesystem>
#include <set>
#include <utility>

#include "engine/host_error.h"
#include "loader/library_search.h"

namespace ort_host {
namespace {

constexpr std::string_view kEntryPoint = "OrtGetApiBase";

std::string_view FileName(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

std::string Canonical(const std::string& path) {
  std::error_code failed;
  const auto canonical = std::filesystem::canonical(path, failed);
  return failed ? path : canonical.string();
}

LibrarySearch::Requester MakeRequester(const ElfFile& file, const LibrarySearch::Requester* loader) {
  return {std::filesystem::path(file.path()).parent_path(), file.rpath(), file.runpath(), loader};
}

}  // namespace

DependencyClosure ReadDependencyClosure(const std::string& path) {
  DependencyClosure closure;
  const LibrarySearch search;
  std::deque<LibrarySearch::Requester> requesters;  // by position in `files`; a deque: its elements are pointed to
  std::set<std::string> names;                      // asked for already, or answered by a library's own name
  std::set<std::string> paths;

  closure.files.push_back(ElfFile::Read(path));
  requesters.push_back(MakeRequester(closure.files[0], nullptr));
  names.insert(closure.files[0].soname());
  paths.insert(path);
  for (std::size_t at = 0; at < closure.files.size(); ++at) {
    const std::vector<std::string> needed = closure.files[at].needed();  // a copy: `files` grows
    for (const std::string& name : needed) {
      if (!names.insert(name).second) continue;
      const std::string found = search.Find(name, requesters[at]);
      if (found.empty()) {
        closure.missing.push_back({name, closure.files[at].path()});
        continue;
      }
      const std::string canonical = Canonical(found);
      if (!paths.insert(canonical).second) continue;
      try {
        closure.files.push_back(ElfFile::Read(canonical));
      } catch (const HostError&) {
        closure.missing.push_back({name, closure.files[at].path()});
        continue;
      }
      requesters.push_back(MakeRequester(closure.files.back(), &requesters[at]));
      names.insert(closure.files.back().soname());
    }
  }
  return closure;
}

bool IsOnnxRuntimeName(std::string_view file_name) noexcept {
  constexpr std::string_view kLibrary = "libonnxruntime";
  if (file_name.starts_with("onnxruntime_pybind11_state")) return true;
  if (!file_name.starts_with(kLibrary)) return false;
  // Plugins may well be called libonnxruntime_<their name>; ORT itself is libonnxruntime.so.1, libonnxruntime-0a1b.so.
  const std::string_view rest = file_name.substr(kLibrary.size());
  return rest.empty() || rest[0] == '.' || rest[0] == '-' || rest.starts_with("_providers_shared") ||
         rest.starts_with("4j_jni");
}

std::string RefuseClosure(const DependencyClosure& closure, bool provides_api_base) {
  const ElfFile& library = closure.files.front();
  if (IsOnnxRuntimeName(FileName(library.path())) || IsOnnxRuntimeName(library.soname())) {
    return "it is ONNX Runtime itself";
  }
  for (const ElfFile& file : closure.files) {
    const std::string where = &file == &library ? "it" : file.path();
    // A dependency of that name is refused whatever comes after it: plugins do not need each other.
    for (const std::string& name : file.needed()) {
      if (FileName(name).starts_with("libonnxruntime")) return where + " needs ONNX Runtime (" + name + ")";
    }
    if (IsOnnxRuntimeName(FileName(file.path())) || IsOnnxRuntimeName(file.soname())) {
      return "it needs ONNX Runtime (" + file.path() + ")";
    }
    for (const ElfFile::Symbol& symbol : file.symbols()) {
      if (symbol.name != kEntryPoint) continue;
      if (symbol.is_defined) {
        return where + " exports OrtGetApiBase: only ONNX Runtime does, and this host runs without it";
      }
      if (provides_api_base) continue;
      return where +
             " imports OrtGetApiBase, which only ONNX Runtime exports: build it with ORT_API_MANUAL_INIT, or let this "
             "host provide it with LoadPolicy(provide_api_base=True)";
    }
  }
  if (!closure.missing.empty()) {
    const auto& missing = closure.missing.front();
    return (missing.needed_by == library.path() ? "it needs " : missing.needed_by + " needs ") + missing.name +
           ", which is not found";
  }
  return "";
}

}  // namespace ort_host
