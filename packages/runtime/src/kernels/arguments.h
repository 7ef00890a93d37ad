// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "light/kernel_info.h"
#include "light/kernel_registry.h"
#include "light/runtime_context.h"

namespace light {

// What kernels ask of their arguments, with one wording for what is wrong.

/// `input 1 (axes)`.
inline std::string InputLabel(std::size_t i, std::string_view name) {
  return "input " + std::to_string(i) + " (" + std::string(name) + ")";
}

[[noreturn]] inline void FailArgument(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

/// A required input. Throws Error if it is omitted.
const Tensor& Required(RuntimeContext& context, std::size_t i, std::string_view name);

/// The elements of an int32 or int64 tensor of rank 0 or 1.
Dims ReadIntegers(const Tensor& tensor, std::size_t i, std::string_view name);

/// `axis` counted from the front. Throws Error if it is not in [-rank, rank - 1 + `beyond`].
int64_t NormalizeAxis(int64_t axis, std::size_t rank, int64_t beyond = 0);

/// Product of extents [begin, end).
int64_t Product(std::span<const int64_t> dims, std::size_t begin, std::size_t end);

/// The registration of a kernel for ONNX versions `since` to `until`.
inline KernelRegistration Registration(std::string op_type, int since, int until,
                                       std::vector<TypeConstraint> constraints) {
  KernelRegistration registration;
  registration.kernel_name = "light::" + op_type;
  registration.op_type = std::move(op_type);
  registration.since = since;
  registration.until = until;
  registration.constraints = std::move(constraints);
  return registration;
}

}  // namespace light
