// SPDX-License-Identifier: Apache-2.0
// The pool: coverage, nesting, concurrent callers, exceptions, quiescing, sharing.
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "light/error.h"
#include "light/parallel.h"
#include "pool_check.h"

namespace {

void TestCoversEveryIndexOnce(light::ParallelBackend& pool) {
  for (const int64_t total : {1, 2, 3, 7, 11, 12, 13, 100, 10007}) {
    for (const double cost : {0.0, 1.0, kHeavy}) {
      std::vector<std::atomic<int>> hits(static_cast<std::size_t>(total));
      pool.ParallelFor(total, cost, [&](int64_t begin, int64_t end) {
        CHECK(0 <= begin && begin < end && end <= total);
        for (int64_t i = begin; i < end; ++i) hits[static_cast<std::size_t>(i)].fetch_add(1);
      });
      for (auto& hit : hits) CHECK(hit.load() == 1);
    }
  }
  pool.ParallelFor(0, kHeavy, [](int64_t, int64_t) { CHECK(false); });
}

void TestSmallLoopsStayOnTheCaller(light::ParallelBackend& pool) {
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  pool.ParallelFor(1000, 1.0, [&](int64_t begin, int64_t end) {
    CHECK(std::this_thread::get_id() == caller && begin == 0 && end == 1000);
    ++calls;
  });
  CHECK(calls == 1);
}

void TestNestedLoopsRunInline(light::ParallelBackend& pool) {
  std::atomic<int> units{0};
  pool.ParallelFor(8, kHeavy, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto here = std::this_thread::get_id();
      pool.ParallelFor(10, kHeavy, [&](int64_t b, int64_t e) {
        CHECK(std::this_thread::get_id() == here && b == 0 && e == 10);
        units.fetch_add(static_cast<int>(e - b));
      });
    }
  });
  CHECK(units.load() == 80);
}

void TestExceptions(light::ParallelBackend& pool) {
  for (int64_t bad = 0; bad < 6; ++bad) {
    std::atomic<int> finished{0};
    const auto error = CHECK_THROWS(std::runtime_error, pool.ParallelFor(6, kHeavy, [&](int64_t begin, int64_t end) {
      if (begin <= bad && bad < end) throw std::runtime_error("unit " + std::to_string(bad));
      std::this_thread::yield();
      finished.fetch_add(static_cast<int>(end - begin));
    }));
    CHECK(error.what() == "unit " + std::to_string(bad));
    // One thread alone gets the loop as one range, and the exception ends that.
    CHECK(pool.thread_count() == 1 || finished.load() == 5);
  }
  TestCoversEveryIndexOnce(pool);  // and the pool is as good as before
}

void TestConcurrentCallers(light::ParallelBackend& pool) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        int64_t mine[50] = {};
        pool.ParallelFor(50, kHeavy, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) mine[i] = i;
        });
        for (const int64_t value : mine) sum.fetch_add(value);
        if (round % 50 == 0) pool.Quiesce();
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(sum.load() == 4 * 300 * 1225);
}

void TestSleepAndWake(light::ParallelBackend& pool) {
  for (int round = 0; round < 20; ++round) {
    if (round % 2) pool.Quiesce();
    usleep(2000);  // longer than the workers spin
    CheckUsesSeveralThreads(pool);
  }
}

/// Both halves are under way before either goes on, so that nobody has taken anything of the other's.
void TestEachBeginsWithItsShare() {
  auto pool = light::AcquirePool(2);
  const auto caller = std::this_thread::get_id();
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> arrived{0};
    std::atomic<int64_t> first_of_caller{-1}, first_of_worker{-1};
    pool->ParallelFor(60, kHeavy, [&](int64_t begin, int64_t) {
      auto& first = std::this_thread::get_id() == caller ? first_of_caller : first_of_worker;
      int64_t none = -1;
      if (!first.compare_exchange_strong(none, begin)) return;
      ++arrived;
      while (arrived.load() < 2) std::this_thread::yield();
    });
    CHECK(first_of_caller.load() == 0 && first_of_worker.load() == 30);
  }
}

void TestSharing() {
  auto one = light::AcquirePool(2);
  CHECK(one == light::AcquirePool(2));
  CHECK(one != light::AcquirePool(3));
  CHECK(one->thread_count() == 2);
  CHECK(light::AcquirePool(0)->thread_count() >= 1);
  for (const int bad : {-1, 100000}) {
    const auto error = CHECK_THROWS(light::Error, light::AcquirePool(bad));
    CHECK(error.code() == light::ErrorCode::kInvalidArgument && Contains(error.what(), std::to_string(bad)));
  }
}

}  // namespace

int main() {
  for (const int threads : {1, 2, 4, 11}) {  // 11: more than there are shares
    auto pool = light::AcquirePool(threads);
    CHECK(pool->thread_count() == threads);
    TestCoversEveryIndexOnce(*pool);
    CheckUsesSeveralThreads(*pool);
    TestSmallLoopsStayOnTheCaller(*pool);
    TestNestedLoopsRunInline(*pool);
    TestExceptions(*pool);
    TestConcurrentCallers(*pool);
    TestSleepAndWake(*pool);
  }
  TestEachBeginsWithItsShare();
  TestSharing();
  return 0;
}
