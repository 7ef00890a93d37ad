// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

// Conditions that are checked in every build type and say where they failed.

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (false)

/// The exception of `Type` that the statement throws. It is a failure if it throws nothing.
#define CHECK_THROWS(Type, ...)                                                                  \
  [&]() -> Type {                                                                                \
    try {                                                                                        \
      __VA_ARGS__;                                                                               \
    } catch (const Type& error) {                                                                \
      return error;                                                                              \
    }                                                                                            \
    std::fprintf(stderr, "%s:%d: nothing was thrown by %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
    std::exit(1);                                                                                \
  }()

inline bool Contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  std::fprintf(stderr, "'%s' is not in '%s'\n", part.c_str(), text.c_str());
  return false;
}
