// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

/// Writes updates along one axis of a cache, from an index of each sample on.
class TensorScatter final : public KernelBase {
 public:
  explicit TensorScatter(const KernelInfo& info) : axis_(info.Int("axis", -2)) {
    const std::string mode = info.String("mode", "linear");
    if (mode != "linear" && mode != "circular")
      info.Fail(ErrorCode::kInvalidGraph, "attribute mode: must be linear or circular, got " + mode);
    circular_ = mode == "circular";
  }

  void Run(RuntimeContext& context) override {
    const Tensor& past = Required(context, 0, "past_cache");
    const Tensor* update = &Required(context, 1, "update");
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, past.rank()));
    if (axis == 0) FailArgument("attribute axis: must not be the batch axis, got " + std::to_string(axis_));
    bool fits = update->rank() == past.rank();
    for (std::size_t d = 0; fits && d < past.rank(); ++d)
      fits = d == axis ? update->dim(d) <= past.dim(d) : update->dim(d) == past.dim(d);
    if (!fits)
      FailArgument(InputLabel(1, "update") + ": must have the extents of " + Describe(past) + ", or fewer along axis " +
                   std::to_string(axis) + ", got " + Describe(*update));
    const int64_t batch = past.dim(0), most = past.dim(axis), steps = update->dim(axis);
    const int64_t* starts = Starts(context.Input(2), batch, most, steps);
    Tensor& out = context.Output(0, past.dims());
    if (out.element_count() == 0) return;
    Tensor copy;
    if (out.data() == past.data()) {
      if (update->data() == out.data()) update = &(copy = update->Clone());  // one value for both inputs
    } else {
      CopyElements(past, out);
    }
    if (update->element_count() == 0) return;
    const int64_t lines = Product(past.dims(), 0, axis), inner = Product(past.dims(), axis + 1, past.rank());
    const int64_t per_sample = lines / batch;
    WithMoved(past.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = kMoveCost<T> * static_cast<double>(steps * inner) + 5;
      context.ParallelFor(lines, cost, [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const T* from = update->Data<T>() + line * steps * inner;
          T* to = out.Data<T>() + line * most * inner;
          // At most two runs: up to the end of the cache, and from its beginning.
          int64_t start = starts ? starts[line / per_sample] % most : 0;
          if (start < 0) start += most;
          const int64_t first = std::min(steps, most - start);
          CopyRun(from, first * inner, to + start * inner);
          CopyRun(from + first * inner, (steps - first) * inner, to);
        }
      });
    });
  }

 private:
  const int64_t* Starts(const Tensor* indices, int64_t batch, int64_t most, int64_t steps) const {
    if (!indices) return nullptr;
    if (indices->rank() != 1 || indices->dim(0) != batch)
      FailArgument(InputLabel(2, "write_indices") + ": must be a vector of " + std::to_string(batch) + ", got " +
                   Describe(*indices));
    const auto* starts = indices->Data<int64_t>();
    for (int64_t b = 0; !circular_ && b < batch; ++b)
      if (starts[b] < 0 || starts[b] > most - steps)
        FailArgument(InputLabel(2, "write_indices") + ": must be in [0, " + std::to_string(most - steps) +
                     "], so that the update fits, got " + std::to_string(starts[b]) + " for sample " +
                     std::to_string(b));
    // Nothing is written at an index that an empty update may have at the end.
    return steps > 0 ? starts : nullptr;
  }

  int64_t axis_;
  bool circular_;
};

}  // namespace

void RegisterTensorScatter(KernelRegistry& registry) {
  KernelRegistration registration = Registration("TensorScatter", 24, 24, {{"T", WholeByteTensors()}});
  registration.may_inplace = {{0, 0}};
  registry.RegisterKernelFn(std::move(registration), MakeKernel<TensorScatter>);
}

}  // namespace light
