// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace light_test {

inline int& Failures() {
  static int failures = 0;
  return failures;
}

inline void Check(bool holds, const std::string& what, const char* file, int line) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, what.c_str());
  ++Failures();
}

/// What main returns.
inline int Report() { return Failures() == 0 ? 0 : 1; }

}  // namespace light_test

#define CHECK(condition) light_test::Check((condition), #condition, __FILE__, __LINE__)
#define CHECK_SAYING(condition, what) light_test::Check((condition), (what), __FILE__, __LINE__)
