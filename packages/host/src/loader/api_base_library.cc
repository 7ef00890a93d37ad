// SPDX-License-Identifier: Apache-2.0
#include "loader/api_base_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>

#include <ort_abi/ort_c_api.h>

#include "abi/tables.h"
#include "engine/host_error.h"
#include "loader/mapped_objects.h"

namespace ort_host {
namespace {

constexpr const char* kFile = "api_base/libonnx_light_ort_api_base.so";  // beside the module that this code is part of
constexpr const char* kFunction = "OrtGetApiBase";
using Function = const OrtApiBase* ORT_API_CALL();

constinit std::mutex g_mutex;
constinit std::atomic<void*> g_function = nullptr;

std::string OwnPath() {
  Dl_info self = {};
  if (dladdr(reinterpret_cast<const void*>(&ProvideApiBase), &self) == 0 || self.dli_fname == nullptr) return kFile;
  return (std::filesystem::path(self.dli_fname).parent_path() / kFile).string();
}

[[noreturn]] void Fail(const std::string& path, const char* reason) {
  throw HostError(ORT_FAIL,
                  path + ": cannot provide OrtGetApiBase: " + (reason != nullptr ? reason : "no reason given"));
}

}  // namespace

bool ImportsApiBase(const DependencyClosure& closure) noexcept {
  return std::any_of(closure.files.begin(), closure.files.end(),
                     [](const ElfFile& file) { return file.Imports(kFunction); });
}

void ProvideApiBase() {
  const std::lock_guard lock(g_mutex);
  if (g_function != nullptr) return;
  const std::string path = OwnPath();
  if (const std::string runtime = MappedOnnxRuntime(); !runtime.empty()) {
    Fail(path, (runtime + " is loaded, which does").c_str());
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (handle == nullptr) Fail(path, dlerror());
  void* function = dlsym(handle, kFunction);
  if (function == nullptr) Fail(path, "it does not export it");
  // SAFETY: the library's own struct, which is not constant; nobody has had the occasion to read it.
  *const_cast<OrtApiBase*>(reinterpret_cast<Function*>(function)()) = abi::ApiBase();
  g_function = function;
}

bool IsOwnApiBase(const void* function) noexcept { return function == g_function; }

}  // namespace ort_host
