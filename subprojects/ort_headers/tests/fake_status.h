// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ort_abi/ort_c_api.h>

#include <cstring>
#include <string>

/// A status object for the tests; `live` counts the ones not released.
struct FakeStatus {
  OrtErrorCode code;
  std::string message;
  static inline int live = 0;

  static OrtStatus* Make(OrtErrorCode code, const char* message) {
    ++live;
    return reinterpret_cast<OrtStatus*>(new FakeStatus{code, message});
  }
  static const FakeStatus& Of(const OrtStatus* status) { return *reinterpret_cast<const FakeStatus*>(status); }

  static OrtErrorCode Code(const OrtStatus* status) noexcept { return Of(status).code; }
  static const char* Message(const OrtStatus* status) noexcept { return Of(status).message.c_str(); }
  static void Release(OrtStatus* status) noexcept {
    --live;
    delete reinterpret_cast<FakeStatus*>(status);
  }

  /// Compares and releases.
  static bool Is(OrtStatus* status, OrtErrorCode code, const std::string& message) {
    if (status == nullptr) return false;
    const bool same = Of(status).code == code && Of(status).message == message;
    if (!same) std::fprintf(stderr, "got %d %s\n", Of(status).code, Of(status).message.c_str());
    Release(status);
    return same;
  }
};
