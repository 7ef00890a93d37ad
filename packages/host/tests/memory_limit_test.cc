// SPDX-License-Identifier: Apache-2.0
// What a library takes is charged to its session before it is taken.
#include <cstdint>
#include <string>

#include "abi/tables.h"
#include "adapters/session_scope.h"
#include "check.h"
#include "light/memory_budget.h"

namespace {

using namespace ort_host;

constexpr std::size_t kLimit = 4096;

const OrtApi& Api() { return abi::Api(); }

/// The message of a refusal; nothing was written.
std::string Refused(OrtStatus* status, OrtErrorCode code) {
  CHECK(status != nullptr);
  CHECK(Api().GetErrorCode(status) == code);
  std::string message = Api().GetErrorMessage(status);
  Api().ReleaseStatus(status);
  return message;
}

void TestBlocks(OrtAllocator* allocator, const light::MemoryBudget& budget) {
  void* block = nullptr;
  CHECK(Api().AllocatorAlloc(allocator, kLimit, &block) == nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
  CHECK(budget.used() == kLimit);
  void* other = &block;
  Refused(Api().AllocatorAlloc(allocator, 1, &other), ORT_FAIL);
  CHECK(other == &block);
  CHECK(allocator->Alloc(allocator, 1) == nullptr);
  CHECK(allocator->Reserve(allocator, 1) == nullptr);
  CHECK(Api().AllocatorFree(allocator, block) == nullptr);
  CHECK(budget.used() == 0);

  const std::string message = Refused(Api().AllocatorAlloc(allocator, kLimit + 1, &other), ORT_FAIL);
  for (const char* part : {"AllocatorAlloc", "node 'n'", "/lib/x.so", "4097", "4096"}) CHECK(Contains(message, part));
  CHECK(allocator->Alloc(allocator, kLimit + 1) == nullptr);
  CHECK(Contains(Refused(Api().AllocatorAlloc(allocator, SIZE_MAX, &other), ORT_FAIL), "4096"));
  CHECK(allocator->Alloc(allocator, SIZE_MAX) == nullptr);
  CHECK(budget.used() == 0);
}

void TestTensors(OrtAllocator* allocator, const light::MemoryBudget& budget) {
  OrtValue* value = nullptr;
  const int64_t fits = kLimit / sizeof(float);
  CHECK(Api().CreateTensorAsOrtValue(allocator, &fits, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value) == nullptr);
  CHECK(budget.used() == kLimit);
  Api().ReleaseValue(value);
  CHECK(budget.used() == 0);
  for (const int64_t extent : {fits + 1, INT64_MAX}) {
    value = nullptr;
    const std::string message = Refused(
        Api().CreateTensorAsOrtValue(allocator, &extent, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value), ORT_FAIL);
    CHECK(Contains(message, "CreateTensorAsOrtValue"));
    CHECK(value == nullptr);
  }
  CHECK(budget.used() == 0);
}

void TestText(OrtAllocator* allocator, const light::MemoryBudget& budget) {
  const int64_t one = 1;
  const std::size_t element = sizeof(std::string);
  OrtValue* value = nullptr;
  CHECK(Api().CreateTensorAsOrtValue(allocator, &one, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &value) == nullptr);
  CHECK(budget.used() == element);
  CHECK(Api().FillStringTensorElement(value, "short", 0) == nullptr);
  CHECK(budget.used() == element);  // fits inside the element

  char untouched = 0;
  char* buffer = &untouched;
  const std::size_t fits = kLimit - element;
  for (const std::size_t length : {fits + 1, SIZE_MAX}) {
    const std::string message = Refused(Api().GetResizedStringTensorElementBuffer(value, 0, length, &buffer), ORT_FAIL);
    for (const char* part : {"GetResizedStringTensorElementBuffer", "node 'n'", "/lib/x.so", "4096"}) {
      CHECK(Contains(message, part));
    }
    CHECK(buffer == &untouched);
    CHECK(budget.used() == element);
  }
  CHECK(Api().GetResizedStringTensorElementBuffer(value, 0, fits, &buffer) == nullptr);
  CHECK(std::string(buffer) == "short");
  CHECK(budget.used() == kLimit);
  CHECK(Api().FillStringTensorElement(value, "shorter", 0) == nullptr);  // its memory is kept, and so is the charge
  CHECK(Api().GetResizedStringTensorElementBuffer(value, 0, fits, &buffer) == nullptr);
  CHECK(budget.used() == kLimit);
  Api().ReleaseValue(value);
  CHECK(budget.used() == 0);
}

/// A library may free a block after its session, through any allocator of ours.
void TestBlockOutlivesSession() {
  void* block = nullptr;
  {
    SessionScope scope({}, -1, "");
    light::MemoryBudget budget(kLimit);
    scope.budget()->Attach(&budget);
    auto wrapper = scope.MakeAllocator("node 'n' of /lib/x.so");
    block = wrapper->Allocate(100);
    scope.Close();
    CHECK(budget.used() == 100);
  }
  OrtAllocator* allocator = nullptr;
  CHECK(Api().GetAllocatorWithDefaultOptions(&allocator) == nullptr);
  CHECK(Api().AllocatorFree(allocator, block) == nullptr);
}

}  // namespace

int main() {
  SessionScope scope({}, -1, "");
  light::MemoryBudget budget(kLimit);
  scope.budget()->Attach(&budget);
  OrtAllocator* allocator = scope.MakeAllocator("node 'n' of /lib/x.so").release();
  TestBlocks(allocator, budget);
  TestTensors(allocator, budget);
  TestText(allocator, budget);
  Api().ReleaseAllocator(allocator);
  TestBlockOutlivesSession();
  scope.Close();
  return 0;
}
