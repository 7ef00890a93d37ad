// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/element.h"
#include "kernels/scalar.h"
#include "light/kernel_info.h"
#include "light/kernel_registry.h"
#include "light/runtime_context.h"

namespace light {

// What kernels ask of their arguments, with one wording for what is wrong.

/// `input 1 (axes)`.
[[gnu::cold]] std::string InputLabel(std::size_t i, std::string_view name);

[[noreturn, gnu::cold]] void FailArgument(const std::string& what);

/// A required input. Throws Error if it is omitted.
const Tensor& Required(RuntimeContext& context, std::size_t i, std::string_view name);

/// The elements of an int32 or int64 tensor of rank 0 or 1.
Dims ReadIntegers(const Tensor& tensor, std::size_t i, std::string_view name);

/// A number as Cast makes it an int64, except that unsigned ones saturate, too.
template <class T>
int64_t ToInteger(T value) {
  if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> || static_cast<uint64_t>(value) <= INT64_MAX ? static_cast<int64_t>(value) : INT64_MAX;
  } else {
    return SaturatingCast<int64_t>(static_cast<ComputeType<T>>(value));
  }
}

/// The only element of a tensor of numbers, by ToInteger.
int64_t ReadInteger(const Tensor& tensor, std::size_t i, std::string_view name);

/// `axis` counted from the front. Throws Error if it is not in [-rank, rank - 1 + `beyond`].
int64_t NormalizeAxis(int64_t axis, std::size_t rank, int64_t beyond = 0);

/// An entry per axis: 1 if it is among `axes`, else 0. Throws Error if an axis is not in range or is given twice.
Dims MarkAxes(const Dims& axes, std::size_t rank);

/// Product of two extents of an output. Throws Error if it does not fit.
int64_t MultiplyExtents(int64_t a, int64_t b);

/// Product of extents [begin, end).
int64_t Product(std::span<const int64_t> dims, std::size_t begin, std::size_t end);

/// The registration of a kernel for ONNX versions `since` to `until`.
[[gnu::cold]] KernelRegistration Registration(std::string op_type, int since, int until,
                                              std::vector<TypeConstraint> constraints);

}  // namespace light
