// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/fourier.h"
#include "kernels/input_axes.h"
#include "kernels/signal.h"

namespace light {
namespace {

class Dft final : public KernelBase {
 public:
  explicit Dft(const KernelInfo& info)
      : axis_attribute_(info.since_version() < 20),
        axis_(info.Int("axis", 1)),
        inverse_(info.Int("inverse", 0) != 0),
        onesided_(info.Int("onesided", 0) != 0) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    const std::size_t rank = x.rank();
    if (rank < 2 || (x.dim(rank - 1) != 1 && x.dim(rank - 1) != 2))
      FailArgument(InputLabel(0, "input") + ": must have a last axis of 1 (real) or 2 (complex) numbers, got " +
                   Describe(x));
    const std::size_t axis = ReadAxis(context, rank);
    const bool to_real = inverse_ && onesided_;  // what is given is half of a symmetric spectrum
    const int64_t given = x.dim(axis);
    int64_t length = to_real ? 2 * (given - 1) : given;
    if (const Tensor* input = context.Input(1)) length = ReadInteger(*input, 1, "dft_length");
    if (length < 1)
      FailArgument((context.Input(1) ? InputLabel(1, "dft_length") : InputLabel(0, "input")) +
                   ": the transform must have a positive length, got " + std::to_string(length));
    Dims dims = x.dims();
    dims[axis] = onesided_ && !inverse_ ? length / 2 + 1 : length;
    dims[rank - 1] = to_real ? 1 : 2;
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    WithType(FloatTypes{}, x.type(),
             [&](auto tag) { Transform<typename decltype(tag)::type>(context, x, axis, length, to_real, y); });
  }

 private:
  std::size_t ReadAxis(RuntimeContext& context, std::size_t rank) const {
    int64_t axis = axis_attribute_ ? axis_ : -2;
    if (!axis_attribute_)
      if (const Tensor* input = context.Input(2)) axis = ReadInteger(*input, 2, "axis");
    const auto place =
        static_cast<std::size_t>(NormalizeAxis(axis, rank, axis_attribute_ ? "attribute axis" : "input 2 (axis)"));
    if (place == rank - 1)
      FailArgument(std::string(axis_attribute_ ? "attribute axis" : "input 2 (axis)") +
                   ": must not be the last one, of real and imaginary part, got " + std::to_string(axis));
    return place;
  }

  template <class T>
  void Transform(RuntimeContext& context, const Tensor& x, std::size_t axis, int64_t length, bool to_real,
                 Tensor& y) const {
    using C = ComputeType<T>;
    const std::size_t rank = x.rank();
    const int64_t parts = x.dim(rank - 1), given = x.dim(axis), inner = Product(x.dims(), axis + 1, rank - 1);
    const int64_t lines = Product(x.dims(), 0, axis) * inner, made = y.dim(axis), made_parts = y.dim(rank - 1);
    // Half of a spectrum: the other half are the conjugates.
    const int64_t kept = std::min(given, to_real ? length / 2 + 1 : length);
    const double scale = inverse_ ? 1 / static_cast<double>(length) : 1;
    const auto load = [&](int64_t line, double* re, double* im, int64_t step) {
      const T* from = x.Data<T>() + (line / inner * given * inner + line % inner) * parts;
      for (int64_t i = 0; i < length; ++i) {
        const bool is_given = i < kept;
        const T* element = from + (is_given ? i * inner * parts : 0);
        re[i * step] = is_given ? static_cast<double>(static_cast<C>(element[0])) : 0;
        im[i * step] = is_given && parts == 2 ? static_cast<double>(static_cast<C>(element[1])) : 0;
      }
      if (!to_real) return;
      im[0] = 0;
      if (length % 2 == 0) im[length / 2 * step] = 0;
      for (int64_t i = length / 2 + 1; i < length; ++i) {
        re[i * step] = re[(length - i) * step];
        im[i * step] = -im[(length - i) * step];
      }
    };
    const auto store = [&](int64_t line, const double* re, const double* im, int64_t step) {
      T* to = y.Data<T>() + (line / inner * made * inner + line % inner) * made_parts;
      for (int64_t i = 0; i < made; ++i) {
        T* element = to + i * inner * made_parts;
        element[0] = T(static_cast<C>(re[i * step] * scale));
        if (made_parts == 2) element[1] = T(static_cast<C>(im[i * step] * scale));
      }
    };
    FourierTransform(context, length, lines, inverse_).Run(load, store);
  }

  bool axis_attribute_;
  int64_t axis_;
  bool inverse_, onesided_;
};

}  // namespace

void RegisterDft(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("DFT", 17, 20, {{"T1", SetOf(FloatTypes{})}}), MakeKernel<Dft>);
}

}  // namespace light
