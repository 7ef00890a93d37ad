// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ort_abi/ort_c_api.h>

#include "kernel_registry.h"

namespace ort_plugin {

/// An input or output of a custom operator as the host is told of it.
struct CustomOpArgument {
  OrtCustomOpInputOutputCharacteristic characteristic = INPUT_OUTPUT_OPTIONAL;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;  ///< undefined: several
  int min_arity = 1;                                                         ///< of a variadic
  bool homogeneous = true;                                                   ///< of a variadic
};

/// All versions of an operator in one: a host takes one operator per name, whatever its versions. What a version does
/// not have is optional here, and is refused when its kernel is made.
struct CustomOpArguments {
  std::vector<CustomOpArgument> inputs;
  std::vector<CustomOpArgument> outputs;
};

CustomOpArguments ArgumentsOf(const std::vector<SupportedOperator>& versions);

}  // namespace ort_plugin
