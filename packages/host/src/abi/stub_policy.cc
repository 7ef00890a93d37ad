// SPDX-License-Identifier: Apache-2.0
#include "abi/stub_policy.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <cstdio>
#include <cstdlib>

#include "adapters/logger.h"
#include "adapters/status.h"

namespace ort_host::abi {
namespace {

/// The nearest caller that is not this library, for a process that is about to end. The calls between carry no handle
/// that could tell.
const char* CallingLibrary() noexcept {
  Dl_info ours{};
  if (dladdr(reinterpret_cast<void*>(&CallingLibrary), &ours) == 0) return "an unknown library";
  void* frames[32];
  const int count = backtrace(frames, 32);
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (dladdr(frames[i], &info) != 0 && info.dli_fbase != ours.dli_fbase && info.dli_fname != nullptr) {
      return info.dli_fname;
    }
  }
  return "an unknown library";
}

}  // namespace

OrtStatus* StubPolicy::NotImplemented(const char* slot) noexcept {
  char text[256];
  std::snprintf(text, sizeof(text), "%s: not implemented by onnx-light-ort-host", slot);
  return MakeStatus(ORT_NOT_IMPLEMENTED, text);
}

void StubPolicy::FailFast(const char* slot) noexcept {
  char text[1024];
  std::snprintf(text, sizeof(text), "%.200s: not implemented and cannot report it; called by %.700s; aborting", slot,
                CallingLibrary());
  LogAlways(text);
  std::abort();
}

}  // namespace ort_host::abi
