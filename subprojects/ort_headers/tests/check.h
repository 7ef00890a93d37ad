// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (false)

/// Checks that the statement throws `Type`, then runs the block that follows with the exception as
/// `error`.
#define CHECK_THROWS(Type, statement, ...) \
  do {                                     \
    bool caught = false;                   \
    try {                                  \
      statement;                           \
    } catch (const Type& error) {          \
      caught = true;                       \
      CHECK(__VA_ARGS__);                  \
    }                                      \
    CHECK(caught && #statement);           \
  } while (false)

/// Runs `body` in a child process. Returns its wait status and what it wrote to standard error.
template <class Body>
int InChild(Body body, std::string* text = nullptr) {
  int pipe_ends[2];
  CHECK(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    dup2(pipe_ends[1], 2);
    body();
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string written;
  char buffer[256];
  for (ssize_t count; (count = read(pipe_ends[0], buffer, sizeof(buffer))) > 0;) written.append(buffer, count);
  close(pipe_ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  if (text != nullptr) *text = written;
  return status;
}

/// Runs `body`, which ends its thread, and checks that nothing on the way stops that.
inline void CheckThreadEnds(void* (*body)(void*)) {
  pthread_t thread;
  void* result = nullptr;
  CHECK(pthread_create(&thread, nullptr, body, nullptr) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result == reinterpret_cast<void*>(7));
}
