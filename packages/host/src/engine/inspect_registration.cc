// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <utility>

#include <ort_abi/status_error.h>

#include "bridge/custom_op_versions.h"
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

void DescribeDomain(const CustomOpDomain& domain, bool is_repeated, const std::shared_ptr<LoadedLibrary>& library,
                    std::vector<OperatorReport>& reports) {
  std::map<std::string, std::vector<CustomOpPtr>> good;
  for (std::size_t i = 0; i < domain.ops.size(); ++i) {
    std::string problem;
    auto op =
        std::make_shared<const CustomOpDescriptor>(InspectCustomOp(*domain.ops[i], domain.name, i, library, problem));
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

}  // namespace

RegistrationReport InspectRegistration(const std::string& path) {
  try {
    RegistrationReport report;
    Registration registration{SessionOptionsAdapter()};
    try {
      registration.Run(path, false);
    } catch (const HostError& error) {
      if (registration.library() == nullptr) throw;
      report.failed_because = error.what();
    }
    const std::span<const uint32_t> asked = registration.asked_versions().all();
    report.api_versions.assign(asked.begin(), asked.end());
    if (!report.failed_because.empty()) return report;
    std::set<std::string> seen;
    for (const StagedDomain& staged : registration.added()) {
      const bool is_new = seen.insert(staged.domain->name).second;
      DescribeDomain(*staged.domain, !is_new, registration.library(), report.operators);
    }
    return report;
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
}

}  // namespace ort_host
