// SPDX-License-Identifier: Apache-2.0
#include "loader/load_policy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

#include <ort_abi/ort_c_api.h>

#include "engine/host_error.h"

namespace ort_host {
namespace {

namespace fs = std::filesystem;

struct SharedPolicy {
  std::mutex mutex;
  LoadPolicy policy;
};

/// Never destroyed: exit handlers may still register libraries.
SharedPolicy& Shared() {
  static auto* shared = new SharedPolicy();
  return *shared;
}

bool IsInside(const fs::path& path, const fs::path& root) {
  const auto [in_root, in_path] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return in_root == root.end() || (in_root->empty() && std::next(in_root) == root.end());
}

}  // namespace

void SetLoadPolicy(LoadPolicy policy) {
  const std::lock_guard lock(Shared().mutex);
  Shared().policy = std::move(policy);
}

LoadPolicy GetLoadPolicy() {
  const std::lock_guard lock(Shared().mutex);
  return Shared().policy;
}

std::string ResolveLibraryPath(const std::string& path) {
  std::error_code failed;
  const fs::path resolved = fs::canonical(path, failed);
  if (path.empty() || failed) {
    throw HostError(
        ORT_NO_SUCHFILE,
        "library '" + path + "': no such file" +
            (failed && failed != std::errc::no_such_file_or_directory ? " (" + failed.message() + ")" : ""));
  }
  if (!fs::is_regular_file(resolved, failed)) {
    throw HostError(ORT_FAIL, "library '" + path + "': not a shared library, got something that is no regular file");
  }
  return resolved.string();
}

std::string RefuseByPolicy(const LoadPolicy& policy, const std::string& given, const std::string& resolved) {
  std::error_code failed;
  if (!policy.follow_links && fs::absolute(given, failed).lexically_normal() != resolved) {
    return "the policy follows no symbolic links, and the path leads to " + resolved;
  }
  if (!policy.allowed_roots.empty()) {
    const bool is_allowed =
        std::any_of(policy.allowed_roots.begin(), policy.allowed_roots.end(), [&](const auto& root) {
          std::error_code missing;
          const fs::path canonical = fs::canonical(root, missing);
          return !missing && IsInside(resolved, canonical);
        });
    if (!is_allowed) return "the policy allows other folders only, got " + resolved;
  }
  if (policy.require_owner) {
    struct stat status;
    if (stat(resolved.c_str(), &status) != 0) return "its owner cannot be read";
    if (status.st_uid != 0 && status.st_uid != geteuid()) {
      return "the policy wants a file of this user or of root, got one of user " + std::to_string(status.st_uid);
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "the policy wants a file that only its owner may write";
  }
  return "";
}

}  // namespace ort_host
