// SPDX-License-Identifier: Apache-2.0
#include "loader/loaded_library.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include <ort_abi/ort_c_api.h>

#include "adapters/logger.h"
#include "engine/host_error.h"
#include "loader/api_base_library.h"
#include "loader/beside_onnx_runtime.h"
#include "loader/mapped_objects.h"

namespace ort_host {
namespace {

struct Libraries {
  std::mutex mutex;
  // An entry stays when its library is no longer held: whether a mapped file was mapped by us must be known later.
  std::map<FileId, std::weak_ptr<LoadedLibrary>> by_file;
  // The file that each path led to when it was loaded last.
  std::map<std::string, FileId> by_path;
  // Libraries that stay mapped anyway: they need not be read again for the next session.
  std::vector<std::shared_ptr<LoadedLibrary>> kept;
};

/// Never destroyed: sessions may outlive static destruction.
Libraries& All() {
  static auto* libraries = new Libraries();
  return *libraries;
}

/// True if this host has loaded the file, at any time.
bool IsOurs(const FileId& file) {
  const std::lock_guard lock(All().mutex);
  return All().by_file.contains(file);
}

/// The dynamic loader goes by the name: it would answer with what it has mapped from the file that was there before.
void RefuseReplaced(const std::string& path, const std::string& resolved, const FileId& id) {
  {
    const std::lock_guard lock(All().mutex);
    const auto before = All().by_path.find(resolved);
    if (before == All().by_path.end() || before->second == id) return;
  }
  if (!SharedLibrary::IsMappedAs(resolved)) return;
  throw HostError(ORT_FAIL, "library '" + path +
                                "': cannot be loaded: the file was replaced after it had been loaded, and this process "
                                "still runs the former one");
}

}  // namespace

std::string WhyRefused(const std::string& given, const std::string& resolved, const DependencyClosure& closure) {
  const LoadPolicy policy = GetLoadPolicy();
  std::string reason = RefuseByPolicy(policy, given, resolved);
  if (reason.empty() && policy.audited_only && FindAudited(resolved) == nullptr) {
    reason = "the policy allows only libraries of the list of tested ones, and it is not on it";
  }
  if (reason.empty()) reason = RefuseClosure(closure, policy.provide_api_base);
  for (std::size_t i = 1; policy.require_owner && reason.empty() && i < closure.files.size(); ++i) {
    std::error_code failed;
    const std::string file = std::filesystem::canonical(closure.files[i].path(), failed).string();
    reason = failed ? "the owner of " + closure.files[i].path() + " cannot be read" : RefuseByOwner(file);
  }
  if (reason.empty()) reason = RefuseBesideOnnxRuntime(closure.files.front(), IsOurs);
  if (reason.empty() && ImportsApiBase(closure)) {
    const std::string runtime = MappedOnnxRuntime();
    if (!runtime.empty()) reason = "it imports OrtGetApiBase, and " + runtime + " is loaded, which has one too";
  }
  return reason;
}

std::shared_ptr<LoadedLibrary> LoadLibrary(const std::string& path, const char* entry_point) {
  const auto require_entry_point = [&](bool is_exported) {
    if (!is_exported) throw HostError(ORT_FAIL, "library '" + path + "': exports no " + entry_point);
  };
  const std::string resolved = ResolveLibraryPath(path);
  const LoadPolicy policy = GetLoadPolicy();
  // The policy may have changed since the library was loaded, so it is asked each time, and before the file is read.
  if (const std::string reason = RefuseByPolicy(policy, path, resolved); !reason.empty()) {
    throw HostError(ORT_FAIL, "library '" + path + "': refused: " + reason);
  }
  const FileId id = IdOfFile(resolved);
  {
    const std::lock_guard lock(All().mutex);
    const auto known = All().by_file.find(id);
    if (known != All().by_file.end()) {
      auto library = known->second.lock();
      const bool is_allowed = library != nullptr && (!policy.audited_only || library->audit() != nullptr) &&
                              (policy.provide_api_base || !library->imports_api_base());
      if (is_allowed) {
        require_entry_point(library->Find<void()>(entry_point) != nullptr);  // it may have been loaded for another one
        return library;
      }
    }
  }
  RefuseReplaced(path, resolved, id);
  const DependencyClosure closure = ReadDependencyClosure(resolved);
  if (const std::string reason = WhyRefused(path, resolved, closure); !reason.empty()) {
    throw HostError(ORT_FAIL, "library '" + path + "': refused: " + reason);
  }
  require_entry_point(closure.files.front().Exports(entry_point));
  const AuditedLibrary* audit = FindAudited(resolved);
  const bool imports_api_base = ImportsApiBase(closure);
  if (imports_api_base) ProvideApiBase();  // before the library's static initialisers look for it
  // Not under the lock: a library's static initialisers run here, and may take any time or lock.
  auto library = std::make_shared<LoadedLibrary>(
      resolved, policy.unload ? SharedLibrary::Lifetime::kObject : SharedLibrary::Lifetime::kProcess, audit,
      imports_api_base);
  {
    const std::lock_guard lock(All().mutex);
    auto& entry = All().by_file[id];
    if (auto first = entry.lock()) return first;  // another thread was faster
    entry = library;
    All().by_path[resolved] = id;
    if (!policy.unload) All().kept.push_back(library);
  }
  if (audit == nullptr) {
    LogLine(ORT_LOGGING_LEVEL_WARNING,
            resolved + ": unaudited: not on the list of libraries that this host is tested with");
  }
  return library;
}

bool HasLoadedLibraries() noexcept {
  const std::lock_guard lock(All().mutex);
  return !All().by_file.empty();
}

}  // namespace ort_host
