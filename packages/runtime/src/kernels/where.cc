// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

template <class T>
void Select(RuntimeContext& context, const BroadcastPlan& plan, const Tensor& condition, const Tensor& x,
            const Tensor& y, Tensor& out) {
  const bool* take = condition.Data<bool>();
  const T* a = x.Data<T>();
  const T* b = y.Data<T>();
  T* result = out.Data<T>();
  const int64_t steps[] = {plan.advances(0), plan.advances(1), plan.advances(2)};
  context.ParallelFor(plan.total, 1, [&](int64_t begin, int64_t end) {
    ForEachRun(plan, begin, end, [&](int64_t position, int64_t length, const auto& offsets) {
      const bool* c = take + offsets[0];
      const T* from_x = a + offsets[1];
      const T* from_y = b + offsets[2];
      T* to = result + position;
      if constexpr (std::is_same_v<T, std::string>) {
        for (int64_t i = 0; i < length; ++i)
          CopyString(c[i * steps[0]] ? from_x[i * steps[1]] : from_y[i * steps[2]], to[i]);
      } else if (steps[0] && steps[1] && steps[2]) {
        for (int64_t i = 0; i < length; ++i) to[i] = c[i] ? from_x[i] : from_y[i];
      } else {
        for (int64_t i = 0; i < length; ++i) to[i] = c[i * steps[0]] ? from_x[i * steps[1]] : from_y[i * steps[2]];
      }
    });
  });
}

class Where final : public KernelBase {
 public:
  explicit Where(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    const Tensor& condition = Required(context, 0, "condition");
    const Tensor& x = Required(context, 1, "X");
    const Tensor& y = Required(context, 2, "Y");
    const Dims* inputs[] = {&condition.dims(), &x.dims(), &y.dims()};
    const BroadcastPlan plan(inputs);
    Tensor& out = context.Output(0, plan.out);
    WithMoved(x.type(), [&](auto tag) { Select<typename decltype(tag)::type>(context, plan, condition, x, y, out); });
  }
};

}  // namespace

void RegisterWhere(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Where", 9, 16, {}), MakeKernel<Where>);
}

}  // namespace light
