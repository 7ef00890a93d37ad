// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <ort_abi/ort_c_api.h>

#include "custom_op_arguments.h"

namespace ort_plugin {

/// The attribute of a node that says which opset of ONNX defines its operator. Without it, the newest that is known.
inline constexpr const char* kOpsetAttribute = "opset";

/// An operator of ONNX under its name in our own domain, with all its versions.
class CustomOp : public OrtCustomOp {
 public:
  /// @param versions  oldest first; at least one
  CustomOp(const OrtApi& api, std::vector<SupportedOperator> versions);
  CustomOp(const CustomOp&) = delete;

  static const CustomOp& From(const OrtCustomOp* op) noexcept { return *static_cast<const CustomOp*>(op); }

  const OrtApi& api() const noexcept { return api_; }
  const CustomOpArguments& arguments() const noexcept { return arguments_; }
  const std::string& name() const noexcept { return versions_.back().schema->name; }
  const std::vector<SupportedOperator>& versions() const noexcept { return versions_; }
  /// The schema of the operator in an opset. Throws light::Error (kNotImplemented) if there is no kernel for it.
  const light::OperatorSchema& SchemaOf(int64_t opset) const;

 private:
  const OrtApi& api_;
  const std::vector<SupportedOperator> versions_;
  const CustomOpArguments arguments_;
};

/// Gives the outputs of a node the types and shapes that follow from its inputs and attributes. What does not follow,
/// or is wrong, is left for the kernel to say.
void InferOutputs(const CustomOp& op, OrtShapeInferContext* context);

}  // namespace ort_plugin
