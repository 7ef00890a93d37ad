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

/// The first symbolic link on the way to `path`, or "". Nothing is simplified before: `link/..` goes through the link.
std::string FirstLink(const fs::path& path) {
  std::error_code failed;
  fs::path so_far;
  for (const fs::path& part : fs::absolute(path, failed)) {
    so_far /= part;
    if (fs::is_symlink(so_far, failed)) return so_far.string();
  }
  return "";
}

/// True for a folder, and for a path at which one may appear: no file is on the way.
bool MayBeFolder(fs::path path) {
  std::error_code failed;
  while (!fs::exists(path, failed) && path != path.parent_path()) path = path.parent_path();
  return !fs::exists(path, failed) || fs::is_directory(path, failed);
}

void MakeAbsolute(std::vector<std::string>& roots) {
  for (std::string& root : roots) {
    std::error_code failed;
    const fs::path absolute = fs::absolute(root, failed);  // of today's working directory
    if (root.empty() || failed || !MayBeFolder(absolute)) {
      throw HostError(ORT_INVALID_ARGUMENT, "load policy: an allowed root must be a folder, got '" + root + "'");
    }
    root = absolute.string();
  }
}

}  // namespace

std::string RefuseByOwner(const std::string& resolved) {
  // Whoever may write a folder on the way may put another file there.
  for (fs::path at = resolved;; at = at.parent_path()) {
    struct stat status;
    if (stat(at.c_str(), &status) != 0) return "the owner of " + at.string() + " cannot be read";
    if (status.st_uid != 0 && status.st_uid != geteuid()) {
      return "the policy wants files and folders of this user or of root, and " + at.string() + " belongs to user " +
             std::to_string(status.st_uid);
    }
    // In a folder with the sticky bit, such as /tmp, nobody replaces the files of others.
    const bool is_sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_sticky) {
      return "the policy wants files and folders that only their owner may write, and others may write " + at.string();
    }
    if (at == at.root_path()) return "";
  }
}

void SetLoadPolicy(LoadPolicy policy) {
  if (policy.allowed_roots) MakeAbsolute(*policy.allowed_roots);
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
  if (!policy.follow_links) {
    const std::string link = FirstLink(given);
    if (!link.empty()) return "the policy follows no symbolic links, and " + link + " is one (to " + resolved + ")";
  }
  if (policy.allowed_roots) {
    const std::vector<std::string>& roots = *policy.allowed_roots;
    if (roots.empty()) return "the policy allows no folder at all, got " + resolved;
    const bool is_allowed = std::any_of(roots.begin(), roots.end(), [&](const auto& root) {
      std::error_code missing;
      const fs::path canonical = fs::canonical(root, missing);
      return !missing && IsInside(resolved, canonical);
    });
    if (!is_allowed) return "the policy allows other folders only, got " + resolved;
  }
  return policy.require_owner ? RefuseByOwner(resolved) : "";
}

}  // namespace ort_host
