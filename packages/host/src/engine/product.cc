// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "adapters/checked.h"
#include "adapters/logger.h"
#include "engine/engine.h"
#include "loader/loaded_library.h"

namespace ort_host {

const char* ProductVersion() noexcept { return ONNX_LIGHT_ORT_HOST_VERSION; }

const char* BuildInfo() noexcept {
  return "onnx-light-ort-host " ONNX_LIGHT_ORT_HOST_VERSION ", ORT C ABI 30, not ONNX Runtime";
}

std::vector<CheckedRule> CheckedRules() {
  std::vector<CheckedRule> rules;
  for (const checked::Rule& rule : checked::Rules()) rules.push_back({rule.name, rule.meaning});
  return rules;
}

std::vector<CheckedFinding> CheckedFindings() {
  std::vector<CheckedFinding> findings;
  for (checked::Finding& finding : checked::Findings()) {
    findings.push_back({std::move(finding.rule), std::move(finding.slot), std::move(finding.sentence)});
  }
  return findings;
}

void EnableCheckedMode() {
  if (checked::enabled()) return;
  if (HasLoadedLibraries()) {
    throw HostError(ORT_FAIL, "checked mode: must be turned on before the first library is loaded");
  }
  checked::Enable();
}

void SetDefaultLogSeverity(int severity) {
  if (severity < ORT_LOGGING_LEVEL_VERBOSE || severity > ORT_LOGGING_LEVEL_FATAL) {
    throw HostError(ORT_INVALID_ARGUMENT, "log severity: 0 to 4 are allowed, got " + std::to_string(severity));
  }
  SetDefaultSeverity(severity);
}

}  // namespace ort_host
