// SPDX-License-Identifier: Apache-2.0
#include "compiled_group.h"

#include "api.h"
#include "light/error.h"
#include "status.h"

namespace ort_plugin {
namespace {

/// The boundary of a run: the inputs and outputs of the host's call.
class CallBoundary final : public light::BoundaryIo {
 public:
  CallBoundary(OrtRuntimeContext& call, const std::vector<std::size_t>& inputs) : call_(call), inputs_(inputs) {}

  const light::Value& Input(std::size_t i) override { return call_.InputValue(inputs_[i]); }
  light::Tensor& CreateOutput(std::size_t i, light::ElementType, std::span<const int64_t> dims) override {
    return call_.Output(i, dims);  // its type was compared when the group was compiled
  }
  void SetOutput(std::size_t i, light::Value value) override { call_.SetOutputValue(i, std::move(value)); }

 private:
  OrtRuntimeContext& call_;
  const std::vector<std::size_t>& inputs_;
};

CallSignature SignatureOf(const OrtApi& api, const GroupGraph& group, int threads) {
  const light::Graph& graph = *group.graph;
  CallSignature signature{.api = api,
                          .has_input = std::vector<bool>(group.input_count, false),
                          .constants = std::vector<const light::Tensor*>(group.input_count, nullptr),
                          .outputs = {},
                          .has_output = std::vector<bool>(graph.outputs().size(), true),
                          .output_count = graph.outputs().size(),
                          .arenas = ArenaPool::Shared(),
                          .threads = threads > 0 ? threads : DefaultThreadCount()};
  for (const std::size_t i : group.inputs) signature.has_input[i] = true;
  for (const light::ValueId id : graph.outputs()) signature.outputs.push_back(graph.value(id).type.element);
  return signature;
}

std::unique_ptr<light::Program> MakeProgram(const std::shared_ptr<const light::Graph>& graph,
                                            const light::KernelOptions& kernels) {
  light::AssignmentSources sources;
  sources.native = &light::NativeKernels();
  return light::Program::Lower(graph, light::AssignNodes(*graph, sources), {.kernels = kernels});
}

}  // namespace

CompiledGroup::CompiledGroup(const OrtApi& api, std::string name, GroupGraph group, int threads,
                             const light::KernelOptions& kernels)
    : OrtNodeComputeInfo{},
      label_(kEpName + (": group '" + std::move(name) + "'")),
      definition_(std::move(group.definition)),
      kernels_(kernels),
      graph_(group.graph),
      signature_(SignatureOf(api, group, threads)),
      inputs_(group.inputs),
      program_(MakeProgram(group.graph, kernels)) {
  ort_version_supported = kOldestApi;
  OrtNodeComputeInfo::CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) -> OrtStatus* {
    *state = nullptr;
    return nullptr;
  };
  OrtNodeComputeInfo::Compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* context) {
    auto& group = *static_cast<CompiledGroup*>(self);
    return Guard(group.signature_.api, group.label_.c_str(), [&] { group.Run(context); });
  };
  OrtNodeComputeInfo::ReleaseState = [](OrtNodeComputeInfo*, void*) {};
}

bool CompiledGroup::HasKnownExtents(std::size_t i, const light::Value& value) const {
  const light::GraphValue& expected = graph_->value(graph_->inputs()[i]);
  if (!value.is_tensor()) {
    throw light::Error(light::ErrorCode::kInvalidArgument, "input '" + expected.name + "': the host gave nothing");
  }
  const light::Tensor& tensor = value.tensor();
  if (tensor.type() == expected.type.element) [[likely]]
    return expected.type.shape.Admits(tensor.dims());
  throw light::Error(
      light::ErrorCode::kInvalidArgument,
      "input '" + expected.name + "': expected " + expected.type.ToString() + ", got " + light::Describe(tensor));
}

light::Program& CompiledGroup::AnyExtents() {
  if (light::Program* program = made_.load(std::memory_order_acquire)) return *program;
  const std::lock_guard lock(mutex_);
  if (any_extents_ == nullptr) {
    any_extents_ = MakeProgram(WithAnyExtents(definition_), kernels_);
    made_.store(any_extents_.get(), std::memory_order_release);
  }
  return *any_extents_;
}

void CompiledGroup::Run(OrtKernelContext* context) {
  std::unique_ptr<CallFrame> frame = spare_.Take(signature_);
  {
    OrtRuntimeContext call(signature_, *frame, context);
    bool is_known = true;
    for (std::size_t i = 0; i < inputs_.size(); ++i) is_known &= HasKnownExtents(i, call.InputValue(inputs_[i]));
    CallBoundary boundary(call, inputs_);
    // The host does not compare what its own nodes make with what the model says of it.
    (is_known ? *program_ : AnyExtents()).Run(boundary, call.parallel());
    call.Finish();
  }
  spare_.GiveBack(std::move(frame));
}

}  // namespace ort_plugin
