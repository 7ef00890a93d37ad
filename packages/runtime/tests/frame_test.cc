// SPDX-License-Identifier: Apache-2.0
// The memory that one run's steps share.
#include "exec/frame.h"

#include <cstdint>
#include <cstring>

#include "check.h"
#include "exec/address_sanitizer.h"

namespace {

using light::ScratchArena;

bool IsAligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

/// Whether the address sanitizer, where there is one, lets nobody touch the byte.
bool IsGuarded([[maybe_unused]] const void* p) {
#if defined(__SANITIZE_ADDRESS__)
  return __asan_address_is_poisoned(p) != 0;
#else
  return true;
#endif
}

bool IsUsable([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  return __asan_region_is_poisoned(p, bytes) == nullptr;
#else
  return true;
#endif
}

void TestPiecesAreApart() {
  ScratchArena scratch;
  char* last = nullptr;
  for (int run = 0; run < 3; ++run) {  // overflowing at first, then from one block
    char* pieces[4];
    const std::size_t sizes[] = {1, 64, 200, 1000};
    for (int i = 0; i < 4; ++i) {
      pieces[i] = static_cast<char*>(scratch.Take(sizes[i], nullptr));
      CHECK(IsAligned(pieces[i]) && IsUsable(pieces[i], sizes[i]) && IsGuarded(pieces[i] + sizes[i]));
      std::memset(pieces[i], i, sizes[i]);
    }
    for (int i = 0; i < 4; ++i)
      for (std::size_t at = 0; at < sizes[i]; ++at) CHECK(pieces[i][at] == i);
    scratch.Reset();
    if (run > 0) CHECK(IsGuarded(pieces[0]) && IsGuarded(pieces[3]));
    if (run == 2) CHECK(pieces[0] == last);  // the block of the run before is used again
    last = pieces[0];
  }
}

void TestBudget() {
  light::MemoryBudget budget(1 << 12);
  ScratchArena scratch;
  scratch.Take(1 << 10, &budget);
  CHECK_THROWS(light::Error, scratch.Take(1 << 12, &budget));
  CHECK_THROWS(std::bad_alloc, scratch.Take(SIZE_MAX, &budget));
}

}  // namespace

int main() {
  TestPiecesAreApart();
  TestBudget();
  return 0;
}
