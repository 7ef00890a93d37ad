// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"
#include "kernels/offsets.h"

namespace light {
namespace {

template <class Index>
void CheckIndices(const Tensor& indices, std::size_t axis, int64_t extent) {
  for (const Index index : indices.Span<Index>()) IndexFromFront(index, axis, extent);
}

template <class T, class Index>
void Copy(RuntimeContext& context, const T* from, int64_t outer, int64_t extent, int64_t inner, const Tensor& indices,
          T* to) {
  const Index* index = indices.Data<Index>();
  const int64_t n = indices.element_count();
  context.ParallelFor(outer * n, kMoveCost<T> * static_cast<double>(inner) + 2, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t o = unit / n;
      int64_t i = index[unit % n];
      if (i < 0) i += extent;
      const T* source = from + (o * extent + i) * inner;
      if (inner == 1)
        CopyOne(*source, to[unit]);
      else
        CopyRun(source, inner, to + unit * inner);
    }
  });
}

class Gather final : public KernelBase {
 public:
  explicit Gather(const KernelInfo& info) : axis_(info.Int("axis", 0)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    const Tensor& indices = Required(context, 1, "indices");
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, data.rank()));
    const int64_t extent = data.dim(axis);
    const bool narrow = indices.type() == ElementType::kInt32;
    if (narrow)
      CheckIndices<int32_t>(indices, axis, extent);
    else
      CheckIndices<int64_t>(indices, axis, extent);

    Dims dims;
    dims.Resize(data.rank() - 1 + indices.rank());
    std::copy_n(data.dims().data(), axis, dims.data());
    std::copy_n(indices.dims().data(), indices.rank(), dims.data() + axis);
    std::copy(data.dims().data() + axis + 1, data.dims().data() + data.rank(), dims.data() + axis + indices.rank());
    Tensor& out = context.Output(0, dims);
    if (out.element_count() == 0) return;
    const int64_t outer = Product(data.dims(), 0, axis), inner = Product(data.dims(), axis + 1, data.rank());
    WithMoved(data.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (narrow)
        Copy<T, int32_t>(context, data.Data<T>(), outer, extent, inner, indices, out.Data<T>());
      else
        Copy<T, int64_t>(context, data.Data<T>(), outer, extent, inner, indices, out.Data<T>());
    });
  }

 private:
  int64_t axis_;
};

}  // namespace

void RegisterGather(KernelRegistry& registry) {
  registry.RegisterKernelFn(
      Registration("Gather", 1, 13, {{"Tind", TypeSet::Tensors({ElementType::kInt32, ElementType::kInt64})}}),
      MakeKernel<Gather>);
}

}  // namespace light
