// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"
#include "kernels/scratch.h"

namespace light {
namespace {

class OneHot final : public KernelBase {
 public:
  explicit OneHot(const KernelInfo& info) : axis_(info.Int("axis", -1)), from_end_(info.since_version() >= 11) {}

  void Run(RuntimeContext& context) override {
    const Tensor& indices = Required(context, 0, "indices");
    const int64_t depth = ReadInteger(Required(context, 1, "depth"), 1, "depth");
    const Tensor& values = Required(context, 2, "values");
    if (depth < 0) FailArgument(InputLabel(1, "depth") + ": must not be negative, got " + std::to_string(depth));
    if (values.rank() != 1 || values.dim(0) != 2)
      FailArgument(InputLabel(2, "values") + ": must be [off_value, on_value], got " + Describe(values));
    const std::size_t rank = indices.rank() + 1;
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, rank));
    Dims dims;
    dims.Resize(rank);
    for (std::size_t d = 0; d < rank; ++d) dims[d] = d == axis ? depth : indices.dim(d < axis ? d : d - 1);
    Tensor& out = context.Output(0, dims);
    if (out.element_count() == 0) return;

    const int64_t count = indices.element_count(), inner = Product(dims, axis + 1, rank);
    auto* hot = Scratch<int64_t>(context, count);
    WithType(NumberTypes{}, indices.type(), [&](auto tag) {
      const auto* index = indices.Data<typename decltype(tag)::type>();
      for (int64_t i = 0; i < count; ++i) {
        hot[i] = ToInteger(index[i]);
        if (from_end_ && hot[i] < 0 && hot[i] >= -depth) hot[i] += depth;
      }
    });
    WithMoved(values.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T *off = values.Data<T>(), *on = off + 1;
      const int64_t plane = depth * inner;
      context.ParallelFor(count / inner, kMoveCost<T> * static_cast<double>(plane), [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) {
          T* to = out.Data<T>() + o * plane;
          FillRun(to, plane, *off);
          for (int64_t i = 0; i < inner; ++i) {
            const int64_t index = hot[o * inner + i];
            if (index >= 0 && index < depth) CopyOne(*on, to[index * inner + i]);
          }
        }
      });
    });
  }

 private:
  int64_t axis_;
  bool from_end_;  // negative indices count from the end; before version 11 they are out of range
};

}  // namespace

void RegisterOneHot(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("OneHot", 9, 28, {}), MakeKernel<OneHot>);
}

}  // namespace light
