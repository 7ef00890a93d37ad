// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <ort_abi/barrier.h>
#include <ort_abi/out.h>

#include "adapters/checked.h"
#include "adapters/status.h"

namespace ort_host::abi {

using ort_abi::Borrow;
using ort_abi::Give;
using ort_abi::Lend;
using ort_abi::Out;
using ort_abi::Require;
using ort_abi::StatusError;
using ort_abi::Take;
using Slot = ort_abi::Slot<&MakeStatus>;

/// The host's error barrier: ort_abi::Guard with our statuses; an error of the runtime keeps its code.
template <class Body>
OrtStatus* Guard(const char* name, Body&& body) noexcept {
  const checked::InSlot in_slot(name);
  return ort_abi::Guard<&MakeStatus>(name, [&](Slot slot) -> OrtStatus* {
    try {
      if constexpr (std::is_invocable_v<Body, Slot>) {
        if constexpr (std::is_void_v<std::invoke_result_t<Body, Slot>>) {
          body(slot);
          return nullptr;
        } else {
          return body(slot);
        }
      } else if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
        body();
        return nullptr;
      } else {
        return body();
      }
    } catch (const light::Error& error) {
      return slot.Fail(ToOrtCode(error), "%s", error.what());
    }
  });
}

/// Takes a handle back in the slot of that name, for the slots that return no status.
template <class OrtTag>
std::unique_ptr<ort_abi::AdapterOf<OrtTag>> TakeIn(const char* name, OrtTag* handle) noexcept {
  const checked::InSlot in_slot(name);
  return Take(handle);
}

}  // namespace ort_host::abi
