// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace light {

/// What kind of thing went wrong. A host maps each to its own exception or status code.
enum class ErrorCode {
  kFail,              ///< the operation could not be done; the message says why
  kInvalidArgument,   ///< the caller gave something wrong: a feed, an option, an index
  kNoSuchFile,        ///< a path does not exist or cannot be read
  kInvalidProtobuf,   ///< the bytes are not a model
  kInvalidGraph,      ///< the model is readable and breaks a rule of ONNX
  kNotImplemented,    ///< valid, and not supported here
  kEpFail,            ///< an execution provider failed
  kRuntimeException,  ///< a kernel failed while it ran
};

/// The only exception type that the runtime throws on purpose. Messages read `<where>: <what is wrong>, got <value>`.
class Error : public std::runtime_error {
 public:
  /// @param foreign_code  the number that foreign code gave the error, passed through untouched; 0 if there is none
  Error(ErrorCode code, const std::string& message, int foreign_code = 0)
      : std::runtime_error(message), code_(code), foreign_code_(foreign_code) {}
  ErrorCode code() const noexcept { return code_; }
  int foreign_code() const noexcept { return foreign_code_; }

 private:
  ErrorCode code_;
  int foreign_code_;
};

}  // namespace light
