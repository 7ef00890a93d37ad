// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

class ReverseSequence final : public KernelBase {
 public:
  explicit ReverseSequence(const KernelInfo& info) : time_first_(info.Int("time_axis", 0) == 0) {
    const int64_t time = info.Int("time_axis", 0), batch = info.Int("batch_axis", 1);
    if (time < 0 || time > 1 || batch != 1 - time)
      info.Fail(ErrorCode::kInvalidGraph, "attributes time_axis and batch_axis: one must be 0 and the other 1, got " +
                                              std::to_string(time) + " and " + std::to_string(batch));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "input");
    const Tensor& lengths = Required(context, 1, "sequence_lens");
    if (data.rank() < 2) FailArgument(InputLabel(0, "input") + ": must have at least rank 2, got " + Describe(data));
    const int64_t steps = data.dim(time_first_ ? 0 : 1), batch = data.dim(time_first_ ? 1 : 0);
    if (lengths.rank() != 1 || lengths.dim(0) != batch)
      FailArgument(InputLabel(1, "sequence_lens") + ": must be a vector of " + std::to_string(batch) + ", got " +
                   Describe(lengths));
    const auto* length = lengths.Data<int64_t>();
    for (int64_t b = 0; b < batch; ++b)
      if (length[b] < 0 || length[b] > steps)
        FailArgument(InputLabel(1, "sequence_lens") + ": must be in [0, " + std::to_string(steps) + "], got " +
                     std::to_string(length[b]) + " for sequence " + std::to_string(b));
    Tensor& out = context.Output(0, data.dims());
    if (out.element_count() == 0) return;
    const int64_t inner = Product(data.dims(), 2, data.rank());
    const int64_t time_pitch = (time_first_ ? batch : 1) * inner, batch_pitch = (time_first_ ? 1 : steps) * inner;
    WithMoved(data.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = kMoveCost<T> * static_cast<double>(inner) + 2;
      context.ParallelFor(steps * batch, cost, [&](int64_t begin, int64_t end) {
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t t = time_first_ ? unit / batch : unit % steps, b = time_first_ ? unit % batch : unit / steps;
          const int64_t source = t < length[b] ? length[b] - 1 - t : t;
          CopyRun(data.Data<T>() + source * time_pitch + b * batch_pitch, inner, out.Data<T>() + unit * inner);
        }
      });
    });
  }

 private:
  bool time_first_;
};

}  // namespace

void RegisterReverseSequence(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("ReverseSequence", 10, 28, {}), MakeKernel<ReverseSequence>);
}

}  // namespace light
