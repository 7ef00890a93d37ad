// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "adapters/session_scope.h"
#include "bridge/custom_op_versions.h"
#include "light/operator_schema.h"

namespace ort_host {

/// The tensor types that an argument of any type takes.
light::TypeSet AnyTensor();

/// The names of the arguments' type parameters in the schema: every position has its own.
std::string InputParameter(std::size_t i);
std::string OutputParameter(std::size_t i);

/// The types that position `i` takes, over all overloads.
light::TypeSet PermittedInput(const CustomOpVersion& version, std::size_t i);
light::TypeSet PermittedOutput(const CustomOpVersion& version, std::size_t i);

/// The operator as the runtime knows it. Its inference hook finds the outputs' types as ORT does and then calls the
/// library's InferOutputShapeFn. The schema shares the ownership of `version` and `scope`.
light::OperatorSchema MakeSchema(std::shared_ptr<const CustomOpVersion> version, std::shared_ptr<SessionScope> scope);

}  // namespace ort_host
