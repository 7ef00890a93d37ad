// SPDX-License-Identifier: Apache-2.0
#include "bridge/ep_library.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

#include <ort_abi/callbacks.h>

#include "abi/tables.h"
#include "adapters/checked.h"
#include "adapters/logger.h"
#include "adapters/status.h"
#include "bridge/hardware_devices.h"
#include "bridge/named_call.h"
#include "engine/host_error.h"
#include "light/assignment.h"

namespace ort_host {
namespace {

using ort_abi::CallFunction;
using ort_abi::Lend;
using ort_abi::StatusError;

constexpr const char* kCreate = "CreateEpFactories";
constexpr const char* kRelease = "ReleaseEpFactory";
using CreateFunction = std::remove_pointer_t<OrtStatus* (*)(const char*, const OrtApiBase*, const OrtLogger*,
                                                            OrtEpFactory**, size_t, size_t*)>;
using ReleaseFunction = std::remove_pointer_t<OrtStatus* (*)(OrtEpFactory*)>;

// As many as ORT offers room for. What is behind is ours as well, so that a library which takes no heed of the capacity
// is told so instead of destroying memory.
constexpr std::size_t kMostFactories = 4;
constexpr std::size_t kMostDevices = 8;
constexpr std::size_t kRoom = 64;

constinit std::atomic<uint64_t> g_serials = 0;

/// The entries that a library has written, whether it counted them right or not.
template <class T>
struct Answer {
  std::array<T*, kRoom> entries{};
  std::size_t count = 0;

  /// Throws StatusError if the count or an entry breaks a rule.
  void Check(std::size_t most, const std::string& who, const char* what) const {
    const std::size_t written = kRoom - static_cast<std::size_t>(std::find_if(entries.rbegin(), entries.rend(),
                                                                              [](T* e) { return e != nullptr; }) -
                                                                 entries.rbegin());
    if (count > most || written > most) {
      throw StatusError(ORT_FAIL, who + ": gave " + std::to_string(std::max(count, written)) + " " + what +
                                      ", there is room for " + std::to_string(most));
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (entries[i] == nullptr) {
        throw StatusError(
            ORT_FAIL, who + ": entry " + std::to_string(i) + " of " + std::to_string(count) + " " + what + " is null");
      }
      if (std::find(entries.begin(), entries.begin() + i, entries[i]) != entries.begin() + i) {
        throw StatusError(ORT_FAIL, who + ": entry " + std::to_string(i) + " of the " + what + " was given before");
      }
    }
  }
};

template <auto kMember>
void RequireMember(const OrtEpFactory* factory) {
  if (ort_abi::Has<kMember>(factory)) return;
  throw StatusError(ORT_FAIL,
                    std::string(ort_abi::MemberInfo<kMember>::kLabel) + ": a required callback is missing, got null");
}

}  // namespace

void EpLibrary::FactoryDeleter::operator()(OrtEpFactory* factory) const noexcept {
  try {
    CallFunction<HostStatus>(kRelease, library->library_->Find<ReleaseFunction>(kRelease), factory);
  } catch (const std::exception& error) {
    LogLine(ORT_LOGGING_LEVEL_ERROR, library->path() + ": " + error.what());
  }
}

void DataTransferDeleter::operator()(OrtDataTransferImpl* transfer) const noexcept {
  try {
    ort_abi::Call<&OrtDataTransferImpl::Release, HostStatus>(transfer);
  } catch (const std::exception& error) {
    LogLine(ORT_LOGGING_LEVEL_ERROR, error.what());
  }
}

EpLibrary::EpLibrary(std::string name, const std::string& path)
    : serial_(++g_serials), name_(std::move(name)), library_(LoadLibrary(path, kCreate)) {
  if (library_->Find<ReleaseFunction>(kRelease) == nullptr) {
    throw HostError(ORT_FAIL, "library '" + path + "': exports no " + kRelease);
  }
  const checked::Owner owner(this);
  const checked::RegistrationEnd end(this);
  try {
    CreateFactories();
    for (const FactoryPtr& factory : factories_) AskForDevices(factory.get());
    for (const FactoryPtr& factory : factories_) transfers_.push_back(CreateDataTransfer(factory.get()));
  } catch (const StatusError& error) {
    throw HostError(error.code(), "library '" + library_->path() + "': " + error.what());
  }
}

std::vector<std::string> EpLibrary::FactoriesWithoutDevices() const {
  std::vector<std::string> names;
  for (const FactoryPtr& factory : factories_) {
    const bool has_device = std::any_of(devices_.begin(), devices_.end(),
                                        [&](const auto& device) { return device->factory() == factory.get(); });
    if (!has_device) names.emplace_back(ort_abi::Call<&OrtEpFactory::GetName, HostStatus>(factory.get()));
  }
  return names;
}

void EpLibrary::CreateFactories() {
  Answer<OrtEpFactory> answer;
  try {
    Named(kCreate, [&] {
      CallFunction<HostStatus>(kCreate, library_->Find<CreateFunction>(kCreate), name_.c_str(), &abi::ApiBase(),
                               Lend<OrtLogger>(DefaultLogger()), answer.entries.data(), kMostFactories, &answer.count);
    });
  } catch (const StatusError&) {
    TakeFactories(answer.entries);  // as in ORT, what a failing library has written is released, counted or not
    throw;
  }
  TakeFactories(answer.entries);
  answer.Check(kMostFactories, kCreate, "factories");
  if (answer.count == 0) throw StatusError(ORT_FAIL, std::string(kCreate) + ": gave no factory");
  for (std::size_t i = 0; i < answer.count; ++i) CheckFactory(answer.entries[i], i);
}

void EpLibrary::TakeFactories(std::span<OrtEpFactory* const> given) {
  for (OrtEpFactory* factory : given) {
    const bool is_known = std::any_of(factories_.begin(), factories_.end(),
                                      [&](const FactoryPtr& known) { return known.get() == factory; });
    if (factory != nullptr && !is_known) factories_.emplace_back(factory, FactoryDeleter{this});
  }
}

void EpLibrary::CheckFactory(OrtEpFactory* factory, std::size_t index) const {
  try {
    ort_abi::RequireVersion(factory);
    RequireMember<&OrtEpFactory::CreateEp>(factory);  // asked for by sessions, too late to be refused
    RequireMember<&OrtEpFactory::ReleaseEp>(factory);
    const char* name = ort_abi::Call<&OrtEpFactory::GetName, HostStatus>(factory);
    if (name == nullptr || *name == '\0') {
      throw StatusError(ORT_FAIL, std::string("OrtEpFactory.GetName: must give a name, got ") +
                                      (name == nullptr ? "null" : "an empty one"));
    }
    if (std::string_view(name) == light::kCpuProvider) {
      throw StatusError(
          ORT_FAIL, std::string("OrtEpFactory.GetName: is the name of the host's own provider, got '") + name + "'");
    }
  } catch (const StatusError& error) {
    throw StatusError(error.code(), "factory " + std::to_string(index) + ": " + error.what());
  }
}

void EpLibrary::AskForDevices(OrtEpFactory* factory) {
  const std::string who = std::string("OrtEpFactory.GetSupportedDevices of '") +
                          ort_abi::Call<&OrtEpFactory::GetName, HostStatus>(factory) + "'";
  std::vector<const OrtHardwareDevice*> hardware;
  for (const HardwareDeviceAdapter* device : HardwareDevices()) hardware.push_back(Lend<OrtHardwareDevice>(*device));
  Answer<OrtEpDevice> answer;
  CallNamed<&OrtEpFactory::GetSupportedDevices>(factory, hardware.data(), hardware.size(), answer.entries.data(),
                                                kMostDevices, &answer.count);
  const std::size_t first = devices_.size();
  for (std::size_t i = 0; i < kRoom; ++i) {
    OrtEpDevice* handle = answer.entries[i];
    if (handle == nullptr ||
        std::find(answer.entries.begin(), answer.entries.begin() + i, handle) != answer.entries.begin() + i) {
      continue;
    }
    ort_abi::Borrow(handle, "EP device");  // throws for what is none
    devices_.push_back(ort_abi::Take(handle));
  }
  answer.Check(kMostDevices, who, "devices");
  for (std::size_t i = first; i < devices_.size(); ++i) {
    if (devices_[i]->factory() != factory) {
      throw StatusError(ORT_FAIL, who + ": device " + std::to_string(i - first) + " was made with another factory");
    }
    devices_[i]->metadata().Set("library_path", library_->path());
  }
}

DataTransferPtr CreateDataTransfer(OrtEpFactory* factory) {
  OrtDataTransferImpl* transfer = nullptr;
  if (ort_abi::Has<&OrtEpFactory::CreateDataTransfer>(factory)) {
    CallNamed<&OrtEpFactory::CreateDataTransfer>(factory, &transfer);
  }
  return DataTransferPtr(transfer);
}

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<const EpLibrary>> libraries;
  std::vector<std::string> arriving;  ///< names of those whose registration is under way

  auto Find(const std::string& name) {
    return std::find_if(libraries.begin(), libraries.end(), [&](const auto& known) { return known->name() == name; });
  }
};

/// Never destroyed: a library that nobody unregisters is left alone when the process ends.
Registry& TheRegistry() {
  static Registry& registry = *new Registry;
  return registry;
}

/// While it lives, a registration under that name is under way.
class Arrival {
 public:
  Arrival(Registry& registry, const std::string& name) : registry_(registry), name_(name) {
    const std::lock_guard lock(registry_.mutex);
    registry_.arriving.push_back(name_);
  }
  ~Arrival() {
    const std::lock_guard lock(registry_.mutex);
    registry_.arriving.erase(std::ranges::find(registry_.arriving, name_));
  }
  Arrival(const Arrival&) = delete;

 private:
  Registry& registry_;
  const std::string& name_;
};

void RequireFree(Registry& registry, const std::string& name) {
  const auto found = registry.Find(name);
  if (found == registry.libraries.end()) return;
  throw HostError(ORT_FAIL, "registration name '" + name + "': in use by " + (*found)->path());
}

}  // namespace

void EpLibraries::Register(const std::string& name, const std::string& path) {
  if (name.empty()) throw HostError(ORT_INVALID_ARGUMENT, "registration name: must not be empty");
  Registry& registry = TheRegistry();
  {
    const std::lock_guard lock(registry.mutex);
    RequireFree(registry, name);
  }
  // Not under the lock: library code runs here.
  const Arrival arrival(registry, name);
  auto library = std::make_shared<const EpLibrary>(name, path);
  const std::lock_guard lock(registry.mutex);
  RequireFree(registry, name);
  registry.libraries.push_back(std::move(library));
}

void EpLibraries::Unregister(const std::string& name) {
  Registry& registry = TheRegistry();
  std::shared_ptr<const EpLibrary> released;  // outside of the lock: library code runs
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.Find(name);
  if (found == registry.libraries.end()) {
    throw HostError(ORT_FAIL, "registration name '" + name + "': no library is registered with it");
  }
  released = std::move(*found);
  registry.libraries.erase(found);
}

bool EpLibraries::AllowVirtualDevices() {
  const auto allows = [](const std::string& name) { return name.ends_with(".virtual"); };
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  return std::ranges::any_of(registry.arriving, allows) ||
         std::ranges::any_of(registry.libraries, [&](const auto& library) { return allows(library->name()); });
}

std::vector<std::shared_ptr<const EpLibrary>> EpLibraries::All() {
  const std::lock_guard lock(TheRegistry().mutex);
  return TheRegistry().libraries;
}

}  // namespace ort_host
