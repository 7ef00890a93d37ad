// SPDX-License-Identifier: Apache-2.0
#include "adapters/kernel_info.h"

namespace ort_host {

KernelContent::KernelContent(const light::KernelInfo& info, std::shared_ptr<SessionScope> session,
                             std::string library_path)
    : scope(std::move(session)),
      library(std::move(library_path)),
      label("node " + info.node().Label() + " of " + library),
      node_name(info.node().name),
      op_type(info.node().op_type),
      domain(info.node().domain),
      since_version(info.since_version()),
      attributes(info.node().attributes) {
  if (info.budget() != nullptr) scope->budget()->Attach(info.budget());
  const light::Graph& graph = info.graph();
  inputs.resize(info.input_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!info.HasInput(i)) continue;
    const light::GraphValue& value = graph.value(info.node().inputs[i]);
    inputs[i].name = value.name;
    inputs[i].type = value.type;
    if (const light::Tensor* constant = info.ConstantInput(i)) inputs[i].constant = ValueAdapter::Constant(*constant);
  }
  outputs.resize(info.output_count());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!info.HasOutput(i)) continue;
    const light::GraphValue& value = graph.value(info.node().outputs[i]);
    outputs[i].name = value.name;
    outputs[i].type = value.type;
  }
}

KernelContent::KernelContent(const light::Graph& graph, const light::PartitionShape& shape, const std::string& provider,
                             std::shared_ptr<SessionScope> session, std::string library_path)
    : scope(std::move(session)),
      library(std::move(library_path)),
      label("partition '" + shape.proposal.name + "' of " + provider + " of " + library),
      node_name(shape.proposal.name) {
  const auto describe = [&](const std::vector<light::ValueId>& values, std::vector<Argument>& arguments) {
    for (const light::ValueId id : values) {
      Argument& argument = arguments.emplace_back();
      argument.name = graph.value(id).name;
      argument.type = graph.value(id).type;
    }
  };
  describe(shape.inputs, inputs);
  describe(shape.outputs, outputs);
}

const light::Attribute* KernelContent::FindAttribute(const char* name) const noexcept {
  for (const light::Attribute& attribute : attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

}  // namespace ort_host
