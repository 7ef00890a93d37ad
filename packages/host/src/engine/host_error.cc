// SPDX-License-Identifier: Apache-2.0
#include "engine/host_error.h"

#include <new>

#include <ort_abi/status_error.h>

#include "adapters/status.h"
#include "conversions/out_of_memory.h"
#include "light/error.h"

namespace ort_host {

void RethrowAsHostError() {
  try {
    throw;
  } catch (const HostError&) {
    throw;
  } catch (const light::Error& error) {
    throw HostError(ToOrtCode(error), error.what());
  } catch (const ort_abi::StatusError& error) {
    throw HostError(error.code(), error.what());
  } catch (const conversions::OutOfMemory& error) {
    throw HostError(ORT_RUNTIME_EXCEPTION, error.what());
  } catch (const std::bad_alloc&) {
    throw HostError(ORT_RUNTIME_EXCEPTION, "out of memory");
  } catch (const std::exception& error) {
    throw HostError(ORT_FAIL, error.what());
  }
}

}  // namespace ort_host
