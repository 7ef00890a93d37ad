// SPDX-License-Identifier: Apache-2.0
#include "kernels/concat.h"

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

class Concat final : public KernelBase {
 public:
  explicit Concat(const KernelInfo& info) : axis_(info.Int("axis", 1)) {
    if (info.since_version() >= 4 && !info.HasAttribute("axis"))
      info.Fail(ErrorCode::kInvalidGraph, "attribute axis is required, got none");
  }

  void Run(RuntimeContext& context) override {
    const std::size_t count = context.input_count();
    auto** inputs = static_cast<const Tensor**>(context.TemporaryBuffer(count * sizeof(const Tensor*)));
    for (std::size_t i = 0; i < count; ++i) inputs[i] = &Required(context, i, "inputs");
    ConcatTensors(context, {inputs, count}, axis_);
  }

 private:
  int64_t axis_;
};

}  // namespace

void ConcatTensors(RuntimeContext& context, std::span<const Tensor* const> inputs, int64_t signed_axis) {
  const Tensor& first = *inputs[0];
  const std::size_t rank = first.rank();
  const auto axis = static_cast<std::size_t>(NormalizeAxis(signed_axis, rank));
  Dims dims = first.dims();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Tensor& input = *inputs[i];
    bool fits = input.rank() == rank;
    for (std::size_t d = 0; fits && d < rank; ++d) fits = d == axis || input.dim(d) == first.dim(d);
    if (!fits)
      FailArgument(InputLabel(i, "inputs") + ": must agree with " + conversions::FormatExtents(first.dims()) +
                   " in every axis but " + std::to_string(axis) + ", got " + conversions::FormatExtents(input.dims()));
    if (__builtin_add_overflow(dims[axis], input.dim(axis), &dims[axis]))
      FailArgument(InputLabel(i, "inputs") + ": axis " + std::to_string(axis) +
                   " of the output must fit in 64 bits, got " + conversions::FormatExtents(input.dims()));
  }
  Tensor& out = context.Output(0, dims);
  if (out.element_count() == 0) return;
  const int64_t outer = Product(dims, 0, axis), inner = Product(dims, axis + 1, rank);
  WithMoved(first.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t at = 0;
    for (const Tensor* input : inputs) {
      const int64_t length = input->dim(axis) * inner;
      const T* from = input->Data<T>();
      T* to = out.Data<T>() + at;
      const int64_t pitch = dims[axis] * inner;
      if (length > 0)
        context.ParallelFor(outer, kMoveCost<T> * static_cast<double>(length) + 2, [&](int64_t begin, int64_t end) {
          for (int64_t o = begin; o < end; ++o) CopyRun(from + o * length, length, to + o * pitch);
        });
      at += length;
    }
  });
}

void RegisterConcat(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Concat", 1, 13, {}), MakeKernel<Concat>);
}

}  // namespace light
