// SPDX-License-Identifier: Apache-2.0
// Lists of values that share their elements.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "light/value.h"

using namespace light;

namespace {

Value Number(int64_t n) {
  Tensor tensor = Tensor::Allocate(ElementType::kInt64, {});
  *tensor.Data<int64_t>() = n;
  return tensor;
}

std::vector<int64_t> Numbers(const ValueList& list) {
  std::vector<int64_t> numbers;
  for (const Value& value : list) numbers.push_back(*value.tensor().Data<int64_t>());
  return numbers;
}

using Expected = std::vector<int64_t>;

void ACopyDoesNotSeeWhatIsAppendedToAnother() {
  ValueList first = {Number(1)};
  first.reserve(4);
  ValueList second = first;
  second.push_back(Number(2));
  ValueList third = first;  // shorter than what the storage holds by now
  third.push_back(Number(3));
  ValueList fourth = second;
  fourth.push_back(Number(4));
  CHECK(Numbers(first) == Expected{1});
  CHECK((Numbers(second) == Expected{1, 2}));
  CHECK((Numbers(third) == Expected{1, 3}));
  CHECK((Numbers(fourth) == Expected{1, 2, 4}));
}

void AppendingToTheLongestCopiesNothing() {
  ValueList list;
  int moves = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    const ValueList before = list;
    list.push_back(Number(i));
    moves += before.begin() != list.begin();
    CHECK(before.size() == static_cast<std::size_t>(i) && list.size() == before.size() + 1);
  }
  CHECK(moves < 12);  // 4, 8, 16, ... 1024
  for (int64_t i = 0; i < 1000; ++i) CHECK(*list[static_cast<std::size_t>(i)].tensor().Data<int64_t>() == i);
}

void ReservedRoomIsUsed() {
  ValueList list;
  list.reserve(0);
  CHECK(list.empty() && list.begin() == list.end());
  list.reserve(100);
  list.push_back(Number(0));
  const Value* start = list.begin();
  for (int64_t i = 1; i < 100; ++i) list.push_back(Number(i));
  list.reserve(50);
  CHECK(list.begin() == start && list.size() == 100);
}

void ThreadsAppendToCopiesOfOneList() {
  for (int round = 0; round < 200; ++round) {
    ValueList common = {Number(-1)};
    common.reserve(8);
    std::atomic<int> ready = 0;
    std::vector<ValueList> results(4);
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        ValueList mine = common;
        ++ready;
        while (ready < 4) std::this_thread::yield();
        for (int64_t i = 0; i < 3; ++i) mine.push_back(Number(10 * t + i));
        results[static_cast<std::size_t>(t)] = mine;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(Numbers(common) == Expected{-1});
    for (int64_t t = 0; t < 4; ++t) {
      CHECK((Numbers(results[static_cast<std::size_t>(t)]) == Expected{-1, 10 * t, 10 * t + 1, 10 * t + 2}));
    }
  }
}

}  // namespace

int main() {
  ACopyDoesNotSeeWhatIsAppendedToAnother();
  AppendingToTheLongestCopiesNothing();
  ReservedRoomIsUsed();
  ThreadsAppendToCopiesOfOneList();
}
