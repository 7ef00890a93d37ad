// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "abi/guard.h"

namespace ort_host::abi {

/// The array of a list that a library sized by the matching count: more room is left as it is. Null is good for an
/// empty list alone, with no room.
template <class Handle>
class HandleList {
 public:
  /// Throws StatusError (INVALID_ARGUMENT), before anything is written.
  HandleList(Handle* entries, const char* name, std::size_t room, std::size_t count) : entries_(entries) {
    if (room > 0 || count > 0) Require(entries, name);
    if (room < count) {
      throw StatusError(ORT_INVALID_ARGUMENT, std::string(name) + ": room for " + std::to_string(count) +
                                                  " entries is needed, got " + std::to_string(room));
    }
  }

  void Add(Handle handle) noexcept { entries_[next_++] = handle; }

 private:
  Handle* entries_;
  std::size_t next_ = 0;
};

}  // namespace ort_host::abi
