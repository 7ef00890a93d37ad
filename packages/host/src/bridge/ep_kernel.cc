// SPDX-License-Identifier: Apache-2.0
#include "bridge/ep_kernel.h"

#include <utility>
#include <vector>

#include "adapters/logger.h"
#include "bridge/hosted_run.h"

namespace ort_host {
namespace {

using ort_abi::CallFunction;
using ort_abi::StatusError;

constexpr const char* kCreate = "OrtKernelCreateFunc";
constexpr const char* kCompute = ort_abi::MemberInfo<&OrtKernelImpl::Compute>::kLabel;
constexpr uint32_t kKnownFlags = 0;

/// An output that the schema does not insist on may be left out, unless somebody in the graph waits for it.
std::vector<bool> MayBeMissing(const light::KernelInfo& info) {
  std::vector<bool> may_be_missing;
  for (std::size_t i = 0; i < info.output_count(); ++i) {
    const light::FormalParameter* formal = info.node().schema->OutputFormal(i);
    const bool is_used = info.HasOutput(i) && !info.graph().value(info.node().outputs[i]).uses.empty();
    const bool is_optional = formal != nullptr && formal->option == light::FormalParameter::Option::kOptional;
    may_be_missing.push_back(is_optional && !is_used);
  }
  return may_be_missing;
}

/// A kernel of a plugin EP at one node.
class EpKernel final : public light::KernelBase {
 public:
  EpKernel(const RegisteredKernel& registered, const light::KernelInfo& info,
           std::shared_ptr<const KernelContent> content)
      : run_(std::move(content), kCompute, MayBeMissing(info)) {
    Create(registered);
  }

  ~EpKernel() override { Release(); }

  void Run(light::RuntimeContext& runtime) override {
    run_.Run(runtime,
             [this](OrtKernelContext* context) { CallFunction<HostStatus>(kCompute, compute_, impl_, context); });
  }

 private:
  void Create(const RegisteredKernel& registered) {
    const CurrentKernel current(run_.content());
    const checked::InSlot in_slot(kCreate);
    const std::vector<std::size_t> hashes = run_.HashConstants();
    try {
      // What it has made is released, also when it says that it failed.
      CallFunction<HostStatus>(kCreate, registered.create, registered.state, ort_abi::Lend<OrtKernelInfo>(run_.info()),
                               &impl_);
      Check();
    } catch (const StatusError& error) {
      Release();
      throw ToLightError(error.code(), run_.Labelled(error.what()));
    }
    const std::string changed = run_.JudgeConstants(hashes, kCreate);
    if (changed.empty()) return;
    Release();
    throw light::Error(light::ErrorCode::kFail, changed);
  }

  /// Throws StatusError for an implementation that breaks a rule.
  void Check() {
    if (impl_ == nullptr) throw StatusError(ORT_FAIL, std::string(kCreate) + ": gave no kernel with success, got null");
    ort_abi::RequireVersion(impl_);
    if (!ort_abi::Has<&OrtKernelImpl::Release>(impl_)) {
      throw StatusError(ORT_FAIL, "OrtKernelImpl.Release: a required callback is missing, got null");
    }
    if ((impl_->flags & ~kKnownFlags) != 0) {
      throw StatusError(ORT_FAIL, "OrtKernelImpl.flags: no flag is known, got " + std::to_string(impl_->flags));
    }
    if (!ort_abi::Has<&OrtKernelImpl::Compute>(impl_)) {
      throw StatusError(ORT_FAIL, std::string(kCompute) + ": a required callback is missing, got null");
    }
    compute_ = impl_->Compute;
  }

  void Release() noexcept {
    OrtKernelImpl* impl = std::exchange(impl_, nullptr);
    if (impl == nullptr || impl->ort_version_supported == 0 || !ort_abi::Has<&OrtKernelImpl::Release>(impl)) return;
    const CurrentKernel current(run_.content());
    const checked::InSlot in_slot(ort_abi::MemberInfo<&OrtKernelImpl::Release>::kLabel);
    try {
      ort_abi::Call<&OrtKernelImpl::Release, HostStatus>(impl);
    } catch (const std::exception& error) {
      LogLine(ORT_LOGGING_LEVEL_ERROR, run_.content().label + ": " + error.what());
    }
  }

  const HostedRun run_;
  OrtKernelImpl* impl_ = nullptr;
  decltype(OrtKernelImpl::Compute) compute_ = nullptr;
};

}  // namespace

std::unique_ptr<light::KernelBase> MakeEpKernel(const EpInstance& instance, const RegisteredKernel& registered,
                                                const light::KernelInfo& info) {
  auto content = std::make_shared<KernelContent>(info, instance.scope(), instance.selection().library->path());
  content->ep = instance.ep();
  return std::make_unique<EpKernel>(registered, info, std::move(content));
}

}  // namespace ort_host
