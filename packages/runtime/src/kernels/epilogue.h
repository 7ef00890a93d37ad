// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/runtime_context.h"

namespace light {

/// What a kernel does to its float32 result on the way to memory, in this order. Its registration says what it can do
/// (EpilogueSupport); a kernel finds in KernelInfo::epilogue() what it has to do. The inputs are numbered behind those
/// of the node.
struct Epilogue {
  int bias_input = -1;      ///< an input with as many elements as the last axis of the result; added to every row
  int residual_input = -1;  ///< an input of the result's extents; added
  bool relu = false;
};

/// The epilogue of one run.
struct EpilogueArguments {
  const float* bias = nullptr;
  const float* residual = nullptr;
  bool relu = false;
};

/// What the epilogue is in this run. To be called after context.Output(0, ...), because it depends on the extents of
/// the result whether the inputs fit: where they do not, none is given, and the later nodes run as they are. What is
/// given has the extents above: a kernel need not check them.
inline EpilogueArguments Resolve(const Epilogue& epilogue, RuntimeContext& context) {
  EpilogueArguments arguments;
  for (const auto& [input, data] :
       {std::pair{epilogue.bias_input, &arguments.bias}, std::pair{epilogue.residual_input, &arguments.residual}}) {
    if (input < 0) continue;
    const Tensor* tensor = context.Input(static_cast<std::size_t>(input));
    if (tensor == nullptr) return {};
    *data = tensor->Data<float>();
  }
  arguments.relu = epilogue.relu;
  return arguments;
}

}  // namespace light
