// SPDX-License-Identifier: Apache-2.0
#include "exec/text_meter.h"
#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/families.h"

namespace light {
namespace {

class StringConcat final : public KernelBase {
 public:
  explicit StringConcat(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& y = Required(context, 1, "Y");
    const Dims* inputs[] = {&x.dims(), &y.dims()};
    const BroadcastPlan plan(inputs);
    auto* to = context.Output(0, plan.out).Data<std::string>();
    const auto *left = x.Data<std::string>(), *right = y.Data<std::string>();
    const int64_t left_step = plan.advances(0), right_step = plan.advances(1);
    context.ParallelFor(plan.total, 50, [&](int64_t begin, int64_t end) {
      ForEachRun(plan, begin, end, [&](int64_t position, int64_t length, const auto& offsets) {
        for (int64_t i = 0; i < length; ++i)
          Join(left[offsets[0] + i * left_step], right[offsets[1] + i * right_step], to[position + i]);
      });
    });
  }

 private:
  static void Join(const std::string& left, const std::string& right, std::string& to) {
    if (TextScope* scope = TextScope::Current()) scope->Expect(to, left.size() + right.size());
    to.clear();
    to.reserve(left.size() + right.size());  // growing by itself would double it
    to.append(left).append(right);
  }
};

}  // namespace

void RegisterStringConcat(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("StringConcat", 20, 20, {}), MakeKernel<StringConcat>);
}

}  // namespace light
