// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <ort_abi/status_error.h>

#include "adapters/asked_versions.h"
#include "bridge/custom_op_versions.h"
#include "bridge/plugin_provider.h"
#include "engine/engine.h"
#include "engine/registration.h"

namespace ort_host {
namespace {

std::string MemoryName(OrtMemType memory) {
  switch (memory) {
    case OrtMemTypeDefault:
      return "default";
    case OrtMemTypeCPUInput:
      return "cpu_input";
    case OrtMemTypeCPUOutput:
      return "cpu_output";
  }
  return "memory type " + std::to_string(memory);
}

std::vector<ArgumentReport> Describe(const CustomOpArguments& arguments) {
  std::vector<ArgumentReport> reports;
  for (const CustomOpArgument& item : arguments.items) {
    ArgumentReport report;
    report.type = item.takes_any() ? "any tensor" : "tensor(" + std::string(conversions::Name(item.element)) + ")";
    report.characteristic = item.is_variadic ? "variadic" : item.is_optional ? "optional" : "required";
    report.memory = MemoryName(item.memory);
    if (item.is_variadic) {
      report.min_arity = arguments.min_arity;
      report.is_homogeneous = arguments.is_homogeneous;
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

OperatorReport Describe(const CustomOpDescriptor& op) {
  OperatorReport report;
  report.domain = op.domain;
  report.name = op.name;
  report.position = op.position;
  report.since_version = op.start;
  report.end_version = op.end == INT_MAX ? -1 : op.end;
  report.inputs = Describe(op.inputs);
  report.outputs = Describe(op.outputs);
  report.provider = op.provider;
  report.api_version = op.op->version;
  report.has_inference = op.has_inference;
  report.may_inplace = op.may_inplace;
  report.aliases = op.aliases;
  return report;
}

/// What is wrong with the last of the overloads, given that the others are in order, or "".
std::string JudgeOverload(const std::vector<CustomOpPtr>& overloads) {
  try {
    SortByVersion(overloads);
  } catch (const ort_abi::StatusError& error) {
    std::string problem = error.what();
    const std::string label = overloads.back()->Label() + ": ";  // the report says already which op it is
    if (problem.starts_with(label)) problem.erase(0, label.size());
    return problem;
  }
  return "";
}

void DescribeDomain(const StagedDomain& staged, bool is_repeated, const std::shared_ptr<LoadedLibrary>& library,
                    std::vector<OperatorReport>& reports) {
  const CustomOpDomain& domain = *staged.domain;
  std::map<std::string, std::vector<CustomOpPtr>> good;
  for (std::size_t i = 0; i < domain.ops.size(); ++i) {
    std::string problem;
    auto op = std::make_shared<const CustomOpDescriptor>(
        InspectCustomOp(*domain.ops[i], domain.name, i, library, problem, staged.provider));
    if (problem.empty() && is_repeated) problem = "its domain '" + domain.name + "' was added before";
    if (problem.empty() && domain.name == "ai.onnx") {
      problem = "custom op domain 'ai.onnx' is never looked up; ONNX's domain is ''";
    }
    if (problem.empty()) {
      std::vector<CustomOpPtr>& overloads = good[op->name];
      overloads.push_back(op);
      problem = JudgeOverload(overloads);
      if (!problem.empty()) overloads.pop_back();
    }
    reports.push_back(Describe(*op));
    reports.back().problem = std::move(problem);
  }
}

/// Throws HostError if the library cannot be loaded.
void InspectCustomOps(const std::string& path, RegistrationReport& report) {
  Registration registration{SessionOptionsAdapter()};
  try {
    registration.Run(path, false);
  } catch (const HostError& error) {
    if (registration.library() == nullptr) throw;
    report.failed_because = error.what();
  }
  const std::span<const uint32_t> asked = registration.asked_versions().all();
  report.api_versions.assign(asked.begin(), asked.end());
  if (!report.failed_because.empty()) return;
  std::set<std::string> seen;
  for (const StagedDomain& staged : registration.added()) {
    const bool is_new = seen.insert(staged.domain->name).second;
    DescribeDomain(staged, !is_new, registration.library(), report.operators);
  }
}

KernelReport Describe(const KernelDefinition& definition) {
  KernelReport report;
  report.domain = definition.plain_domain();
  report.op_type = definition.op_type;
  report.since_version = definition.since;
  report.end_version = definition.until == INT_MAX ? -1 : definition.until;
  for (const light::TypeConstraint& constraint : definition.constraints) {
    report.types.emplace_back(constraint.parameter, constraint.allowed.ToString());
  }
  report.provider = definition.provider;
  report.may_inplace = definition.may_inplace;
  report.aliases = definition.aliases;
  return report;
}

std::string Describe(const HardwareDescription& hardware) {
  static constexpr const char* kTypes[] = {"CPU", "GPU", "NPU"};
  return std::string(kTypes[hardware.type]) + " " + hardware.vendor + (hardware.is_synthetic ? " (synthetic)" : "");
}

/// Creates the provider of these devices and reads what it registers.
ProviderReport InspectProvider(const EpSelection& selection, std::vector<OperatorReport>& operators) {
  ProviderReport report;
  const EpDeviceAdapter& first = *selection.devices.front();
  report.name = first.ep_name();
  report.vendor = first.ep_vendor();
  if (const char* version = first.metadata().Find("version")) report.version = version;
  report.options = first.options().entries();
  for (const EpDeviceAdapter* device : selection.devices) {
    report.devices.push_back(Describe(device->hardware().description()));
  }
  try {
    SessionOptionsAdapter options;
    AddProvider(selection, {}, options);
    for (const StagedDomain& staged : options.domains()) {
      DescribeDomain(staged, false, selection.library->library(), operators);
    }
    auto scope = std::make_shared<SessionScope>(options.config(), -1, "");
    std::size_t group_count = 0;
    const PluginProvider provider(selection, options, std::move(scope), "", light::BrokenGroups::kRefuse, group_count);
    if (provider.registry() == nullptr) return report;
    for (const RegisteredKernel& kernel : provider.registry()->kernels()) {
      report.kernels.push_back(Describe(kernel.definition.definition()));
    }
  } catch (const std::exception& error) {
    report.problem = error.what();
  }
  return report;
}

void InspectProviders(const std::string& path, RegistrationReport& report) {
  AskedVersions asked;
  const AskedVersions::Recording recording(asked);
  try {
    const auto library = std::make_shared<const EpLibrary>("inspect", path);
    std::vector<EpSelection> selections;  // one for each factory
    for (const auto& device : library->devices()) {
      const auto known = std::find_if(selections.begin(), selections.end(), [&](const EpSelection& selection) {
        return selection.factory() == device->factory();
      });
      EpSelection& selection = known != selections.end() ? *known : selections.emplace_back();
      selection.library = library;
      selection.devices.push_back(device.get());
    }
    for (const EpSelection& selection : selections) {
      report.providers.push_back(InspectProvider(selection, report.operators));
    }
    for (const std::string& name : library->FactoriesWithoutDevices()) report.providers.emplace_back().name = name;
  } catch (const HostError& error) {
    report.failed_because += (report.failed_because.empty() ? "" : "; ") + std::string(error.what());
  }
  for (const uint32_t version : asked.all()) {
    if (std::find(report.api_versions.begin(), report.api_versions.end(), version) == report.api_versions.end()) {
      report.api_versions.push_back(version);
    }
  }
}

}  // namespace

RegistrationReport InspectRegistration(const std::string& path) {
  try {
    RegistrationReport report;
    const std::vector<std::string> exports = InspectLibrary(path).exports;
    const auto has = [&](const char* name) { return std::find(exports.begin(), exports.end(), name) != exports.end(); };
    const bool has_providers = has("CreateEpFactories");
    // One that exports neither is refused as one of custom ops.
    if (has("RegisterCustomOps") || !has_providers) InspectCustomOps(path, report);
    if (has_providers) InspectProviders(path, report);
    return report;
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
}

}  // namespace ort_host
