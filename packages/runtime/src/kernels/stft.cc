// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/fourier.h"
#include "kernels/signal.h"

namespace light {
namespace {

class Stft final : public KernelBase {
 public:
  explicit Stft(const KernelInfo& info) : onesided_(info.Int("onesided", 1) != 0) {}

  void Run(RuntimeContext& context) override {
    const Tensor& signal = Required(context, 0, "signal");
    const int64_t step = ReadInteger(Required(context, 1, "frame_step"), 1, "frame_step");
    const Tensor* window = context.Input(2);
    const Tensor* length_input = context.Input(3);
    // Real numbers may come without a last axis of their own.
    const std::size_t rank = signal.rank();
    if (rank != 2 && (rank != 3 || (signal.dim(2) != 1 && signal.dim(2) != 2)))
      FailArgument(InputLabel(0, "signal") +
                   ": must be [batch, length], or with a last axis of 1 (real) or 2 (complex) "
                   "numbers, got " +
                   Describe(signal));
    if (step < 1) FailArgument(InputLabel(1, "frame_step") + ": must be positive, got " + std::to_string(step));
    if (window && window->rank() != 1)
      FailArgument(InputLabel(2, "window") + ": must have rank 1, got " + Describe(*window));
    const int64_t given = signal.dim(1);
    const int64_t length = length_input ? ReadInteger(*length_input, 3, "frame_length")
                           : window     ? window->dim(0)
                                        : given;
    if (length < 1 || length > given)
      FailArgument((length_input ? InputLabel(3, "frame_length") : InputLabel(0, "signal")) +
                   ": a frame must have a positive length, and at most that of the signal, " + std::to_string(given) +
                   ", got " + std::to_string(length));
    if (window && window->dim(0) > length)
      FailArgument(InputLabel(2, "window") + ": must have at most the length of a frame, " + std::to_string(length) +
                   ", got " + Describe(*window));
    const int64_t frames = (given - length) / step + 1;
    const int64_t dims[] = {signal.dim(0), frames, onesided_ ? length / 2 + 1 : length, 2};
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    WithType(FloatTypes{}, signal.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      const int64_t parts = rank == 3 ? signal.dim(2) : 1, made = dims[2];
      const int64_t seen = window ? window->dim(0) : length;
      const T* weights = window ? window->Data<T>() : nullptr;
      const auto load = [&](int64_t line, double* re, double* im, int64_t stride) {
        const T* from = signal.Data<T>() + (line / frames * given + line % frames * step) * parts;
        for (int64_t i = 0; i < seen; ++i) {
          const double weight = weights ? static_cast<double>(static_cast<C>(weights[i])) : 1;
          re[i * stride] = weight * static_cast<double>(static_cast<C>(from[i * parts]));
          im[i * stride] = parts == 2 ? weight * static_cast<double>(static_cast<C>(from[i * parts + 1])) : 0;
        }
        for (int64_t i = seen; i < length; ++i) re[i * stride] = im[i * stride] = 0;
      };
      const auto store = [&](int64_t line, const double* re, const double* im, int64_t stride) {
        T* to = y.Data<T>() + line * made * 2;
        for (int64_t i = 0; i < made; ++i) {
          to[2 * i] = T(static_cast<C>(re[i * stride]));
          to[2 * i + 1] = T(static_cast<C>(im[i * stride]));
        }
      };
      FourierTransform(context, length, signal.dim(0) * frames, false).Run(load, store);
    });
  }

 private:
  bool onesided_;
};

}  // namespace

void RegisterStft(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("STFT", 17, 17, {{"T1", SetOf(FloatTypes{})}}), MakeKernel<Stft>);
}

}  // namespace light
