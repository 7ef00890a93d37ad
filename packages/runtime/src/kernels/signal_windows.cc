// SPDX-License-Identifier: Apache-2.0
// BlackmanWindow, HammingWindow, HannWindow: sums of cosines.
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/signal.h"

namespace light {
namespace {

struct Blackman {
  static constexpr double kTerms[] = {0.42, 0.5, 0.08};
};
struct Hamming {
  static constexpr double kTerms[] = {25. / 46, 21. / 46, 0};
};
struct Hann {
  static constexpr double kTerms[] = {0.5, 0.5, 0};
};

template <class Shape>
class SignalWindow final : public KernelBase {
 public:
  explicit SignalWindow(const KernelInfo& info) : periodic_(info.Int("periodic", 1) != 0) {}

  void Run(RuntimeContext& context) override {
    const int64_t size = ReadInteger(Required(context, 0, "size"), 0, "size");
    if (size < 0) FailArgument(InputLabel(0, "size") + ": must not be negative, got " + std::to_string(size));
    const int64_t dims[] = {size};
    Tensor& y = context.Output(0, dims);
    // A symmetric window of one element is its middle.
    const double period = static_cast<double>(periodic_ ? size : size - 1), middle = size == 1 && !periodic_ ? 0.5 : 0;
    WithType(NumberTypes{}, y.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      context.ParallelFor(size, 40, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const double turn = middle > 0 ? middle : static_cast<double>(i) / period;
          const double angle = 2 * 3.14159265358979323846 * turn;
          // In this order the middle is exactly 1 and the ends of Blackman's window are exactly 0.
          const double value =
              Shape::kTerms[0] + Shape::kTerms[2] * std::cos(2 * angle) - Shape::kTerms[1] * std::cos(angle);
          if constexpr (std::is_integral_v<T>)
            y.Data<T>()[i] = SaturatingCast<T>(value);
          else
            y.Data<T>()[i] = T(static_cast<ComputeType<T>>(value));
        }
      });
    });
  }

 private:
  bool periodic_;
};

}  // namespace

void RegisterWindows(KernelRegistry& registry) {
  const std::vector<TypeConstraint> constraints = {{"T2", SetOf(NumberTypes{})}};
  registry.RegisterKernelFn(Registration("BlackmanWindow", 17, 17, constraints), MakeKernel<SignalWindow<Blackman>>);
  registry.RegisterKernelFn(Registration("HammingWindow", 17, 17, constraints), MakeKernel<SignalWindow<Hamming>>);
  registry.RegisterKernelFn(Registration("HannWindow", 17, 17, constraints), MakeKernel<SignalWindow<Hann>>);
}

}  // namespace light
