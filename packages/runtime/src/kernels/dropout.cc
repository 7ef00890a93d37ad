// SPDX-License-Identifier: Apache-2.0
// Dropout: a view of its input where nothing can be dropped, else a kernel that draws what is kept.
#include <random>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/moments.h"
#include "kernels/moved.h"
#include "kernels/random_numbers.h"

namespace light {
namespace {

bool IsTrue(const Tensor& tensor) { return tensor.element_count() == 1 && tensor.Data<bool>()[0]; }

/// Whether a run may drop elements. From version 12 on that may depend on what is fed.
bool MayDrop(const KernelInfo& info) {
  if (info.since_version() < 7) return info.Int("is_test", 0) == 0 && info.Float("ratio", 0.5f) != 0;
  if (info.since_version() < 12 || !info.HasInput(2)) return false;
  const Tensor* training = info.ConstantInput(2);
  if (training && !IsTrue(*training)) return false;
  const Tensor* ratio = info.HasInput(1) ? info.ConstantInput(1) : nullptr;
  return !(ratio && ratio->element_count() == 1 && SetOf(FloatTypes{}).Contains(*info.InputType(1)) &&
           ElementAsDouble(*ratio, 0) == 0);
}

void KeepAll(Tensor& mask) {
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

class Dropout final : public KernelBase {
 public:
  explicit Dropout(const KernelInfo&) {}

  static std::string Declines(const KernelInfo& info) {
    return MayDrop(info) ? "random dropout (training mode) of such elements is not supported" : "";
  }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    if (context.OutputRequested(1)) KeepAll(context.Output(1, data.dims()));
    context.OutputView(0, 0, data.dims());
  }
};

class RandomDropout final : public KernelBase {
 public:
  explicit RandomDropout(const KernelInfo& info)
      : always_(info.since_version() < 7),
        ratio_(info.Float("ratio", 0.5f)),
        seeded_(info.HasAttribute("seed")),
        seed_(static_cast<uint32_t>(info.Int("seed", 0))) {}

  static std::string Declines(const KernelInfo& info) {
    // It would be drawn once, when the session is made.
    const bool is_constant = info.ConstantInput(0) && (!info.HasInput(1) || info.ConstantInput(1)) &&
                             (!info.HasInput(2) || info.ConstantInput(2));
    return is_constant && !info.HasAttribute("seed") ? "random dropout of a constant is not supported" : "";
  }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    const double ratio = Ratio(context);
    Tensor& y = context.Output(0, data.dims());
    Tensor* mask = context.OutputRequested(1) ? &context.Output(1, data.dims()) : nullptr;
    if (ratio == 0 || !Trains(context)) {
      CopyElements(data, y);
      if (mask) KeepAll(*mask);
      return;
    }
    RandomNumbers numbers(seeded_ ? seed_ : std::random_device()());
    WithType(FloatTypes{}, data.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      const auto scale = static_cast<C>(1 / (1 - ratio));
      for (int64_t i = 0; i < data.element_count(); ++i) {
        const bool kept = numbers.Uniform() >= ratio;
        y.Data<T>()[i] = T(static_cast<C>(data.Data<T>()[i]) * C(kept) * scale);
        if (!mask) continue;
        if (mask->type() == ElementType::kBool)
          mask->Data<bool>()[i] = kept;
        else
          mask->Data<T>()[i] = T(C(kept));
      }
    });
  }

 private:
  double Ratio(RuntimeContext& context) const {
    double ratio = ratio_;
    const Tensor* given = context.Input(1);
    if (given) {
      if (given->element_count() != 1)
        FailArgument(InputLabel(1, "ratio") + ": must have one element, got " + Describe(*given));
      ratio = ElementAsDouble(*given, 0);
    }
    if (!(ratio >= 0 && ratio < 1))
      FailArgument((given ? InputLabel(1, "ratio") : "attribute ratio") + ": must lie in [0, 1), got " +
                   std::to_string(ratio));
    return ratio;
  }

  bool Trains(RuntimeContext& context) const {
    if (always_) return true;
    const Tensor* training = context.Input(2);
    if (training && training->element_count() != 1)
      FailArgument(InputLabel(2, "training_mode") + ": must be one bool, got " + Describe(*training));
    return training && IsTrue(*training);
  }

  bool always_;  // the first versions have no input that says so
  double ratio_;
  bool seeded_;
  uint32_t seed_;
};

}  // namespace

void RegisterDropout(KernelRegistry& registry) {
  KernelRegistration view = Registration("Dropout", 1, 22, {{"T", WholeByteTensors()}});
  view.aliases = {{0, 0}};
  view.declines = Dropout::Declines;
  registry.RegisterKernelFn(view, MakeKernel<Dropout>);
  const TypeSet floats = SetOf(FloatTypes{});
  KernelRegistration draws = Registration("Dropout", 1, 22, {{"T", floats}, {"ratio", floats}});
  draws.declines = RandomDropout::Declines;
  registry.RegisterKernelFn(draws, MakeKernel<RandomDropout>);
}

}  // namespace light
