// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ort_abi/status_error.h>

#include "adapters/checked.h"
#include "adapters/current_kernel.h"
#include "adapters/guarded_tensors.h"
#include "adapters/kernel_context.h"
#include "adapters/status.h"
#include "light/error.h"

namespace ort_host {

/// What the host does around each call of a library's compute function: lends the context, tells errors by node and
/// library, insists on the outputs, and in checked mode watches memory. Immutable: many threads may run at once.
class HostedRun {
 public:
  /// @param compute_label  of the callback, for messages; a constant
  /// @param may_be_missing  by output: success without it is success; all others are required
  HostedRun(std::shared_ptr<const KernelContent> content, const char* compute_label, std::vector<bool> may_be_missing)
      : info_(std::move(content)),
        counts_(info_.content()),
        compute_label_(compute_label),
        may_be_missing_(std::move(may_be_missing)) {}

  const KernelContent& content() const noexcept { return info_.content(); }
  /// Libraries may keep it as long as the kernel lives.
  const KernelInfoAdapter& info() const noexcept { return info_; }

  /// `invoke(OrtKernelContext*)` calls the library and throws StatusError. Throws light::Error.
  template <class Invoke>
  void Run(light::RuntimeContext& runtime, Invoke&& invoke) const {
    if (checked::enabled()) [[unlikely]]
      return RunGuarded(runtime, invoke);
    KernelContextAdapter context(content(), counts_, runtime);
    Compute(context, invoke);
  }

  /// What a library passes on of ours (a missing attribute, a memory limit) says already where it was.
  std::string Labelled(const std::string& message) const {
    return message.find(content().label) != std::string::npos ? message : content().label + ": " + message;
  }

  /// In checked mode, of what the library may read while it makes its kernel; else empty.
  std::vector<std::size_t> HashConstants() const;
  /// "" or, reported, which constant the library changed since.
  std::string JudgeConstants(const std::vector<std::size_t>& before, const char* create_label) const;

 private:
  template <class Invoke>
  void Compute(KernelContextAdapter& context, Invoke&& invoke) const {
    const CurrentKernel current(content());
    const checked::InSlot in_slot(compute_label_);
    try {
      invoke(ort_abi::Lend<OrtKernelContext>(context));
    } catch (const ort_abi::StatusError& error) {
      throw ToLightError(error.code(), Labelled(error.what()));
    }
    if (context.FirstMissingOutput() != context.output_count()) [[unlikely]]
      JudgeMissing(context);
    context.Publish();
  }

  template <class Invoke>
  void RunGuarded(light::RuntimeContext& runtime, Invoke&& invoke) const {
    GuardedTensors guarded(runtime);
    {
      KernelContextAdapter context(content(), counts_, runtime, &guarded);
      try {
        Compute(context, invoke);
        JudgeShapes(context);
      } catch (const light::Error&) {
        guarded.Judge(content().label, compute_label_);  // the kernel's own error comes first
        throw;
      }
    }
    const std::string broken = guarded.Judge(content().label, compute_label_);
    if (!broken.empty()) throw light::Error(light::ErrorCode::kFail, content().label + ": " + broken);
    guarded.Publish();
  }

  void JudgeShapes(KernelContextAdapter& context) const;
  [[gnu::cold, gnu::noinline]] void JudgeMissing(KernelContextAdapter& context) const;

  const KernelInfoAdapter info_;
  const ArgumentCounts counts_;
  const char* compute_label_;
  std::vector<bool> may_be_missing_;
};

}  // namespace ort_host
