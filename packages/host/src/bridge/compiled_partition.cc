// SPDX-License-Identifier: Apache-2.0
#include "bridge/compiled_partition.h"

#include <utility>
#include <vector>

#include "adapters/logger.h"
#include "adapters/node_compute_context.h"
#include "bridge/hosted_run.h"

namespace ort_host {
namespace {

using ort_abi::CallFunction;
using ort_abi::StatusError;

constexpr const char* kCreateState = ort_abi::MemberInfo<&OrtNodeComputeInfo::CreateState>::kLabel;
constexpr const char* kCompute = ort_abi::MemberInfo<&OrtNodeComputeInfo::Compute>::kLabel;
constexpr const char* kReleaseState = ort_abi::MemberInfo<&OrtNodeComputeInfo::ReleaseState>::kLabel;

template <auto kMember>
void Require(const EpInstance& instance, const OrtNodeComputeInfo* info) {
  if (info->*kMember != nullptr) return;
  instance.Fail(ORT_FAIL, ort_abi::MemberInfo<kMember>::kLabel, "a required callback is missing, got null");
}

class CompiledPartition final : public light::Partition {
 public:
  CompiledPartition(OrtNodeComputeInfo* info, std::shared_ptr<const KernelContent> content)
      : info_(info), compute_(info->Compute), run_(std::move(content), kCompute, {}) {}

  ~CompiledPartition() override {
    if (state_ == nullptr) return;
    const CurrentKernel current(run_.content());
    const checked::InSlot in_slot(kReleaseState);
    try {
      CallFunction<HostStatus>(kReleaseState, info_->ReleaseState, info_, state_);
    } catch (const std::exception& error) {
      LogLine(ORT_LOGGING_LEVEL_ERROR, run_.content().label + ": " + error.what());
    }
  }

  void Prepare(light::MemoryBudget* budget) override {
    const KernelContent& content = run_.content();
    if (budget != nullptr) content.scope->budget()->Attach(budget);
    const CurrentKernel current(content);
    const checked::InSlot in_slot(kCreateState);
    // Not on the stack, where one that is used too late would soon be another one.
    const auto context = std::make_unique<NodeComputeContextAdapter>(content.node_name);
    void* state = nullptr;
    try {
      CallFunction<HostStatus>(kCreateState, info_->CreateState, info_, ort_abi::Lend<OrtNodeComputeContext>(*context),
                               &state);
    } catch (const StatusError& error) {
      throw ToLightError(error.code(), run_.Labelled(error.what()));
    }
    state_ = state;  // null is a legal state
  }

  void Run(light::RuntimeContext& runtime) override {
    run_.Run(runtime, [this](OrtKernelContext* context) {
      CallFunction<HostStatus>(kCompute, compute_, info_, state_, context);
    });
  }

 private:
  OrtNodeComputeInfo* info_;
  decltype(OrtNodeComputeInfo::Compute) compute_;
  const HostedRun run_;
  void* state_ = nullptr;
};

}  // namespace

std::unique_ptr<light::Partition> MakeCompiledPartition(const EpInstance& instance, OrtNodeComputeInfo* info,
                                                        const light::Graph& graph, const light::PartitionShape& shape) {
  Require<&OrtNodeComputeInfo::CreateState>(instance, info);
  Require<&OrtNodeComputeInfo::Compute>(instance, info);
  Require<&OrtNodeComputeInfo::ReleaseState>(instance, info);
  auto content = std::make_shared<KernelContent>(graph, shape, instance.name(), instance.scope(),
                                                 instance.selection().library->path());
  return std::make_unique<CompiledPartition>(info, std::move(content));
}

}  // namespace ort_host
