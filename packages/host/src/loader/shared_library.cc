// SPDX-License-Identifier: Apache-2.0
#include "loader/shared_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <ort_abi/ort_c_api.h>

#include "adapters/logger.h"
#include "engine/host_error.h"

namespace ort_host {
namespace {

/// The numbers of the process's threads.
std::set<std::string> Threads() {
  std::error_code ignored;
  std::set<std::string> numbers;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    numbers.insert(entry.path().filename());
  }
  return numbers;
}

}  // namespace

SharedLibrary::SharedLibrary(std::string path, Lifetime lifetime) : path_(std::move(path)), lifetime_(lifetime) {
  const int stay = lifetime == Lifetime::kProcess ? RTLD_NODELETE : 0;
  threads_before_ = Threads();
  dlerror();
  handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | stay);
  if (handle_ == nullptr) {
    const char* text = dlerror();
    std::string reason = text != nullptr ? text : "no reason given";
    if (reason.rfind(path_ + ": ", 0) == 0) reason.erase(0, path_.size() + 2);  // the loader names it too
    throw HostError(ORT_FAIL, "library '" + path_ + "': cannot be loaded: " + reason);
  }
}

SharedLibrary::~SharedLibrary() {
  // With RTLD_NODELETE closing would only run nothing; a handle less is a handle less to reason about.
  if (lifetime_ == Lifetime::kProcess) return;
  // One that has ended since does not make up for one that was started.
  const std::set<std::string> threads = Threads();
  if (!std::includes(threads_before_.begin(), threads_before_.end(), threads.begin(), threads.end())) {
    LogLine(ORT_LOGGING_LEVEL_WARNING, path_ + ": stays mapped, since threads were started after it was loaded");
    return;
  }
  dlclose(handle_);
}

bool SharedLibrary::IsMappedAs(const std::string& path) noexcept {
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    dlerror();
    return false;
  }
  dlclose(handle);
  return true;
}

void* SharedLibrary::FindAddress(const char* name) const noexcept { return dlsym(handle_, name); }

}  // namespace ort_host
