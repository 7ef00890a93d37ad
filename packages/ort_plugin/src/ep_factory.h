// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <ort_abi/handle.h>

namespace ort_plugin {

/// The factory of OnnxLightExecutionProvider, one per registration of the library. ORT lets the library be unregistered
/// while sessions are alive and still calls the factory for them: it lives until its last provider is gone.
class EpFactory : public OrtEpFactory, public std::enable_shared_from_this<EpFactory> {
 public:
  /// Makes a factory that the host holds until ReleaseEpFactory.
  static OrtEpFactory* Make(const OrtApi& api);
  /// The host lets go of it. False if it holds no such factory of this library.
  static bool Release(OrtEpFactory* factory);

  explicit EpFactory(const OrtApi& api);
  EpFactory(const EpFactory&) = delete;

  static EpFactory& From(OrtEpFactory* factory) noexcept { return *static_cast<EpFactory*>(factory); }

  const OrtApi& api() const noexcept { return api_; }
  const OrtEpApi& ep_api() const noexcept { return ep_api_; }
  /// The kernels that every provider of this factory offers.
  const OrtKernelRegistry* kernels() const noexcept { return kernels_.get(); }

 private:
  void OfferDevices(const OrtHardwareDevice* const* hardware, size_t count, OrtEpDevice** devices, size_t max_devices,
                    size_t* num_devices);

  const OrtApi& api_;
  const OrtEpApi& ep_api_;
  const ort_abi::OwnedHandle<OrtKernelRegistry> kernels_;
};

}  // namespace ort_plugin
