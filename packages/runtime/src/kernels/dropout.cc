// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/moments.h"
#include "kernels/moved.h"

namespace light {
namespace {

bool IsTrue(const Tensor& tensor) { return tensor.element_count() == 1 && tensor.Data<bool>()[0]; }

// Nothing is dropped: the output is the input, and the mask keeps every element.
class Dropout final : public KernelBase {
 public:
  explicit Dropout(const KernelInfo&) {}

  static std::string Declines(const KernelInfo& info) {
    const std::string random = "random dropout (training mode) is not supported";
    if (info.since_version() < 7) return info.Int("is_test", 0) == 0 && info.Float("ratio", 0.5f) != 0 ? random : "";
    if (info.since_version() < 12 || !info.HasInput(2)) return "";
    const Tensor* training = info.ConstantInput(2);
    if (training && !IsTrue(*training)) return "";
    const Tensor* ratio = info.HasInput(1) ? info.ConstantInput(1) : nullptr;
    const bool keeps_all = ratio && ratio->element_count() == 1 && SetOf(FloatTypes{}).Contains(*info.InputType(1)) &&
                           ElementAsDouble(*ratio, 0) == 0;
    return keeps_all ? "" : random;
  }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    if (context.OutputRequested(1)) {
      Tensor& mask = context.Output(1, data.dims());
      const int64_t n = mask.element_count();
      if (mask.type() == ElementType::kBool) {
        std::fill_n(mask.Data<bool>(), n, true);
      } else {  // of the type of the data before version 10
        WithType(FloatTypes{}, mask.type(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          std::fill_n(mask.Data<T>(), n, T(ComputeType<T>{1}));
        });
      }
    }
    context.OutputView(0, 0, data.dims());
  }
};

}  // namespace

void RegisterDropout(KernelRegistry& registry) {
  KernelRegistration registration = Registration("Dropout", 1, 22, {{"T", WholeByteTensors()}});
  registration.aliases = {{0, 0}};
  registration.declines = Dropout::Declines;
  registry.RegisterKernelFn(registration, MakeKernel<Dropout>);
}

}  // namespace light
