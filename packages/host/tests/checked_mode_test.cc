// SPDX-License-Identifier: Apache-2.0
// Checked mode, seen from a library that breaks the rules.
#include <memory>
#include <string>

#include <ort_abi/handle.h>

#include "abi/tables.h"
#include "adapters/checked.h"
#include "adapters/session_options.h"
#include "check.h"

namespace {

using namespace ort_host;

const OrtApi& Api() { return abi::Api(); }

std::string TakeMessage(OrtStatus* status) {
  CHECK(status != nullptr);
  CHECK(Api().GetErrorCode(status) == ORT_INVALID_ARGUMENT);
  std::string message = Api().GetErrorMessage(status);
  Api().ReleaseStatus(status);
  return message;
}

void CheckLast(const char* rule, const char* slot, const char* type) {
  const auto findings = checked::Findings();
  CHECK(!findings.empty());
  CHECK(findings.back().rule == rule);
  CHECK(Contains(findings.back().detail, slot));
  CHECK(Contains(findings.back().detail, type));
}

OrtTensorTypeAndShapeInfo* NewInfo() {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  CHECK(Api().CreateTensorTypeAndShapeInfo(&info) == nullptr);
  return info;
}

void TestUseAndReleaseAfterRelease() {
  OrtTensorTypeAndShapeInfo* info = NewInfo();
  Api().ReleaseTensorTypeAndShapeInfo(info);
  std::size_t rank = 7;
  CHECK(Contains(TakeMessage(Api().GetDimensionsCount(info, &rank)), "GetDimensionsCount: use_after_release"));
  CHECK(rank == 7);
  CheckLast("use_after_release", "CreateTensorTypeAndShapeInfo", "OrtTensorTypeAndShapeInfo");
  Api().ReleaseTensorTypeAndShapeInfo(info);
  CheckLast("double_release", "released by ReleaseTensorTypeAndShapeInfo", "OrtTensorTypeAndShapeInfo");
}

void TestWrongKind() {
  OrtTensorTypeAndShapeInfo* info = NewInfo();
  int answer = 7;
  CHECK(Contains(TakeMessage(Api().IsTensor(reinterpret_cast<OrtValue*>(info), &answer)), "wrong_kind"));
  CHECK(answer == 7);
  CheckLast("wrong_kind", "IsTensor", "OrtValue expected, got OrtTensorTypeAndShapeInfo");
  Api().ReleaseValue(reinterpret_cast<OrtValue*>(info));
  CheckLast("wrong_kind", "ReleaseValue", "OrtValue expected");
  Api().ReleaseTensorTypeAndShapeInfo(info);
}

void TestReleaseOfBorrowed() {
  OrtAllocator* allocator = nullptr;
  CHECK(Api().GetAllocatorWithDefaultOptions(&allocator) == nullptr);
  const OrtMemoryInfo* info = nullptr;
  CHECK(Api().AllocatorGetInfo(allocator, &info) == nullptr);
  Api().ReleaseMemoryInfo(const_cast<OrtMemoryInfo*>(info));
  CheckLast("release_of_borrowed", "ReleaseMemoryInfo", "OrtMemoryInfo");
  const char* name = nullptr;
  CHECK(Api().MemoryInfoGetName(info, &name) == nullptr);
  CHECK(std::string(name) == "Cpu");
}

void TestLeakAtSessionEnd() {
  OrtTensorTypeAndShapeInfo* older = NewInfo();
  const std::size_t mark = checked::Mark();
  OrtTensorTypeAndShapeInfo* kept = NewInfo();
  OrtCustomOpDomain* domain = nullptr;
  CHECK(Api().CreateCustomOpDomain("d", &domain) == nullptr);
  const std::size_t before = checked::Findings().size();
  checked::EndSession(mark);
  CHECK(checked::Findings().size() == before + 1);
  CheckLast("leak", "CreateTensorTypeAndShapeInfo", "never released");
  checked::EndSession(mark);
  CHECK(checked::Findings().size() == before + 1);
  Api().ReleaseTensorTypeAndShapeInfo(kept);
  Api().ReleaseTensorTypeAndShapeInfo(older);
  Api().ReleaseCustomOpDomain(domain);
  CHECK(checked::Findings().size() == before + 1);
}

/// Options that are older than checked mode are as good as any.
void TestAdapterOlderThanCheckedMode(SessionOptionsAdapter& options) {
  const std::size_t before = checked::Findings().size();
  CHECK(Api().AddSessionConfigEntry(ort_abi::Lend<OrtSessionOptions>(options), "key", "value") == nullptr);
  CHECK(*options.FindConfig("key") == "value");
  CHECK(checked::Findings().size() == before);
}

}  // namespace

int main() {
  CHECK(!checked::enabled());
  auto options = std::make_unique<SessionOptionsAdapter>();
  checked::Enable();
  TestAdapterOlderThanCheckedMode(*options);
  TestUseAndReleaseAfterRelease();
  TestWrongKind();
  TestReleaseOfBorrowed();
  TestLeakAtSessionEnd();
  return 0;
}
