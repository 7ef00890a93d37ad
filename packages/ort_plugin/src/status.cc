// SPDX-License-Identifier: Apache-2.0
#include "status.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "conversions/out_of_memory.h"

namespace ort_plugin {
namespace {

constexpr std::size_t kMaxMessage = 4096;  // as ORT cuts it

OrtStatus* Named(const OrtApi& api, const char* where, OrtErrorCode code, const char* message) noexcept {
  char text[kMaxMessage];  // no heap: memory may be what is missing
  if (std::strstr(message, where) != nullptr) return MakeStatus(api, code, message);  // it says already where it was
  std::snprintf(text, sizeof(text), "%s: %s", where, message);
  return MakeStatus(api, code, text);
}

}  // namespace

OrtStatus* MakeStatus(const OrtApi& api, OrtErrorCode code, const char* message) noexcept {
  OrtStatus* status = api.CreateStatus(code, message);
  if (status == nullptr) status = api.CreateStatus(code, "out of memory");
  if (status == nullptr) std::terminate();
  return status;
}

OrtErrorCode ToOrtCode(light::ErrorCode code) noexcept {
  switch (code) {
    case light::ErrorCode::kFail:
      return ORT_FAIL;
    case light::ErrorCode::kInvalidArgument:
      return ORT_INVALID_ARGUMENT;
    case light::ErrorCode::kNoSuchFile:
      return ORT_NO_SUCHFILE;
    case light::ErrorCode::kInvalidProtobuf:
      return ORT_INVALID_PROTOBUF;
    case light::ErrorCode::kInvalidGraph:
      return ORT_INVALID_GRAPH;
    case light::ErrorCode::kNotImplemented:
      return ORT_NOT_IMPLEMENTED;
    case light::ErrorCode::kEpFail:
      return ORT_EP_FAIL;
    case light::ErrorCode::kRuntimeException:
      return ORT_RUNTIME_EXCEPTION;
  }
  return ORT_FAIL;
}

namespace detail {

OrtStatus* StatusOfException(const OrtApi& api, const char* where) {
  try {
    throw;
  } catch (const light::Error& error) {
    return Named(api, where, ToOrtCode(error.code()), error.what());
  } catch (const ort_abi::StatusError& error) {
    return Named(api, where, error.code(), error.what());
  } catch (const conversions::OutOfMemory& error) {
    return Named(api, where, ORT_RUNTIME_EXCEPTION, error.what());
  } catch (const std::bad_alloc&) {
    return Named(api, where, ORT_RUNTIME_EXCEPTION, "out of memory");
  } catch (const std::exception& error) {
    return Named(api, where, ORT_RUNTIME_EXCEPTION, error.what());
  } catch (...) {
    return Named(api, where, ORT_FAIL, "an exception that is no std::exception");
  }
}

}  // namespace detail
}  // namespace ort_plugin
