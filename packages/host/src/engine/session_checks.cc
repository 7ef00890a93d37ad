// SPDX-License-Identifier: Apache-2.0
#include "engine/session_checks.h"

#include "adapters/graph_boundary.h"
#include "light/error.h"

namespace ort_host {
namespace {

bool IsOn(const SessionOptionsAdapter& options, const char* key) {
  const std::string* value = options.FindConfig(key);
  return value != nullptr && *value == "1";
}

void RefuseContexts(const std::vector<light::NodeDef>& nodes) {
  for (const light::NodeDef& node : nodes) {
    if (node.op_type == "EPContext" && node.domain == "com.microsoft") {
      throw light::Error(light::ErrorCode::kNotImplemented,
                         "node '" + node.name +
                             "' (com.microsoft.EPContext): models that hold what a provider has "
                             "compiled are not served");
    }
    for (const light::Attribute& attribute : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<const light::GraphDef>>(&attribute.data);
      if (body != nullptr && *body != nullptr) RefuseContexts((*body)->nodes);
    }
  }
}

}  // namespace

void RequireKnownModes(const light::ModelDef& model, const SessionOptionsAdapter& options) {
  for (const char* key : {"ep.context_enable", "ep.enable_weightless"}) {
    if (!IsOn(options, key)) continue;
    throw light::Error(light::ErrorCode::kNotImplemented,
                       "session config entry '" + std::string(key) + "': not in this host, got '1'");
  }
  RefuseContexts(model.graph.nodes);
  for (const light::FunctionDef& function : model.functions) RefuseContexts(function.nodes);
}

void RequireProvidersAlone(const light::Program& program, const SessionOptionsAdapter& options) {
  constexpr const char* kKey = "session.disable_cpu_ep_fallback";
  if (!IsOn(options, kKey)) return;
  for (const light::NodeAssignment& assigned : program.assignment().nodes) {
    if (assigned.provider != light::kCpuProvider) continue;
    if (IsConstantNode(program.graph().node(assigned.node))) continue;  // no provider is asked for it
    const std::string why = assigned.declined.empty() ? "" : "; " + assigned.declined;
    throw light::Error(light::ErrorCode::kFail, std::string(kKey) + ": node " +
                                                    program.graph().node(assigned.node).Label() + " is left to " +
                                                    light::kCpuProvider + why);
  }
}

}  // namespace ort_host
