// SPDX-License-Identifier: Apache-2.0
#include <ort_abi/callbacks.h>

#include <pthread.h>
#include <sys/mman.h>

#include <cstring>

#include "check.h"
#include "fake_status.h"

namespace {

using ort_abi::Has;
using ort_abi::MemberInfo;
using ort_abi::RequireVersion;
using ort_abi::StatusError;

template <auto kMember, class... Args>
auto Call(Args&&... args) {
  return ort_abi::Call<kMember, FakeStatus>(std::forward<Args>(args)...);
}

void Metadata() {
  static_assert(MemberInfo<&OrtCustomOp::GetInputMemoryType>::kSince == 14);
  static_assert(MemberInfo<&OrtCustomOp::KernelComputeV2>::kSince == 16 &&
                MemberInfo<&OrtCustomOp::KernelComputeV2>::kGated);
  static_assert(!MemberInfo<&OrtCustomOp::CreateKernel>::kGated);
  static_assert(MemberInfo<&OrtSyncStreamImpl::Flush>::kSince == 0);
  static_assert(MemberInfo<&OrtDataTransferImpl::CopyTensors>::kSince == 0);
  static_assert(!ort_abi::StructInfo<OrtNodeComputeInfo>::kGated && ort_abi::StructInfo<OrtEp>::kGated);
  CHECK(std::string(MemberInfo<&OrtEp::Sync>::kLabel) == "OrtEp.Sync");
  bool listed = false;
  for (const ort_abi::CallbackInfo& callback : ort_abi::kCallbacks) {
    listed |= std::string(callback.struct_name) == "OrtEp" && std::string(callback.name) == "GetCapability" &&
              std::string(callback.profiles) == "ep_factory_device,compiling_ep,kernel_ep";
  }
  CHECK(listed);
}

OrtStatus* ORT_API_CALL Succeed(OrtEp*) { return nullptr; }

void VersionGate() {
  OrtEp ep{};
  ep.Sync = &Succeed;
  ep.ort_version_supported = MemberInfo<&OrtEp::Sync>::kSince - 1;
  CHECK(!Has<&OrtEp::Sync>(&ep));
  ep.ort_version_supported = MemberInfo<&OrtEp::Sync>::kSince;
  CHECK(Has<&OrtEp::Sync>(&ep));
  ep.ort_version_supported = 99;
  CHECK(Has<&OrtEp::Sync>(&ep));
  ep.Sync = nullptr;
  CHECK(!Has<&OrtEp::Sync>(&ep));
  OrtNodeComputeInfo info{};
  info.ort_version_supported = 0;
  info.Compute = [](OrtNodeComputeInfo*, void*, OrtKernelContext*) -> OrtStatus* { return nullptr; };
  CHECK(Has<&OrtNodeComputeInfo::Compute>(&info));
}

/// An old struct whose last byte ends a page: reading one member too many faults.
void ShortStruct() {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
  const size_t size = offsetof(OrtEp, GetCapability);
  auto* ep = reinterpret_cast<OrtEp*>(pages + page - size);
  ep->ort_version_supported = 22;
  ep->GetName = [](const OrtEp*) -> const char* { return "old"; };
  CHECK(std::string(Call<&OrtEp::GetName>(ep)) == "old");
  CHECK(!Has<&OrtEp::GetCapability>(ep) && !Has<&OrtEp::Sync>(ep));
  CHECK_THROWS(StatusError, Call<&OrtEp::Sync>(ep),
               std::string(error.what()) == "OrtEp.Sync: a required callback is missing, got null");
  munmap(pages, 2 * page);
}

void VersionZero() {
  OrtEpFactory factory{};
  CHECK_THROWS(StatusError, RequireVersion(&factory),
               error.code() == ORT_INVALID_ARGUMENT &&
                   std::string(error.what()) == "OrtEpFactory: ort_version_supported must be an API version, got 0");
  OrtCustomOp op{};
  CHECK_THROWS(StatusError, RequireVersion(&op),
               std::string(error.what()) == "OrtCustomOp: version must be an API version, got 0");
  CHECK_THROWS(StatusError, RequireVersion(static_cast<OrtEp*>(nullptr)), std::string(error.what()) == "OrtEp is null");
  op.version = 1;
  RequireVersion(&op);
}

void Statuses() {
  OrtCustomOp op{};
  op.version = 99;
  op.KernelComputeV2 = [](void* kernel, OrtKernelContext*) -> OrtStatus* {
    return kernel == nullptr ? nullptr : FakeStatus::Make(*static_cast<OrtErrorCode*>(kernel), "from the kernel");
  };
  const OrtCustomOp* registered = &op;
  static_assert(std::is_void_v<decltype(Call<&OrtCustomOp::KernelComputeV2>(registered, nullptr, nullptr))>);
  Call<&OrtCustomOp::KernelComputeV2>(registered, nullptr, nullptr);
  OrtErrorCode code = ORT_EP_FAIL;
  CHECK_THROWS(StatusError, Call<&OrtCustomOp::KernelComputeV2>(registered, &code, nullptr),
               error.code() == ORT_EP_FAIL && std::string(error.what()) == "from the kernel");
  code = ORT_OK;
  CHECK_THROWS(StatusError, Call<&OrtCustomOp::KernelComputeV2>(registered, &code, nullptr), error.code() == ORT_FAIL);
  CHECK(FakeStatus::live == 0);
}

void Throws() {
  OrtCustomOp op{};
  op.version = 16;
  op.KernelCompute = [](void*, OrtKernelContext*) { throw std::out_of_range("axis"); };
  CHECK_THROWS(StatusError, Call<&OrtCustomOp::KernelCompute>(&op, nullptr, nullptr),
               error.code() == ORT_RUNTIME_EXCEPTION &&
                   std::string(error.what()) == "OrtCustomOp.KernelCompute: the callback threw, got axis");
  op.GetInputTypeCount = [](const OrtCustomOp*) -> size_t { throw 1; };
  CHECK_THROWS(StatusError, Call<&OrtCustomOp::GetInputTypeCount>(&op), error.code() == ORT_RUNTIME_EXCEPTION);
  op.GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 2; };
  CHECK(Call<&OrtCustomOp::GetInputTypeCount>(&op) == 2);
  RegisterCustomOpsFn entry = [](OrtSessionOptions*, const OrtApiBase*) -> OrtStatus* {
    throw std::runtime_error("no");
  };
  CHECK_THROWS(StatusError, ort_abi::CallFunction<FakeStatus>("RegisterCustomOps", entry, nullptr, nullptr),
               std::string(error.what()) == "RegisterCustomOps: the callback threw, got no");
}

bool returned = false;

void* EndThread(void*) {
  OrtCustomOp op{};
  op.version = 1;
  op.KernelDestroy = [](void*) { pthread_exit(reinterpret_cast<void*>(7)); };
  Call<&OrtCustomOp::KernelDestroy>(&op, nullptr);
  returned = true;
  return nullptr;
}

void ThreadEndPassesThrough() {
  CheckThreadEnds(&EndThread);
  CHECK(!returned);
}

}  // namespace

int main() {
  Metadata();
  VersionGate();
  ShortStruct();
  VersionZero();
  Statuses();
  Throws();
  ThreadEndPassesThrough();
}
