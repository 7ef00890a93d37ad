// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ort_host {

/// Where libraries may come from. Checked before anything of a library is opened.
struct LoadPolicy {
  /// Compared after links are resolved. None given: anywhere; an empty list: nowhere.
  std::optional<std::vector<std::string>> allowed_roots;
  bool follow_links = true;       ///< false: a path with a symbolic link in it is refused
  bool require_owner = false;     ///< true: only this user and root may write what is loaded, or put another file there
  bool audited_only = false;      ///< true: only libraries on the shipped list
  bool provide_api_base = false;  ///< true: libraries may import OrtGetApiBase, and get this host's
  bool unload = false;            ///< true: really close a library when the last session that uses it is gone
};

/// The policy for libraries registered from now on; process-wide. Throws HostError (ORT_INVALID_ARGUMENT).
void SetLoadPolicy(LoadPolicy policy);
LoadPolicy GetLoadPolicy();

/// The absolute path of a library file, links resolved. A relative path starts at the working directory; no search path
/// is ever used. Throws HostError (ORT_NO_SUCHFILE) naming the path if there is no such file.
std::string ResolveLibraryPath(const std::string& path);

/// Why the policy refuses the file, or "". `given` is the path as the caller wrote it, `resolved` what it leads to. The
/// audit is checked by the caller.
std::string RefuseByPolicy(const LoadPolicy& policy, const std::string& given, const std::string& resolved);

/// Who else than this user and root could change the file or replace it, or "". `resolved` is absolute, without
/// links.
std::string RefuseByOwner(const std::string& resolved);

}  // namespace ort_host
