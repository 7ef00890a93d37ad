// SPDX-License-Identifier: Apache-2.0
#include "custom_op.h"

#include <climits>
#include <memory>

#include "api.h"
#include "kernel_attributes.h"
#include "kernel_node.h"
#include "light/error.h"
#include "node_kernel.h"
#include "status.h"

namespace ort_plugin {
namespace {

const CustomOpArgument& Input(const OrtCustomOp* op, std::size_t i) { return CustomOp::From(op).arguments().inputs[i]; }
const CustomOpArgument& Output(const OrtCustomOp* op, std::size_t i) {
  return CustomOp::From(op).arguments().outputs[i];
}

/// The argument that a variadic can be.
const CustomOpArgument& Last(const std::vector<CustomOpArgument>& arguments) {
  static const CustomOpArgument none;
  return arguments.empty() ? none : arguments.back();
}

/// Every operator whose output may be a view of an input has them at the front.
std::size_t ShareFirst(int** input, int** output) {
  static int first = 0;
  *input = *output = &first;
  return 1;
}
std::size_t ShareNothing(int** input, int** output) {
  *input = *output = nullptr;
  return 0;
}

int64_t OpsetOf(const OrtApi& api, const OrtKernelInfo* info) {
  const auto written = ReadAttribute(api, info, kOpsetAttribute, light::AttributeKind::kInt);
  if (written.has_value()) return std::get<int64_t>(written->data);
  const light::AttributeKind other = FindOtherKind(api, info, kOpsetAttribute, light::AttributeKind::kInt);
  if (other == light::AttributeKind::kUndefined) return INT_MAX;
  throw light::Error(light::ErrorCode::kInvalidGraph, std::string("attribute '") + kOpsetAttribute +
                                                          "' must be of kind int, got " + light::ToString(other));
}

const light::OperatorSchema& SchemaOf(const CustomOp& op, const OrtApi& api, const OrtKernelInfo* info) {
  try {
    return op.SchemaOf(OpsetOf(api, info));
  } catch (const light::Error& error) {
    throw light::Error(error.code(), "node '" + NodeNameOf(api, info) + "': " + error.what());
  }
}

OrtStatus* MakeNodeKernel(const OrtCustomOp* self, const OrtApi* api, const OrtKernelInfo* info, void** kernel) {
  const CustomOp& op = CustomOp::From(self);
  return Guard(*api, (std::string(kDomain) + "." + op.name()).c_str(), [&] {
    *kernel = new NodeKernel(*api, DescribeKernelNode(*api, info, SchemaOf(op, *api, info), Origin::kCustomOpNode), 0);
  });
}

}  // namespace

CustomOp::CustomOp(const OrtApi& api, std::vector<SupportedOperator> versions)
    : OrtCustomOp{}, api_(api), versions_(std::move(versions)), arguments_(ArgumentsOf(versions_)) {
  version = kOldestApi;
  OrtCustomOp::GetName = [](const OrtCustomOp* op) { return From(op).name().c_str(); };
  OrtCustomOp::GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
  OrtCustomOp::GetInputTypeCount = [](const OrtCustomOp* op) { return From(op).arguments().inputs.size(); };
  OrtCustomOp::GetInputType = [](const OrtCustomOp* op, std::size_t i) { return Input(op, i).type; };
  OrtCustomOp::GetInputCharacteristic = [](const OrtCustomOp* op, std::size_t i) {
    return Input(op, i).characteristic;
  };
  OrtCustomOp::GetInputMemoryType = [](const OrtCustomOp*, std::size_t) { return OrtMemTypeDefault; };
  OrtCustomOp::GetOutputTypeCount = [](const OrtCustomOp* op) { return From(op).arguments().outputs.size(); };
  OrtCustomOp::GetOutputType = [](const OrtCustomOp* op, std::size_t i) { return Output(op, i).type; };
  OrtCustomOp::GetOutputCharacteristic = [](const OrtCustomOp* op, std::size_t i) {
    return Output(op, i).characteristic;
  };
  OrtCustomOp::GetVariadicInputMinArity = [](const OrtCustomOp* op) {
    return Last(From(op).arguments().inputs).min_arity;
  };
  OrtCustomOp::GetVariadicInputHomogeneity = [](const OrtCustomOp* op) {
    return static_cast<int>(Last(From(op).arguments().inputs).homogeneous);
  };
  OrtCustomOp::GetVariadicOutputMinArity = [](const OrtCustomOp* op) {
    return Last(From(op).arguments().outputs).min_arity;
  };
  OrtCustomOp::GetVariadicOutputHomogeneity = [](const OrtCustomOp* op) {
    return static_cast<int>(Last(From(op).arguments().outputs).homogeneous);
  };
  OrtCustomOp::GetStartVersion = [](const OrtCustomOp*) { return 1; };
  OrtCustomOp::GetEndVersion = [](const OrtCustomOp*) { return INT_MAX; };
  OrtCustomOp::InferOutputShapeFn = [](const OrtCustomOp* op, OrtShapeInferContext* context) -> OrtStatus* {
    InferOutputs(From(op), context);
    return nullptr;
  };
  OrtCustomOp::CreateKernelV2 = MakeNodeKernel;
  OrtCustomOp::KernelComputeV2 = [](void* kernel, OrtKernelContext* context) {
    return static_cast<NodeKernel*>(kernel)->Compute(context);
  };
  OrtCustomOp::KernelDestroy = [](void* kernel) { delete static_cast<NodeKernel*>(kernel); };
  OrtCustomOp::GetMayInplace = ShareNothing;
  OrtCustomOp::ReleaseMayInplace = [](int*, int*) {};
  OrtCustomOp::GetAliasMap = versions_.back().aliases.empty() ? ShareNothing : ShareFirst;
  OrtCustomOp::ReleaseAliasMap = [](int*, int*) {};
}

const light::OperatorSchema& CustomOp::SchemaOf(int64_t opset) const {
  const light::OperatorSchema* found = light::OnnxSchemas().Find(versions_.back().schema->domain, name(), opset);
  std::string known;
  for (const SupportedOperator& supported : versions_) {
    if (supported.schema == found) return *found;
    known += (known.empty() ? "" : ", ") + std::to_string(supported.schema->since_version);
  }
  throw light::Error(light::ErrorCode::kNotImplemented, std::string("attribute '") + kOpsetAttribute +
                                                            "' must select one of the versions " + known +
                                                            " of the operator, got " + std::to_string(opset));
}

}  // namespace ort_plugin
