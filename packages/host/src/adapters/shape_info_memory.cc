// SPDX-License-Identifier: Apache-2.0
#include "adapters/shape_info_memory.h"

#include <pthread.h>

#include <new>

namespace ort_host {

bool ShapeInfoMemory::WatchThreadEnd() noexcept {
  static const pthread_key_t* const key = [] {
    static pthread_key_t made;
    return pthread_key_create(&made, &Free) == 0 ? &made : nullptr;
  }();
  kept_.is_watched = key != nullptr && pthread_setspecific(*key, &kept_) == 0;
  return kept_.is_watched;
}

void ShapeInfoMemory::Free(void*) noexcept {
  while (Block* block = kept_.first) {
    kept_.first = block->next;
    ::operator delete(block);
  }
  kept_.count = 0;
  kept_.is_watched = false;  // what is released after this, by the end of something else, is watched once more
}

}  // namespace ort_host
