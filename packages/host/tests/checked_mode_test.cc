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

void CheckLast(const char* rule, const char* slot, const char* sentence) {
  const auto findings = checked::Findings();
  CHECK(!findings.empty());
  CHECK(findings.back().rule == rule);
  CHECK(findings.back().slot == slot);
  CHECK(Contains(findings.back().sentence, sentence));
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
  CheckLast("use_after_release", "GetDimensionsCount",
            "the OrtTensorTypeAndShapeInfo made by CreateTensorTypeAndShapeInfo was released by "
            "ReleaseTensorTypeAndShapeInfo");
  Api().ReleaseTensorTypeAndShapeInfo(info);
  CheckLast("double_release", "ReleaseTensorTypeAndShapeInfo", "was released by ReleaseTensorTypeAndShapeInfo before");
}

void TestWrongKind() {
  OrtTensorTypeAndShapeInfo* info = NewInfo();
  int answer = 7;
  CHECK(Contains(TakeMessage(Api().IsTensor(reinterpret_cast<OrtValue*>(info), &answer)), "wrong_kind"));
  CHECK(answer == 7);
  CheckLast("wrong_kind", "IsTensor", "OrtValue expected, got the OrtTensorTypeAndShapeInfo made by");
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
  CheckLast("release_of_borrowed", "ReleaseMemoryInfo", "the OrtMemoryInfo");
  const char* name = nullptr;
  CHECK(Api().MemoryInfoGetName(info, &name) == nullptr);
  CHECK(std::string(name) == "Cpu");
}

void TestLeaksOfASession() {
  const int session = 0;
  const int other = 0;
  OrtTensorTypeAndShapeInfo* older = NewInfo();
  OrtTensorTypeAndShapeInfo* kept = nullptr;
  OrtTensorTypeAndShapeInfo* others = nullptr;
  {
    const checked::Owner owner(&session);
    kept = NewInfo();
    const checked::Owner inner(&other);
    others = NewInfo();
  }
  const std::size_t before = checked::Findings().size();
  checked::EndSession(&session);
  CHECK(checked::Findings().size() == before + 1);
  CheckLast("leak", "CreateTensorTypeAndShapeInfo", "was not released by the end of the session");
  checked::EndSession(&session);
  CHECK(checked::Findings().size() == before + 1);
  Api().ReleaseTensorTypeAndShapeInfo(kept);
  Api().ReleaseTensorTypeAndShapeInfo(others);
  Api().ReleaseTensorTypeAndShapeInfo(older);
  checked::EndSession(&other);
  CHECK(checked::Findings().size() == before + 1);
}

/// Domains, and whatever else a library keeps until it is unloaded, are no leaks of its registration; a status is.
void TestLeaksOfARegistration() {
  const int registration = 0;
  OrtCustomOpDomain* domain = nullptr;
  OrtStatus* status = nullptr;
  {
    const checked::Owner owner(&registration);
    CHECK(Api().CreateCustomOpDomain("d", &domain) == nullptr);
    status = Api().CreateStatus(ORT_FAIL, "forgotten");
  }
  const std::size_t before = checked::Findings().size();
  checked::EndRegistration(&registration);
  CHECK(checked::Findings().size() == before + 1);
  CheckLast("leak", "CreateStatus", "was not released by the end of the registration");
  Api().ReleaseStatus(status);
  Api().ReleaseCustomOpDomain(domain);
}

void TestUseAfterItsCall() {
  OrtTensorTypeAndShapeInfo* info = NewInfo();
  checked::EndCall(info);
  std::size_t rank = 7;
  CHECK(Api().GetDimensionsCount(info, &rank) == nullptr);  // it lives, so it answers
  CHECK(rank == 0);
  CheckLast("out_of_phase", "GetDimensionsCount", "good only for the call");
  Api().ReleaseTensorTypeAndShapeInfo(info);
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
  TestLeaksOfASession();
  TestLeaksOfARegistration();
  TestUseAfterItsCall();
  return 0;
}
