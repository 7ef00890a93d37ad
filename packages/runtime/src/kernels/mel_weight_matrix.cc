// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/moments.h"
#include "kernels/scratch.h"
#include "kernels/signal.h"

namespace light {
namespace {

class MelWeightMatrix final : public KernelBase {
 public:
  explicit MelWeightMatrix(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const int64_t bands = Positive(context, 0, "num_mel_bins"), length = Positive(context, 1, "dft_length");
    const auto rate = static_cast<double>(Positive(context, 2, "sample_rate"));
    const double low = Mel(Hertz(context, 3, "lower_edge_hertz"));
    const double high = Mel(Hertz(context, 4, "upper_edge_hertz"));
    if (high < low)
      FailArgument(InputLabel(4, "upper_edge_hertz") + ": must not be below lower_edge_hertz, got " +
                   std::to_string(Hertz(context, 4, "upper_edge_hertz")));
    const int64_t lines = length / 2 + 1, dims[] = {lines, bands};
    if (bands > (int64_t{1} << 31) || length > (int64_t{1} << 40))
      FailArgument("num_mel_bins and dft_length: must be at most 2^31 and 2^40, got " + std::to_string(bands) +
                   " and " + std::to_string(length));
    // The lines of the spectrum where bands begin, have their middle and end: equal steps in mel.
    auto* edges = Scratch<int64_t>(context, bands + 2);
    const double step = (high - low) / static_cast<double>(bands + 2);
    for (int64_t i = 0; i < bands + 2; ++i) {
      const double hertz = 700 * (std::pow(10, (low + static_cast<double>(i) * step) / 2595) - 1);
      const double line = std::floor(static_cast<double>(length + 1) * hertz / rate);
      if (!(line >= 0 && line < static_cast<double>(lines)))
        FailArgument("the edges in hertz: must lie within the " + std::to_string(lines) +
                     " lines of the spectrum, got line " + std::to_string(line));
      edges[i] = static_cast<int64_t>(line);
    }
    Tensor& y = context.Output(0, dims);
    WithType(NumberTypes{}, y.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::fill_n(y.Data<T>(), y.element_count(), T(0));
      const auto put = [&](int64_t line, int64_t band, double weight) {
        if constexpr (std::is_integral_v<T>)
          y.Data<T>()[line * bands + band] = SaturatingCast<T>(weight);
        else
          y.Data<T>()[line * bands + band] = T(static_cast<ComputeType<T>>(weight));
      };
      for (int64_t band = 0; band < bands; ++band) {
        const int64_t first = edges[band], middle = edges[band + 1], last = edges[band + 2];
        for (int64_t line = first; line < middle; ++line) put(line, band, Part(line - first, middle - first));
        put(middle, band, 1);
        for (int64_t line = middle + 1; line < last; ++line) put(line, band, Part(last - line, last - middle));
      }
    });
  }

 private:
  static double Part(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }
  static double Mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

  static int64_t Positive(RuntimeContext& context, std::size_t i, const char* name) {
    const int64_t value = ReadInteger(Required(context, i, name), i, name);
    if (value < 1) FailArgument(InputLabel(i, name) + ": must be positive, got " + std::to_string(value));
    return value;
  }

  static double Hertz(RuntimeContext& context, std::size_t i, const char* name) {
    const Tensor& tensor = Required(context, i, name);
    if (tensor.element_count() != 1)
      FailArgument(InputLabel(i, name) + ": must have one element, got " + Describe(tensor));
    const double value = ElementAsDouble(tensor, 0);
    if (!(value >= 0)) FailArgument(InputLabel(i, name) + ": must not be negative, got " + std::to_string(value));
    return value;
  }
};

}  // namespace

void RegisterMelWeightMatrix(KernelRegistry& registry) {
  registry.RegisterKernelFn(
      Registration("MelWeightMatrix", 17, 17, {{"T2", SetOf(FloatTypes{})}, {"T3", SetOf(NumberTypes{})}}),
      MakeKernel<MelWeightMatrix>);
}

}  // namespace light
