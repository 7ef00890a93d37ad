// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ort_abi/ort_c_api.h>

#include "adapters/ep_device.h"
#include "loader/loaded_library.h"

namespace ort_host {

struct DataTransferDeleter {
  void operator()(OrtDataTransferImpl* transfer) const noexcept;
};
using DataTransferPtr = std::unique_ptr<OrtDataTransferImpl, DataTransferDeleter>;

/// Null if the factory has none. Throws StatusError.
DataTransferPtr CreateDataTransfer(OrtEpFactory* factory);

/// A library of execution providers under one name: its factories and the devices that they offer. Held by the
/// registry and by each session that uses it; ends with data transfers, devices, factories, library, in this order.
class EpLibrary {
 public:
  /// Loads the library and asks it for factories and devices; a failure leaves nothing behind.
  /// Throws HostError naming the library, the factory and the rule.
  EpLibrary(std::string name, const std::string& path);
  EpLibrary(const EpLibrary&) = delete;

  /// No other library of the process has it, not even the same one registered again.
  uint64_t serial() const noexcept { return serial_; }
  const std::string& name() const noexcept { return name_; }
  const std::string& path() const noexcept { return library_->path(); }
  const std::shared_ptr<LoadedLibrary>& library() const noexcept { return library_; }
  const std::vector<std::unique_ptr<EpDeviceAdapter>>& devices() const noexcept { return devices_; }
  /// Names of those that can use nothing of this machine.
  std::vector<std::string> FactoriesWithoutDevices() const;

 private:
  struct FactoryDeleter {
    const EpLibrary* library;
    void operator()(OrtEpFactory* factory) const noexcept;
  };
  using FactoryPtr = std::unique_ptr<OrtEpFactory, FactoryDeleter>;

  void CreateFactories();
  /// Ours from here on, whether the answer they were in is right or not.
  void TakeFactories(std::span<OrtEpFactory* const> given);
  void CheckFactory(OrtEpFactory* factory, std::size_t index) const;
  void AskForDevices(OrtEpFactory* factory);

  uint64_t serial_;
  std::string name_;
  std::shared_ptr<LoadedLibrary> library_;
  std::vector<FactoryPtr> factories_;
  std::vector<std::unique_ptr<EpDeviceAdapter>> devices_;
  std::vector<DataTransferPtr> transfers_;
};

/// The libraries of the process, by registration name.
class EpLibraries {
 public:
  /// Throws HostError; the name is checked before the library is loaded.
  static void Register(const std::string& name, const std::string& path);
  /// Releases the library as soon as no session uses it. Throws HostError for an unknown name.
  static void Unregister(const std::string& name);
  /// In the order of registration.
  static std::vector<std::shared_ptr<const EpLibrary>> All();
  /// True while a library is registered, or about to be, under a name that ends in `.virtual`: that is how a user lets
  /// libraries offer devices which are not there.
  static bool AllowVirtualDevices();
};

}  // namespace ort_host
