// SPDX-License-Identifier: Apache-2.0
#include "bridge/ep_selection.h"

#include <algorithm>
#include <cctype>

#include <ort_abi/callbacks.h>

#include "adapters/checked.h"
#include "adapters/custom_op_domain.h"
#include "adapters/logger.h"
#include "adapters/status.h"
#include "bridge/named_call.h"
#include "engine/host_error.h"

namespace ort_host {
namespace {

using ort_abi::Has;
using ort_abi::StatusError;

constexpr std::size_t kMostDomains = 1024;

const EpDeviceAdapter& FindDevice(const EpDeviceId& id, std::shared_ptr<const EpLibrary>& library) {
  for (const auto& known : EpLibraries::All()) {
    if (known->serial() != id.library) continue;
    library = known;
    if (id.index < known->devices().size()) return *known->devices()[id.index];
  }
  throw HostError(ORT_INVALID_ARGUMENT, "devices: the library of a device is not registered any more");
}

void SetEntry(SessionOptionsAdapter& options, const std::string& key, const std::string& value) {
  const std::string problem = options.SetConfig(key, value);
  if (!problem.empty()) throw StatusError(ORT_INVALID_ARGUMENT, problem);
}

/// Names of providers that differ in case alone share their options.
void WarnOfLost(const SessionOptionsAdapter& before, const SessionOptionsAdapter& after, const EpSelection& selection) {
  for (const auto& [key, value] : before.config()) {
    if (*after.FindConfig(key) == value) continue;
    LogLine(ORT_LOGGING_LEVEL_WARNING, "execution provider '" + selection.name() + "': session config entry '" + key +
                                           "' was '" + value + "' and is overwritten");
  }
}

/// True if the options have a domain of that name.
bool HasDomain(const SessionOptionsAdapter& options, const std::string& name) {
  return std::any_of(options.domains().begin(), options.domains().end(),
                     [&](const StagedDomain& staged) { return staged.domain->name == name; });
}

void AddDomains(OrtEpFactory* factory, const std::string& provider, SessionOptionsAdapter& options) {
  if (!Has<&OrtEpFactory::GetNumCustomOpDomains>(factory) || !Has<&OrtEpFactory::GetCustomOpDomains>(factory)) return;
  constexpr const char* kLabel = ort_abi::MemberInfo<&OrtEpFactory::GetCustomOpDomains>::kLabel;
  std::size_t count = 0;
  CallNamed<&OrtEpFactory::GetNumCustomOpDomains>(factory, &count);
  if (count > kMostDomains) {
    throw StatusError(ORT_FAIL, std::string("OrtEpFactory.GetNumCustomOpDomains: at most ") +
                                    std::to_string(kMostDomains) + " domains, got " + std::to_string(count));
  }
  std::vector<OrtCustomOpDomain*> domains(count);
  CallNamed<&OrtEpFactory::GetCustomOpDomains>(factory, domains.data(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string entry = std::string(kLabel) + ": entry " + std::to_string(i);
    const std::shared_ptr<CustomOpDomain> domain =
        Named(entry.c_str(), [&] { return ort_abi::Borrow(domains[i], entry.c_str()).domain(); });
    // As in ORT: neither of these is an error.
    const char* odd = domain->ops.empty()                ? "has no ops"
                      : HasDomain(options, domain->name) ? "is there already"
                                                         : nullptr;
    if (odd != nullptr) {
      LogLine(ORT_LOGGING_LEVEL_WARNING, entry + ": domain '" + domain->name + "' " + odd + " and is left out");
      continue;
    }
    options.AddDomain(domain, provider);
  }
}

}  // namespace

std::string EpOptionPrefix(std::string_view ep_name) {
  std::string prefix = "ep.";
  for (const char c : ep_name) prefix += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return prefix + ".";
}

EpSelection SelectDevices(const std::vector<EpDeviceId>& ids) {
  if (ids.empty()) throw HostError(ORT_INVALID_ARGUMENT, "devices: at least one is needed, got none");
  EpSelection selection;
  for (const EpDeviceId& id : ids) {
    const EpDeviceAdapter& device = FindDevice(id, selection.library);
    if (!selection.devices.empty() && device.factory() != selection.factory()) {
      throw HostError(ORT_INVALID_ARGUMENT, "devices: all must be of one execution provider, got '" + selection.name() +
                                                "' and '" + device.ep_name() + "'");
    }
    selection.devices.push_back(&device);
  }
  return selection;
}

void AddProvider(const EpSelection& selection, const std::vector<std::pair<std::string, std::string>>& given,
                 SessionOptionsAdapter& options) {
  const SessionOptionsAdapter before = options;
  options.set_library(selection.library->path());
  try {
    const std::string prefix = EpOptionPrefix(selection.name());
    for (const EpDeviceAdapter* device : selection.devices) {
      for (const auto& [key, value] : device->options().entries()) SetEntry(options, prefix + key, value);
    }
    for (const auto& [key, value] : given) {
      if (key.empty()) throw StatusError(ORT_INVALID_ARGUMENT, "options: a key must not be empty");
      SetEntry(options, prefix + key, value);
    }
    WarnOfLost(before, options, selection);
    AddDomains(selection.factory(), selection.name(), options);
  } catch (const StatusError& error) {
    throw HostError(error.code(), "execution provider '" + selection.name() + "' of " + selection.library->path() +
                                      ": " + error.what());
  }
  options.set_library("");
}

}  // namespace ort_host
