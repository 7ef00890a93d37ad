// SPDX-License-Identifier: Apache-2.0
#include "bridge/ep_instance.h"

#include <type_traits>
#include <utility>
#include <vector>

#include "adapters/logger.h"

namespace ort_host {
namespace {

using ort_abi::Lend;
using ort_abi::StatusError;
using Memory = EpDeviceAdapter::Memory;

constexpr const char* kCreateEp = ort_abi::MemberInfo<&OrtEpFactory::CreateEp>::kLabel;

bool IsOnCpu(const MemoryInfoAdapter* info) noexcept {
  return info == nullptr || info->description().device_type == OrtMemoryInfoDeviceType_CPU;
}

const char* NameOf(OrtMemoryInfoDeviceType type) noexcept {
  switch (type) {
    case OrtMemoryInfoDeviceType_GPU:
      return "a GPU";
    case OrtMemoryInfoDeviceType_NPU:
      return "an NPU";
    case OrtMemoryInfoDeviceType_FPGA:
      return "an FPGA";
    default:
      return "a device";
  }
}

}  // namespace

void EpInstance::Release::operator()(OrtEp* ep) const noexcept {
  const checked::InSlot in_slot(ort_abi::MemberInfo<&OrtEpFactory::ReleaseEp>::kLabel);
  try {
    ort_abi::Call<&OrtEpFactory::ReleaseEp, HostStatus>(instance->selection_.factory(), ep);
  } catch (const std::exception& error) {
    LogLine(ORT_LOGGING_LEVEL_ERROR, instance->label_ + ": " + error.what());
  }
}

EpInstance::EpInstance(EpSelection selection, const SessionOptionsAdapter& options, std::shared_ptr<SessionScope> scope)
    : selection_(std::move(selection)),
      scope_(std::move(scope)),
      label_("execution provider '" + selection_.name() + "' of " + selection_.library->path()),
      ep_(nullptr, Release{this}) {
  CheckDevices();
  Create(options);
  CheckName();
  AskForModes();
}

void EpInstance::Fail(OrtErrorCode code, const char* where, const std::string& what) const {
  const bool is_named = what.find(where) != std::string::npos;
  throw ToLightError(code, label_ + ": " + (is_named ? "" : std::string(where) + ": ") + what);
}

std::string EpInstance::Notes() const {
  std::string notes;
  const auto add = [&](const std::string& note) { notes += (notes.empty() ? "" : "; ") + note; };
  for (const EpDeviceAdapter* device : selection_.devices) {
    const HardwareDescription& hardware = device->hardware().description();
    if (hardware.is_synthetic) add("on a synthetic device of vendor '" + hardware.vendor + "'");
  }
  if (prefers_nhwc_) add("prefers the layout NHWC, was offered the model's");
  if (!runs_concurrently_) add("runs one at a time");
  return notes;
}

void EpInstance::CheckDevices() const {
  OrtEpFactory* factory = selection_.factory();
  bool is_all_cpu = true;
  for (const EpDeviceAdapter* device : selection_.devices) {
    for (const Memory which : {Memory::kDefault, Memory::kReadOnly}) {
      const MemoryInfoAdapter* info = device->memory(which);
      if (IsOnCpu(info)) continue;
      Fail(ORT_NOT_IMPLEMENTED, "device memory",
           "it needs memory of " + std::string(NameOf(info->description().device_type)) + " ('" +
               info->description().name + "'), this host has memory of the CPU only");
    }
    is_all_cpu = is_all_cpu && IsOnCpu(device->memory(Memory::kHostAccessible));
  }
  try {
    if (is_all_cpu || !ort_abi::Has<&OrtEpFactory::IsStreamAware>(factory) ||
        !ort_abi::Call<&OrtEpFactory::IsStreamAware, HostStatus>(factory)) {
      return;
    }
  } catch (const StatusError& error) {
    Fail(error.code(), "OrtEpFactory.IsStreamAware", error.what());
  }
  Fail(ORT_NOT_IMPLEMENTED, "OrtEpFactory.IsStreamAware", "streams of memory that is not the CPU's are not served");
}

void EpInstance::Create(const SessionOptionsAdapter& options) {
  OrtEpFactory* factory = selection_.factory();
  std::vector<const OrtHardwareDevice*> hardware;
  std::vector<const OrtKeyValuePairs*> metadata;
  for (const EpDeviceAdapter* device : selection_.devices) {
    hardware.push_back(Lend<OrtHardwareDevice>(device->hardware()));
    metadata.push_back(Lend<OrtKeyValuePairs>(device->metadata()));
  }
  SessionOptionsAdapter lent(options);  // good for the call alone
  OrtEp* ep = nullptr;
  const checked::InSlot in_slot(kCreateEp);
  try {
    ort_abi::Call<&OrtEpFactory::CreateEp, HostStatus>(
        factory, hardware.data(), metadata.data(), hardware.size(),
        static_cast<const OrtSessionOptions*>(Lend<OrtSessionOptions>(lent)), Lend<OrtLogger>(scope_->logger()), &ep);
    if (ep == nullptr) throw StatusError(ORT_FAIL, "gave no OrtEp with success, got null");
    ep_.reset(ep);
    ort_abi::RequireVersion(ep);
  } catch (const StatusError& error) {
    Fail(error.code(), kCreateEp, error.what());
  }
  try {
    transfer_ = CreateDataTransfer(factory);
  } catch (const StatusError& error) {
    Fail(error.code(), ort_abi::MemberInfo<&OrtEpFactory::CreateDataTransfer>::kLabel, error.what());
  }
}

void EpInstance::CheckName() const {
  const char* name = Call<&OrtEp::GetName>();
  if (name == nullptr) Fail(ORT_FAIL, "OrtEp.GetName", "must give a name, got null");
  if (selection_.name() != name) {
    Fail(ORT_FAIL, "OrtEp.GetName", "must be the factory's name '" + selection_.name() + "', got '" + name + "'");
  }
}

void EpInstance::AskForModes() {
  if (Has<&OrtEp::GetDefaultMemoryDevice>()) {
    const OrtMemoryDevice* device = nullptr;
    Call<&OrtEp::GetDefaultMemoryDevice>(&device);
    if (device != nullptr) {
      try {
        const OrtMemoryInfoDeviceType type = ort_abi::Borrow(device).description().device_type;
        if (type != OrtMemoryInfoDeviceType_CPU) {
          throw StatusError(ORT_NOT_IMPLEMENTED, std::string("must be the CPU's, got that of ") + NameOf(type));
        }
      } catch (const StatusError& error) {
        Fail(error.code(), "OrtEp.GetDefaultMemoryDevice", error.what());
      }
    }
  }
  if (Has<&OrtEp::IsConcurrentRunSupported>()) {
    runs_concurrently_ = false;
    Call<&OrtEp::IsConcurrentRunSupported>(&runs_concurrently_);
  }
  if (Has<&OrtEp::IsGraphCaptureEnabled>() && Call<&OrtEp::IsGraphCaptureEnabled>()) {
    Fail(ORT_NOT_IMPLEMENTED, "OrtEp.IsGraphCaptureEnabled", "capturing graphs is not in this host, got true");
  }
  if (Has<&OrtEp::GetPreferredDataLayout>()) {
    std::underlying_type_t<OrtEpDataLayout> layout = OrtEpDataLayout_NCHW;  // may be set to any number
    Call<&OrtEp::GetPreferredDataLayout>(reinterpret_cast<OrtEpDataLayout*>(&layout));
    if (layout != OrtEpDataLayout_NCHW && layout != OrtEpDataLayout_NHWC) {
      Fail(ORT_FAIL, "OrtEp.GetPreferredDataLayout",
           "must be NCHW (0) or NHWC (1), got " + std::to_string(static_cast<int32_t>(layout)));
    }
    prefers_nhwc_ = layout == OrtEpDataLayout_NHWC;
    if (prefers_nhwc_) {
      const std::string line = label_ + ": prefers the layout NHWC, is offered the model's";
      scope_->logger().Log(ORT_LOGGING_LEVEL_WARNING, line.c_str());
    }
  }
}

}  // namespace ort_host
