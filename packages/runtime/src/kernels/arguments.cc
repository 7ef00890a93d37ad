// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"

#include <algorithm>

#include "conversions/shape.h"
#include "kernels/input_axes.h"

namespace light {

std::string InputLabel(std::size_t i, std::string_view name) {
  return "input " + std::to_string(i) + " (" + std::string(name) + ")";
}

void FailArgument(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

const Tensor& Required(RuntimeContext& context, std::size_t i, std::string_view name) {
  const Tensor* tensor = context.Input(i);
  if (!tensor) FailArgument(InputLabel(i, name) + ": is required, got none");
  return *tensor;
}

Dims ReadIntegers(const Tensor& tensor, std::size_t i, std::string_view name) {
  if (tensor.rank() > 1 || (tensor.type() != ElementType::kInt64 && tensor.type() != ElementType::kInt32))
    FailArgument(InputLabel(i, name) + ": must be a vector of int32 or int64, got " + Describe(tensor));
  Dims result;
  result.Resize(static_cast<std::size_t>(tensor.element_count()));
  if (tensor.type() == ElementType::kInt64) {
    std::copy_n(tensor.Data<int64_t>(), result.rank(), result.data());
  } else {
    std::copy_n(tensor.Data<int32_t>(), result.rank(), result.data());
  }
  return result;
}

int64_t ReadInteger(const Tensor& tensor, std::size_t i, std::string_view name) {
  if (tensor.element_count() != 1)
    FailArgument(InputLabel(i, name) + ": must have one element, got " + Describe(tensor));
  return WithType(NumberTypes{}, tensor.type(),
                  [&](auto tag) { return ToInteger(*tensor.Data<typename decltype(tag)::type>()); });
}

namespace {

[[noreturn, gnu::cold]] void FailAxis(int64_t axis, int64_t rank, int64_t beyond, std::string_view what) {
  const std::string rule = rank + beyond == 0
                               ? "there is none in a scalar"
                               : "must be in [" + std::to_string(-rank) + ", " + std::to_string(rank - 1 + beyond) +
                                     "] for rank " + std::to_string(rank);
  FailArgument(std::string(what) + ": " + rule + ", got " + std::to_string(axis));
}

int64_t FromFront(int64_t axis, std::size_t rank, int64_t beyond, std::string_view what) {
  const auto r = static_cast<int64_t>(rank);
  if (axis < -r || axis > r - 1 + beyond || r + beyond == 0) FailAxis(axis, r, beyond, what);
  return axis < 0 ? axis + r : axis;
}

}  // namespace

int64_t NormalizeAxis(int64_t axis, std::size_t rank, int64_t beyond) {
  return FromFront(axis, rank, beyond, "attribute axis");
}

int64_t NormalizeAxis(int64_t axis, std::size_t rank, std::string_view what) { return FromFront(axis, rank, 0, what); }

Dims MarkAxes(const Dims& axes, std::size_t rank) { return MarkAxes(axes, rank, "attribute axes"); }

Dims MarkAxes(const Dims& axes, std::size_t rank, std::string_view what) {
  Dims marked;
  marked.Resize(rank);
  std::fill_n(marked.data(), rank, 0);
  for (std::size_t i = 0; i < axes.rank(); ++i) {
    const int64_t axis = NormalizeAxis(axes[i], rank, what);
    int64_t& mark = marked[static_cast<std::size_t>(axis)];
    if (mark)
      FailArgument(std::string(what) + ": must be distinct, got axis " + std::to_string(axis) + " twice in " +
                   conversions::FormatExtents(axes));
    mark = 1;
  }
  return marked;
}

int64_t MultiplyExtents(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    FailArgument("output 0: an extent must fit in 64 bits, got " + std::to_string(a) + " times " + std::to_string(b));
  return product;
}

int64_t Product(std::span<const int64_t> dims, std::size_t begin, std::size_t end) {
  uint64_t product = 1;  // wraps for a part of the extents of a tensor without elements, where it does not matter
  for (std::size_t i = begin; i < end; ++i) product *= static_cast<uint64_t>(dims[i]);
  return static_cast<int64_t>(product);
}

KernelRegistration Registration(std::string op_type, int since, int until, std::vector<TypeConstraint> constraints) {
  KernelRegistration registration;
  registration.kernel_name = "light::" + op_type;
  registration.op_type = std::move(op_type);
  registration.since = since;
  registration.until = until;
  registration.constraints = std::move(constraints);
  return registration;
}

}  // namespace light
