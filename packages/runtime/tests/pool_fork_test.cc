// SPDX-License-Identifier: Apache-2.0
// The pool in forked children. Apart from the other tests of the pool, since ThreadSanitizer cannot follow a child that
// starts threads: a build with it leaves the suite `forks` out.
#include <sys/wait.h>
#include <unistd.h>

#include "light/parallel.h"
#include "pool_check.h"

int main() {
  auto pool = light::AcquirePool(3);
  CheckUsesSeveralThreads(*pool);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(20);
    CheckUsesSeveralThreads(*pool);  // the parent's pool, started anew
    CHECK(light::AcquirePool(3) != pool);
    auto other = light::AcquirePool(2);
    CheckUsesSeveralThreads(*other);
    other.reset();
    pool->Quiesce();
    pool.reset();
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CheckUsesSeveralThreads(*pool);
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
