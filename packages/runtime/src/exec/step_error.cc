// SPDX-License-Identifier: Apache-2.0
#include "exec/step_error.h"

#include <new>

#include "conversions/out_of_memory.h"

namespace light {

void RethrowFrom(const std::string& label) {
  try {
    throw;
  } catch (const LocatedError& error) {
    throw Error(error.code(), error.what(), error.foreign_code());
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.find(label) != std::string::npos) throw;  // it says already where it was
    throw Error(error.code(), label + ": " + message, error.foreign_code());
  } catch (const conversions::OutOfMemory& error) {
    throw Error(ErrorCode::kRuntimeException, label + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kRuntimeException, label + ": out of memory");
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kRuntimeException, label + ": " + error.what());
  }
}

void RethrowLocated(const std::string& label) {
  try {
    RethrowFrom(label);
  } catch (const Error& error) {
    throw LocatedError(error.code(), error.what(), error.foreign_code());
  }
}

}  // namespace light
