// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "engine/engine.h"
#include "engine/session_impl.h"

namespace ort_host {
namespace {

void CheckIndex(std::size_t i, std::size_t count) {
  if (i < count) return;
  throw HostError(ORT_INVALID_ARGUMENT, "run: input index out of range, the model has " + std::to_string(count) +
                                            " inputs, got " + std::to_string(i));
}

/// Least time between two questions whether the run is to end.
constexpr auto kInterruptInterval = std::chrono::milliseconds(50);

/// Signals are handled there alone. In a forked child it is the thread that forked.
bool OnMainThread() noexcept { return ::syscall(SYS_gettid) == ::getpid(); }

}  // namespace

RunCall::RunCall(Session& session)
    : session_(session), inputs_(session.inputs().size()), outputs_(session.outputs().size()) {}
RunCall::~RunCall() = default;

void RunCall::SetInput(std::size_t i, light::ElementType type, const int64_t* dims, std::size_t rank,
                       const void* data) {
  CheckIndex(i, inputs_.size());
  try {
    light::Tensor& tensor = inputs_[i].MakeTensor();
    tensor.Reshape(type, {dims, rank});
    if (tensor.owner() != nullptr) tensor.set_owner(nullptr);
    tensor.set_data(const_cast<void*>(data));
  } catch (const std::exception&) {
    inputs_[i].Reset();
    RethrowAsHostError();
  }
}

void RunCall::SetInputValue(std::size_t i, light::Value value) {
  CheckIndex(i, inputs_.size());
  inputs_[i] = std::move(value);
}

void RunCall::SetInterrupt(bool (*interrupted)(void*), void* context) noexcept {
  interrupted_ = interrupted;
  interrupt_context_ = context;
}

light::Cancellation* RunCall::cancellation() noexcept { return cancellation_ ? &*cancellation_ : nullptr; }

void RunCall::CheckInterrupt(void* self) {
  const auto* const call = static_cast<const RunCall*>(self);
  if (OnMainThread() && call->interrupted_(call->interrupt_context_))
    throw light::Error(light::ErrorCode::kFail, "the run was interrupted");
}

void RunCall::Run() {
  if (interrupted_ != nullptr) cancellation_.emplace(CheckInterrupt, this, kInterruptInterval);
  for (light::Value& output : outputs_) output.Reset();
  light::Session& session = session_.impl().session();
  try {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::string problem = session.CheckInput(i, inputs_[i]);
      if (!problem.empty()) throw HostError(ORT_INVALID_ARGUMENT, problem);
    }
    session_.impl().providers().Around(config_, cancellation(), [&] { session.Run(*this); });
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const std::string differs = session.CheckOutput(i, outputs_[i]);
      if (!differs.empty()) session_.impl().logger().Log(ORT_LOGGING_LEVEL_WARNING, differs.c_str());
    }
    session.budget().Release(std::exchange(charged_, 0));
  } catch (const std::exception&) {
    session.budget().Release(std::exchange(charged_, 0));
    for (light::Value& output : outputs_) output.Reset();
    RethrowAsHostError();
  }
}

void RunCall::Clear() noexcept {
  for (light::Value& input : inputs_) input.Reset();
  for (light::Value& output : outputs_) output.Reset();
}

light::Tensor& RunCall::CreateOutput(std::size_t i, light::ElementType type, std::span<const int64_t> dims) {
  light::Tensor probe;
  const std::size_t bytes = probe.Reshape(type, dims);
  // Outputs count against the limit while the session makes them; afterwards they are the caller's.
  session_.impl().session().budget().Charge(bytes, "output '" + session_.outputs()[i].name + "'");
  charged_ += bytes;
  outputs_[i] = light::Value(light::Tensor::Allocate(type, dims));
  return outputs_[i].tensor();
}

void RunCall::SetOutput(std::size_t i, light::Value value) { outputs_[i] = std::move(value); }

}  // namespace ort_host
