// SPDX-License-Identifier: Apache-2.0
#include <ort_abi/barrier.h>

#include <pthread.h>

#include <new>

#include "check.h"
#include "fake_status.h"

namespace {

size_t allocations = 0;
int refusals = 0;

OrtStatus* MakeRefusing(OrtErrorCode code, const char* message) {
  if (refusals > 0) {
    --refusals;
    return nullptr;
  }
  return FakeStatus::Make(code, message);
}

template <class Body>
OrtStatus* Guard(Body body) {
  return ort_abi::Guard<&FakeStatus::Make>("Slot", body);
}

void Mapping() {
  using Is = FakeStatus;
  CHECK(Guard([] {}) == nullptr);
  CHECK(Guard([]() -> OrtStatus* { return nullptr; }) == nullptr);
  OrtStatus* own = FakeStatus::Make(ORT_NO_MODEL, "own");
  CHECK(Guard([&] { return own; }) == own);
  FakeStatus::Release(own);
  CHECK(Is::Is(Guard([] { throw ort_abi::StatusError(ORT_NOT_FOUND, "key is unknown, got a"); }), ORT_NOT_FOUND,
               "Slot: key is unknown, got a"));
  CHECK(Is::Is(Guard([] { throw ort_abi::StatusError(ORT_OK, "no code"); }), ORT_FAIL, "Slot: no code"));
  CHECK(Is::Is(Guard([] { throw std::runtime_error("broken"); }), ORT_RUNTIME_EXCEPTION, "Slot: broken"));
  CHECK(Is::Is(Guard([] { throw std::bad_alloc(); }), ORT_RUNTIME_EXCEPTION, "Slot: std::bad_alloc"));
  CHECK(Is::Is(Guard([] { throw 7; }), ORT_FAIL, "Slot: an exception that is no std::exception"));
  CHECK(Is::Is(Guard([] { ort_abi::Require<int>(nullptr, "value"); }), ORT_INVALID_ARGUMENT, "Slot: value is null"));
}

void ReturnedStatus() {
  OrtStatus* status = Guard([](auto slot) -> OrtStatus* {
    return slot.Fail(ORT_INVALID_ARGUMENT, "index is out of range, got %d of %zu", 3, size_t{2});
  });
  CHECK(FakeStatus::Is(status, ORT_INVALID_ARGUMENT, "Slot: index is out of range, got 3 of 2"));
  CHECK(Guard([](auto) {}) == nullptr);
}

void LongMessage() {
  OrtStatus* status = Guard([] { throw std::runtime_error(std::string(10000, 'x')); });
  CHECK(FakeStatus::Of(status).message.size() == ort_abi::kMaxMessage - 1);
  FakeStatus::Release(status);
}

void OutOfMemory() {
  const auto fail = [] { return ort_abi::Guard<&MakeRefusing>("Slot", [] { throw std::bad_alloc(); }); };
  refusals = 1;
  CHECK(FakeStatus::Is(fail(), ORT_RUNTIME_EXCEPTION, "out of memory"));
  const int status = InChild([&] {
    refusals = 2;
    fail();
  });
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

void NoAllocationOnSuccess() {
  const size_t before = allocations;
  int value = 0;
  CHECK(Guard([&] { value = 1; }) == nullptr);
  CHECK(allocations == before && value == 1);
}

bool returned = false;

void* EndThread(void*) {
  Guard([] { pthread_exit(reinterpret_cast<void*>(7)); });
  returned = true;
  return nullptr;
}

void ThreadEndPassesThrough() {
  CheckThreadEnds(&EndThread);
  CHECK(!returned);
}

}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

int main() {
  Mapping();
  ReturnedStatus();
  LongMessage();
  OutOfMemory();
  NoAllocationOnSuccess();
  ThreadEndPassesThrough();
  CHECK(FakeStatus::live == 0);
}
