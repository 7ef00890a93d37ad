// SPDX-License-Identifier: Apache-2.0
#include "bridge/hosted_kernel.h"

#include <utility>
#include <vector>

#include <ort_abi/callbacks.h>

#include "abi/tables.h"
#include "adapters/checked.h"
#include "adapters/current_kernel.h"
#include "adapters/guarded_tensors.h"
#include "adapters/kernel_context.h"
#include "adapters/logger.h"
#include "adapters/status.h"
#include "light/error.h"

namespace ort_host {
namespace {

using ort_abi::CallFunction;
using ort_abi::Lend;
using ort_abi::StatusError;

/// A library's kernel at one node. What a run could decide is decided here: which compute callback, and which outputs
/// must be there afterwards.
class HostedKernel final : public light::KernelBase {
 public:
  HostedKernel(CustomOpPtr op, const light::KernelInfo& info, std::shared_ptr<const KernelContent> content)
      : op_(std::move(op)), info_(std::move(content)) {
    if (op_->computes_by_v2) {
      compute_v2_ = op_->op->KernelComputeV2;
    } else {
      compute_ = op_->op->KernelCompute;
    }
    // An optional output may be left out, unless somebody in the graph waits for it.
    for (std::size_t i = 0; i < info.output_count(); ++i) {
      const CustomOpArgument* output = op_->outputs.At(i);
      const bool is_used = info.HasOutput(i) && !info.graph().value(info.node().outputs[i]).uses.empty();
      may_be_missing_.push_back(output != nullptr && output->is_optional && !is_used);
    }
    Create();
  }

  ~HostedKernel() override { Destroy(); }

  void Run(light::RuntimeContext& runtime) override {
    if (checked::enabled()) [[unlikely]]
      return RunGuarded(runtime);
    KernelContextAdapter context(content(), runtime);
    Compute(context);
  }

 private:
  static constexpr const char* kCompute = ort_abi::MemberInfo<&OrtCustomOp::KernelCompute>::kLabel;
  static constexpr const char* kComputeV2 = ort_abi::MemberInfo<&OrtCustomOp::KernelComputeV2>::kLabel;

  const KernelContent& content() const noexcept { return info_.content(); }
  const char* create_label() const noexcept {
    return op_->creates_by_v2 ? ort_abi::MemberInfo<&OrtCustomOp::CreateKernelV2>::kLabel
                              : ort_abi::MemberInfo<&OrtCustomOp::CreateKernel>::kLabel;
  }
  const char* compute_label() const noexcept { return compute_v2_ != nullptr ? kComputeV2 : kCompute; }

  /// What a library passes on of ours (a missing attribute, a memory limit) says already where it was.
  std::string Labelled(const std::string& message) const {
    return message.find(content().label) != std::string::npos ? message : content().label + ": " + message;
  }

  void RunGuarded(light::RuntimeContext& runtime) {
    GuardedTensors guarded(runtime);
    {
      KernelContextAdapter context(content(), runtime, &guarded);
      try {
        Compute(context);
        JudgeShapes(context);
      } catch (const light::Error&) {
        guarded.Judge(content().label, compute_label());  // the kernel's own error comes first
        throw;
      }
    }
    const std::string broken = guarded.Judge(content().label, compute_label());
    if (!broken.empty()) throw light::Error(light::ErrorCode::kFail, content().label + ": " + broken);
    guarded.Publish();
  }

  /// Inference may say less than the kernel does, but nothing else. ORT goes by the kernel, and so do we.
  void JudgeShapes(KernelContextAdapter& context) const {
    for (std::size_t i = 0; i < context.output_count(); ++i) {
      const ValueAdapter* made = context.FindOutput(i);
      const light::ValueType& promised = content().outputs[i].type;
      if (made == nullptr || !promised.is_tensor() || promised.shape.Admits(made->tensor()->dims())) continue;
      checked::Report("shape_mismatch", compute_label(),
                      content().label + ": output " + std::to_string(i) + " was promised as " +
                          std::string(conversions::Name(promised.element)) + promised.shape.ToString() + ", got " +
                          conversions::FormatExtents(made->tensor()->dims()));
    }
  }

  void Compute(KernelContextAdapter& context) {
    OrtKernelContext* handle = Lend<OrtKernelContext>(context);
    const CurrentKernel current(content());
    const checked::InSlot in_slot(compute_label());
    try {
      if (compute_v2_ != nullptr) {
        CallFunction<HostStatus>(kComputeV2, compute_v2_, kernel_, handle);
      } else {
        CallFunction<HostStatus>(kCompute, compute_, kernel_, handle);
      }
    } catch (const StatusError& error) {
      throw ToLightError(error.code(), Labelled(error.what()));
    }
    if (context.FirstMissingOutput() != context.output_count()) [[unlikely]]
      JudgeMissing(context);
    context.Publish();
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

  /// In checked mode, of what the library may read while it makes its kernel.
  std::vector<std::size_t> HashConstants() const {
    std::vector<std::size_t> hashes;
    if (!checked::enabled()) return hashes;
    for (const KernelContent::Argument& input : content().inputs) {
      hashes.push_back(input.constant != nullptr ? HashOf(*input.constant->tensor()) : 0);
    }
    return hashes;
  }

  void JudgeConstants(const std::vector<std::size_t>& before) {
    const std::vector<std::size_t> after = HashConstants();
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] == after[i]) continue;
      const std::string what = content().label + ": input " + std::to_string(i) + ": the library changed the constant";
      checked::Report("input_written", create_label(), what);
      Destroy();
      throw light::Error(light::ErrorCode::kFail, what);
    }
  }

  void Create() {
    const OrtApi* api = &abi::Api();
    const OrtKernelInfo* info = Lend<OrtKernelInfo>(info_);
    const CurrentKernel current(content());
    const checked::InSlot in_slot(create_label());
    const std::vector<std::size_t> hashes = HashConstants();
    try {
      if (op_->creates_by_v2) {
        ort_abi::Call<&OrtCustomOp::CreateKernelV2, HostStatus>(op_->op, api, info, &kernel_);
      } else {
        kernel_ = ort_abi::Call<&OrtCustomOp::CreateKernel, HostStatus>(op_->op, api, info);
      }
    } catch (const StatusError& error) {
      throw light::Error(light::ErrorCode::kRuntimeException, Labelled(error.what()));
    }
    is_created_ = true;  // null is a legal kernel
    if (checked::enabled()) [[unlikely]] {
      checked::EndCall(info);
      JudgeConstants(hashes);
    }
  }

  [[gnu::cold, gnu::noinline]] void JudgeMissing(KernelContextAdapter& context) const {
    for (std::size_t i = 0; i < context.output_count(); ++i) {
      if (context.FindOutput(i) != nullptr || !context.OutputRequested(i)) continue;
      if (!may_be_missing_[i]) {
        if (checked::enabled()) {
          checked::Report("output_missing", compute_label(), content().label + ": output " + std::to_string(i));
        }
        throw light::Error(light::ErrorCode::kFail,
                           content().label + ": output " + std::to_string(i) + " ('" + content().outputs[i].name +
                               "') was never produced, although the compute callback reported success");
      }
      context.runtime().SetOutputValue(i, light::Value());
    }
  }

  CustomOpPtr op_;                // keeps the library
  const KernelInfoAdapter info_;  // libraries may keep what CreateKernel got
  void* kernel_ = nullptr;
  decltype(OrtCustomOp::KernelComputeV2) compute_v2_ = nullptr;
  decltype(OrtCustomOp::KernelCompute) compute_ = nullptr;
  std::vector<bool> may_be_missing_;
  bool is_created_ = false;
};

[[noreturn]] void RefuseAlias(const light::KernelInfo& info, const CustomOpDescriptor& op, std::size_t input,
                              std::size_t output, const std::string& rule) {
  info.Fail(light::ErrorCode::kInvalidGraph, op.Label() + ": GetAliasMap: output " + std::to_string(output) +
                                                 " cannot share the memory of input " + std::to_string(input) + ": " +
                                                 rule);
}

/// The pairs that this node has. What cannot be honoured is refused before the first run.
std::vector<std::pair<std::size_t, std::size_t>> RequiredAliases(const CustomOpDescriptor& op,
                                                                 const light::KernelInfo& info) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const auto& [from, to] : op.aliases) {
    const auto input = static_cast<std::size_t>(from);
    const auto output = static_cast<std::size_t>(to);
    if (!info.HasInput(input)) continue;
    if (!info.HasOutput(output)) {
      pairs.emplace_back(input, output);  // the kernel may write all the same, into a copy
      continue;
    }
    const light::ElementType in = info.InputElement(input);
    const light::ElementType out = info.OutputElement(output);
    if (in == light::ElementType::kString || out == light::ElementType::kString ||
        !info.InputType(input)->is_tensor()) {
      RefuseAlias(info, op, input, output, "only tensors of numbers share memory");
    }
    if (conversions::Info(in).bits != conversions::Info(out).bits) {
      RefuseAlias(info, op, input, output,
                  "their elements differ in size, " + std::string(conversions::Name(in)) + " and " +
                      std::string(conversions::Name(out)));
    }
    for (const auto& [other_input, other_output] : pairs) {
      if (other_input != input && other_output != output) continue;
      RefuseAlias(info, op, input, output,
                  "output " + std::to_string(other_output) + " shares that of input " + std::to_string(other_input));
    }
    pairs.emplace_back(input, output);
  }
  return pairs;
}

}  // namespace

std::unique_ptr<light::KernelBase> MakeHostedKernel(const CustomOpPtr& op, const std::shared_ptr<SessionScope>& scope,
                                                    const light::KernelInfo& info) {
  auto content = std::make_shared<KernelContent>(info, scope, op->library->path());
  content->aliases = RequiredAliases(*op, info);
  content->since_version = op->start;  // the op's own, where versions were split between overloads
  return std::make_unique<HostedKernel>(op, info, std::move(content));
}

}  // namespace ort_host
