// SPDX-License-Identifier: Apache-2.0
#include "bridge/hosted_kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <ort_abi/callbacks.h>

#include "abi/tables.h"
#include "adapters/logger.h"
#include "bridge/hosted_run.h"

namespace ort_host {
namespace {

using ort_abi::CallFunction;
using ort_abi::Lend;
using ort_abi::StatusError;

/// An optional output may be left out, unless somebody in the graph waits for it.
std::vector<bool> MayBeMissing(const CustomOpDescriptor& op, const light::KernelInfo& info) {
  std::vector<bool> may_be_missing;
  for (std::size_t i = 0; i < info.output_count(); ++i) {
    const CustomOpArgument* output = op.outputs.At(i);
    const bool is_used = info.HasOutput(i) && !info.graph().value(info.node().outputs[i]).uses.empty();
    may_be_missing.push_back(output != nullptr && output->is_optional && !is_used);
  }
  return may_be_missing;
}

constexpr const char* kCompute = ort_abi::MemberInfo<&OrtCustomOp::KernelCompute>::kLabel;
constexpr const char* kComputeV2 = ort_abi::MemberInfo<&OrtCustomOp::KernelComputeV2>::kLabel;

/// A custom op's kernel at one node. What a run could decide is decided when it is made.
class HostedKernel final : public light::KernelBase {
 public:
  HostedKernel(CustomOpPtr op, const light::KernelInfo& info, std::shared_ptr<const KernelContent> content)
      : op_(std::move(op)),
        run_(std::move(content), op_->computes_by_v2 ? kComputeV2 : kCompute, MayBeMissing(*op_, info)) {
    if (op_->computes_by_v2) {
      compute_v2_ = op_->op->KernelComputeV2;
    } else {
      compute_ = op_->op->KernelCompute;
    }
    Create();
  }

  ~HostedKernel() override { Destroy(); }

  void Run(light::RuntimeContext& runtime) override {
    run_.Run(runtime, [this](OrtKernelContext* context) {
      if (compute_v2_ != nullptr) {
        CallFunction<HostStatus>(kComputeV2, compute_v2_, kernel_, context);
      } else {
        CallFunction<HostStatus>(kCompute, compute_, kernel_, context);
      }
    });
  }

 private:
  const KernelContent& content() const noexcept { return run_.content(); }
  const char* create_label() const noexcept {
    return op_->creates_by_v2 ? ort_abi::MemberInfo<&OrtCustomOp::CreateKernelV2>::kLabel
                              : ort_abi::MemberInfo<&OrtCustomOp::CreateKernel>::kLabel;
  }

  void Destroy() noexcept {
    if (!is_created_) return;
    const CurrentKernel current(content());
    const checked::InSlot in_slot(ort_abi::MemberInfo<&OrtCustomOp::KernelDestroy>::kLabel);
    try {
      ort_abi::Call<&OrtCustomOp::KernelDestroy, HostStatus>(op_->op, kernel_);
    } catch (const std::exception& error) {
      LogLine(ORT_LOGGING_LEVEL_ERROR, content().label + ": " + error.what());
    }
  }

  void Create() {
    const OrtApi* api = &abi::Api();
    const OrtKernelInfo* info = Lend<OrtKernelInfo>(run_.info());
    const CurrentKernel current(content());
    const checked::InSlot in_slot(create_label());
    const std::vector<std::size_t> hashes = run_.HashConstants();
    try {
      if (op_->creates_by_v2) {
        ort_abi::Call<&OrtCustomOp::CreateKernelV2, HostStatus>(op_->op, api, info, &kernel_);
      } else {
        kernel_ = ort_abi::Call<&OrtCustomOp::CreateKernel, HostStatus>(op_->op, api, info);
      }
    } catch (const StatusError& error) {
      throw light::Error(light::ErrorCode::kRuntimeException, run_.Labelled(error.what()));
    }
    is_created_ = true;  // null is a legal kernel
    if (checked::enabled()) [[unlikely]] {
      checked::EndCall(info);
      const std::string changed = run_.JudgeConstants(hashes, create_label());
      if (changed.empty()) return;
      Destroy();
      throw light::Error(light::ErrorCode::kFail, changed);
    }
  }

  CustomOpPtr op_;  // keeps the library
  const HostedRun run_;
  void* kernel_ = nullptr;
  decltype(OrtCustomOp::KernelComputeV2) compute_v2_ = nullptr;
  decltype(OrtCustomOp::KernelCompute) compute_ = nullptr;
  bool is_created_ = false;
};

[[noreturn]] void RefuseAlias(const light::KernelInfo& info, const CustomOpDescriptor& op, std::size_t input,
                              std::size_t output, const std::string& rule) {
  info.Fail(light::ErrorCode::kInvalidGraph, op.Label() + ": GetAliasMap: output " + std::to_string(output) +
                                                 " cannot share the memory of input " + std::to_string(input) + ": " +
                                                 rule);
}

/// Throws if the memory of an input cannot be that of an output.
void CheckAlias(const CustomOpDescriptor& op, const light::KernelInfo& info, std::size_t input, std::size_t output) {
  const light::ElementType in = info.InputElement(input);
  const light::ElementType out = info.OutputElement(output);
  if (in == light::ElementType::kString || out == light::ElementType::kString || !info.InputType(input)->is_tensor()) {
    RefuseAlias(info, op, input, output, "only tensors of numbers share memory");
  }
  if (conversions::Info(in).bits != conversions::Info(out).bits) {
    RefuseAlias(info, op, input, output,
                "their elements differ in size, " + std::string(conversions::Name(in)) + " and " +
                    std::string(conversions::Name(out)));
  }
}

using Aliases = std::vector<std::pair<std::size_t, std::size_t>>;

bool HasPairOf(const Aliases& pairs, std::size_t input) {
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == input; });
}

/// The pairs that this node has, each once. What cannot be honoured is refused before the first run.
Aliases RequiredAliases(const CustomOpDescriptor& op, const light::KernelInfo& info) {
  Aliases pairs;
  for (const auto& [from, to] : op.aliases) {
    const std::pair<std::size_t, std::size_t> pair(from, to);
    const auto [input, output] = pair;
    if (!info.HasInput(input) || !info.HasOutput(output)) continue;
    if (std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) continue;
    CheckAlias(op, info, input, output);
    for (const auto& [other_input, other_output] : pairs) {
      if (other_input != input && other_output != output) continue;
      RefuseAlias(info, op, input, output,
                  "output " + std::to_string(other_output) + " shares that of input " + std::to_string(other_input));
    }
    pairs.push_back(pair);
  }
  // A kernel may write an input all the same when its output is left out: into a copy.
  for (const auto& [from, to] : op.aliases) {
    const auto input = static_cast<std::size_t>(from);
    const auto output = static_cast<std::size_t>(to);
    if (!info.HasInput(input) || info.HasOutput(output) || HasPairOf(pairs, input)) continue;
    if (!info.InputType(input)->is_tensor() || info.InputElement(input) == light::ElementType::kString) continue;
    pairs.emplace_back(input, output);
  }
  return pairs;
}

/// The interface gives a custom operator no way to run one.
void RefuseGraphs(const light::KernelInfo& info, const CustomOpDescriptor& op) {
  const auto& subgraphs = info.node().subgraphs;
  if (subgraphs.empty()) return;
  info.Fail(light::ErrorCode::kFail,
            op.Label() + ": attribute '" + subgraphs[0].attribute + "' is a graph, which no custom operator can run");
}

}  // namespace

std::unique_ptr<light::KernelBase> MakeHostedKernel(const CustomOpPtr& op, const std::shared_ptr<SessionScope>& scope,
                                                    const light::KernelInfo& info) {
  RefuseGraphs(info, *op);
  auto content = std::make_shared<KernelContent>(info, scope, op->library->path());
  content->aliases = RequiredAliases(*op, info);
  content->since_version = op->start;  // the op's own, where versions were split between overloads
  return std::make_unique<HostedKernel>(op, info, std::move(content));
}

}  // namespace ort_host
