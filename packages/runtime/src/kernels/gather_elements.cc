// SPDX-License-Identifier: Apache-2.0
// GatherElements, GatherND.
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"
#include "kernels/offsets.h"

namespace light {
namespace {

class GatherElements final : public KernelBase {
 public:
  explicit GatherElements(const KernelInfo& info) : axis_(info.Int("axis", 0)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    const Tensor& indices = Required(context, 1, "indices");
    const auto offsets = ElementOffsets(context, data, indices, axis_);
    Tensor& out = context.Output(0, indices.dims());
    WithMoved(data.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = data.Data<T>();
      T* to = out.Data<T>();
      context.ParallelFor(static_cast<int64_t>(offsets.size()), kMoveCost<T> + 0.5, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) CopyOne(from[offsets[static_cast<std::size_t>(i)]], to[i]);
      });
    });
  }

 private:
  int64_t axis_;
};

class GatherND final : public KernelBase {
 public:
  explicit GatherND(const KernelInfo& info) : batch_(info.Int("batch_dims", 0)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    const SliceOffsets slices = FindSlices(context, data, Required(context, 1, "indices"), batch_);
    Tensor& out = context.Output(0, slices.dims);
    if (out.element_count() == 0) return;
    WithMoved(data.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = data.Data<T>();
      T* to = out.Data<T>();
      const double cost = kMoveCost<T> * static_cast<double>(slices.length) + 2;
      context.ParallelFor(static_cast<int64_t>(slices.starts.size()), cost, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          CopyRun(from + slices.starts[static_cast<std::size_t>(i)], slices.length, to + i * slices.length);
      });
    });
  }

 private:
  int64_t batch_;
};

}  // namespace

void RegisterGatherElements(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("GatherElements", 11, 13, {}), MakeKernel<GatherElements>);
  registry.RegisterKernelFn(Registration("GatherND", 11, 13, {}), MakeKernel<GatherND>);
}

}  // namespace light
