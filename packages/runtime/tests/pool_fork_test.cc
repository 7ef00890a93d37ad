// SPDX-License-Identifier: Apache-2.0
// The pool in forked children. Apart from the other tests of the pool, since ThreadSanitizer cannot follow a child that
// starts threads.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "check.h"
#include "light/parallel.h"

namespace {

constexpr double kHeavy = 1e6;  // nanoseconds per unit: worth every thread

// A body that waits until several threads are in it ends only if several threads come.
void TestUsesSeveralThreads(light::ParallelBackend& pool) {
  const int threads = pool.thread_count();
  std::atomic<int> inside{0};
  std::mutex mutex;
  std::set<std::thread::id> seen;
  pool.ParallelFor(threads, kHeavy, [&](int64_t begin, int64_t end) {
    CHECK(end - begin == 1);
    inside.fetch_add(1);
    while (inside.load() < threads) std::this_thread::yield();
    std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  CHECK(static_cast<int>(seen.size()) == threads);
  CHECK(seen.count(std::this_thread::get_id()) == 1);
}

}  // namespace

int main() {
  auto pool = light::AcquirePool(3);
  TestUsesSeveralThreads(*pool);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(20);
    TestUsesSeveralThreads(*pool);  // the parent's pool, started anew
    CHECK(light::AcquirePool(3) != pool);
    auto other = light::AcquirePool(2);
    TestUsesSeveralThreads(*other);
    other.reset();
    pool->Quiesce();
    pool.reset();
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  TestUsesSeveralThreads(*pool);
  // A child that never runs a loop drops the pool without waiting for threads that it does not have.
  const pid_t idle = fork();
  if (idle == 0) {
    alarm(20);
    pool.reset();
    _exit(0);
  }
  CHECK(waitpid(idle, &status, 0) == idle);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return 0;
}
