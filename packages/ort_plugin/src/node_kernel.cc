// SPDX-License-Identifier: Apache-2.0
#include "node_kernel.h"

#include <algorithm>

#include "light/error.h"
#include "status.h"

namespace ort_plugin {
namespace {

/// The type of an output that the node leaves out: what the schema or an input of the same type parameter fixes.
light::ElementType OmittedType(const light::KernelInfo& info, std::size_t output) {
  const light::OperatorSchema& schema = *info.node().schema;
  const light::FormalParameter* formal = schema.OutputFormal(output);
  if (formal == nullptr || formal->type_parameter < 0) return light::ElementType::kUndefined;
  const auto& parameter = schema.type_parameters[static_cast<std::size_t>(formal->type_parameter)];
  light::ElementType type = parameter.allowed.Single().element;
  for (std::size_t i = 0; i < info.input_count() && type == light::ElementType::kUndefined; ++i) {
    const light::FormalParameter* input = schema.InputFormal(i);
    if (input != nullptr && input->type_parameter == formal->type_parameter) type = info.InputElement(i);
  }
  return type;
}

CallSignature SignatureOf(const OrtApi& api, const light::Graph& graph, int threads) {
  const light::Node& node = graph.node(0);
  CallSignature signature{.api = api,
                          .has_input = {},
                          .constants = {},
                          .outputs = {},
                          .has_output = {},
                          .output_count = node.outputs.size(),
                          .arenas = ArenaPool::Shared(),
                          .threads = threads > 0 ? threads : DefaultThreadCount()};
  // Trailing outputs that the node leaves out count too: a kernel may compute them all the same.
  const std::size_t count = std::max(node.outputs.size(), node.schema->outputs.size());
  const light::KernelInfo info(graph, node);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    signature.constants.push_back(info.ConstantInput(i));
    signature.has_input.push_back(info.HasInput(i) && signature.constants[i] == nullptr);
  }
  for (std::size_t i = 0; i < count; ++i) {
    signature.has_output.push_back(info.HasOutput(i));
    signature.outputs.push_back(info.HasOutput(i) ? info.OutputElement(i) : OmittedType(info, i));
  }
  return signature;
}

/// The kernel for the only node of the graph.
const light::KernelEntry& FindKernel(const light::Graph& graph) {
  std::string why;
  const light::KernelEntry* entry = light::NativeKernels().Find(graph, graph.node(0), &why);
  if (entry == nullptr) {
    throw light::Error(light::ErrorCode::kNotImplemented, "node " + graph.node(0).Label() + ": " + why);
  }
  return *entry;
}

std::unique_ptr<light::KernelBase> MakeKernel(const light::Graph& graph, const light::KernelOptions& options) {
  return FindKernel(graph).make(light::KernelInfo(graph, graph.node(0), nullptr, nullptr, {}, nullptr, options));
}

}  // namespace

std::string WhyUnsupported(NodeDescription node) {
  try {
    FindKernel(*MakeGraph(std::move(node)));
  } catch (const light::Error& error) {
    return error.what();
  }
  return "";
}

NodeKernel::NodeKernel(const OrtApi& api, NodeDescription node, int threads, const light::KernelOptions& options)
    : graph_(MakeGraph(std::move(node))),
      signature_(SignatureOf(api, *graph_, threads)),
      label_("node " + graph_->node(0).Label()),
      kernel_(MakeKernel(*graph_, options)) {}

OrtStatus* NodeKernel::Compute(OrtKernelContext* context) {
  return Guard(api(), label_.c_str(), [&] { Run(context); });
}

void NodeKernel::Run(OrtKernelContext* context) {
  std::unique_ptr<CallFrame> frame = spare_.Take(signature_);
  {
    OrtRuntimeContext runtime(signature_, *frame, context);
    kernel_->Run(runtime);
    runtime.Finish();
  }
  spare_.GiveBack(std::move(frame));
}

}  // namespace ort_plugin
