// SPDX-License-Identifier: Apache-2.0
// Objects that wait for their next use.
#include "exec/spares.h"

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

using namespace light;

namespace {

std::atomic<int> alive{0};

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
  std::atomic<bool> in_use{false};
  int uses = 0;  // not atomic: who holds the object holds it alone
};

void OneUseAfterAnotherHasTheSameObject() {
  Spares<Counted> spares;
  CHECK(spares.Take() == nullptr);
  auto first = std::make_unique<Counted>();
  Counted* const address = first.get();
  for (int i = 0; i < 3; ++i) {
    spares.GiveBack(std::move(first));
    first = spares.Take();
    CHECK(first.get() == address);
    CHECK(spares.Take() == nullptr);
  }
}

void AllOfThemCanBeTakenAgain() {
  {
    Spares<Counted> spares;
    for (int i = 0; i < 3; ++i) spares.GiveBack(std::make_unique<Counted>());
    CHECK(alive == 3);
    std::vector<std::unique_ptr<Counted>> taken;
    while (auto spare = spares.Take()) taken.push_back(std::move(spare));
    CHECK(taken.size() == 3);
    for (auto& spare : taken) spares.GiveBack(std::move(spare));
  }
  CHECK(alive == 0);
}

void NoTwoThreadsHaveOne() {
  constexpr int kThreads = 4, kUses = 5000;
  std::atomic<int> shared{0}, uses{0};
  {
    Spares<Counted> spares;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kUses; ++i) {
          auto spare = spares.Take();
          if (spare == nullptr) spare = std::make_unique<Counted>();
          shared += spare->in_use.exchange(true);
          ++spare->uses;
          spare->in_use = false;
          spares.GiveBack(std::move(spare));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(alive <= kThreads + 1);  // one may come back where a thread has just looked
    while (auto spare = spares.Take()) uses += spare->uses;
  }
  CHECK(shared == 0 && uses == kThreads * kUses && alive == 0);
}

}  // namespace

int main() {
  OneUseAfterAnotherHasTheSameObject();
  AllOfThemCanBeTakenAgain();
  NoTwoThreadsHaveOne();
}
