// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <new>
#include <thread>

#include "kernels/arguments.h"
#include "kernels/conv_layer.h"
#include "kernels/families.h"
#include "kernels/matrix_product.h"
#include "kernels/scratch.h"

namespace light {
namespace {

/// One piece of scratch memory per thread of a loop.
class ThreadScratch {
 public:
  ThreadScratch(RuntimeContext& context, std::size_t floats) : count_(context.parallel().thread_count()) {
    pitch_ = (floats + 15) / 16 * 16;
    data_ = static_cast<float*>(context.TemporaryBuffer(pitch_ * static_cast<std::size_t>(count_) * sizeof(float)));
    taken_ = static_cast<std::atomic<bool>*>(
        context.TemporaryBuffer(static_cast<std::size_t>(count_) * sizeof(std::atomic<bool>)));
    for (int i = 0; i < count_; ++i) new (&taken_[i]) std::atomic<bool>(false);
  }
  class Lease {
   public:
    explicit Lease(ThreadScratch& scratch) : scratch_(scratch) {
      while (scratch_.taken_[slot_].exchange(true, std::memory_order_acquire)) {
        if (++slot_ == scratch_.count_) {
          slot_ = 0;
          std::this_thread::yield();
        }
      }
    }
    Lease(const Lease&) = delete;
    ~Lease() { scratch_.taken_[slot_].store(false, std::memory_order_release); }
    float* data() const { return scratch_.data_ + static_cast<std::size_t>(slot_) * scratch_.pitch_; }

   private:
    ThreadScratch& scratch_;
    int slot_ = 0;
  };

 private:
  int count_;
  std::size_t pitch_;
  float* data_;
  std::atomic<bool>* taken_;
};

// A copy whose length the compiler knows for the lengths that matter.
inline void CopyLine(const float* from, int64_t n, float* to) {
  switch (n) {
    case 8:
      std::memcpy(to, from, 8 * sizeof(float));
      break;
    case 16:
      std::memcpy(to, from, 16 * sizeof(float));
      break;
    case 32:
      std::memcpy(to, from, 32 * sizeof(float));
      break;
    default:
      std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
  }
}

/// Packs what the outputs [first, first + columns) of one group see of the input, as a right side [depth, columns] of
/// the float product.
void PackPatches(const ConvLayer& layer, const float* x, int64_t first, int64_t columns, float* packed) {
  const Window& w = layer.window;
  const auto nr = static_cast<int64_t>(Simd().nr);
  const int64_t width = w.output[w.last()], input_width = w.input[w.last()], plane = w.input_size();
  const int64_t kernel_rows = w.kernel_rows(), kernel_width = w.kernel[w.last()], stride = w.strides[w.last()];
  const int64_t depth = layer.depth(), channel_depth = kernel_rows * kernel_width;
  for (int64_t panel = 0; panel * nr < columns; ++panel) {
    float* out = packed + panel * nr * depth;
    const int64_t real = std::min(nr, columns - panel * nr);
    if (real < nr) std::memset(out, 0, static_cast<std::size_t>(nr * depth) * sizeof(float));
    // Pieces of the panel that lie in one output row.
    for (int64_t at = 0; at < real;) {
      const int64_t position = first + panel * nr + at;
      const int64_t row = position / width, column = position % width;
      const int64_t length = std::min(width - column, real - at);
      for (int64_t k = 0; k < kernel_rows; ++k) {
        const int64_t input_row = w.InputRow(row, k);
        for (int64_t kw = 0; kw < kernel_width; ++kw) {
          float* line = out + (k * kernel_width + kw) * nr + at;
          int64_t begin = 0, end = 0;
          if (input_row >= 0) w.OutputColumns(kw, begin, end);
          begin = std::clamp(begin - column, int64_t{0}, length);
          end = std::clamp(end - column, begin, length);
          const float* source = x + input_row * input_width + w.InputColumn(column + begin, kw);
          for (int64_t c = 0; c < layer.group_channels(); ++c, line += channel_depth * nr, source += plane) {
            for (int64_t i = 0; i < begin; ++i) line[i] = 0;
            if (stride == 1) {
              CopyLine(source, end - begin, line + begin);
            } else {
              for (int64_t i = begin; i < end; ++i) line[i] = source[(i - begin) * stride];
            }
            for (int64_t i = end; i < length; ++i) line[i] = 0;
          }
        }
      }
      at += length;
    }
  }
}

// Filters times patches; the patches of a few panels at a time, so that they are still in the cache when they are used.
void ByProduct(RuntimeContext& context, const ConvLayer& layer, const float* x, const float* weights, const float* bias,
               float* y) {
  const simd::SimdTable& simd = Simd();
  const Window& w = layer.window;
  const auto nr = static_cast<int64_t>(simd.nr);
  const int64_t outputs = w.output_size(), depth = layer.depth(), filters = layer.group_filters();
  const int64_t panels = (outputs + nr - 1) / nr;
  const int64_t group = std::clamp<int64_t>(32768 / (depth * nr), 1, panels);
  const int64_t blocks = (panels + group - 1) / group;
  ThreadScratch scratch(context, static_cast<std::size_t>(group * nr * depth));
  const double cost = static_cast<double>(group * nr * depth) * (static_cast<double>(filters) / 25 + 0.2);
  context.ParallelFor(layer.batch * layer.groups * blocks, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t block = unit % blocks, g = unit / blocks % layer.groups, b = unit / blocks / layer.groups;
      const int64_t first = block * group * nr, columns = std::min(group * nr, outputs - first);
      const int64_t channel = b * layer.channels + g * layer.group_channels();
      PackPatches(layer, x + channel * w.input_size(), first, columns, lease.data());
      const simd::GemmArgs args = {weights + g * filters * depth,
                                   depth,
                                   1,
                                   lease.data(),
                                   y + (b * layer.filters + g * filters) * outputs + first,
                                   outputs,
                                   static_cast<std::size_t>(columns),
                                   static_cast<std::size_t>(depth),
                                   1.f,
                                   nullptr,
                                   bias ? bias + g * filters : nullptr,
                                   false,
                                   false};
      simd.gemm(&args, 0, static_cast<std::size_t>(filters), 0, static_cast<std::size_t>((columns + nr - 1) / nr));
    }
  });
}

void Float(RuntimeContext& context, const ConvLayer& layer, const float* x, const float* weights, const float* bias,
           float* y) {
  const bool use_product = layer.group_filters() >= 4 && layer.depth() > 0;
  (use_product ? ByProduct : ConvolveDirectly<float>)(context, layer, x, weights, bias, y);
}

class Conv final : public KernelBase {
 public:
  explicit Conv(const KernelInfo& info) : attributes_(info) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& weights = Required(context, 1, "W");
    const Tensor* bias = context.Input(2);
    const ConvLayer layer = attributes_.Resolve(x, 1, weights, 2, bias);
    Tensor& y = context.Output(0, layer.OutputDims());
    if (y.element_count() == 0) return;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<T, float>) {
        Float(context, layer, x.Data<T>(), weights.Data<T>(), bias ? bias->Data<T>() : nullptr, y.Data<T>());
      } else if constexpr (kIsSmallFloat<T>) {
        const float* input = WidenForRun(context, x.Data<T>(), x.element_count());
        const float* filters = WidenForRun(context, weights.Data<T>(), weights.element_count());
        const float* offsets = bias ? WidenForRun(context, bias->Data<T>(), bias->element_count()) : nullptr;
        auto* wide = Scratch<float>(context, y.element_count());
        Float(context, layer, input, filters, offsets, wide);
        NarrowTo(context, wide, y.element_count(), y.Data<T>());
      } else {
        ConvolveDirectly<T>(context, layer, x.Data<T>(), weights.Data<T>(), bias ? bias->Data<T>() : nullptr,
                            y.Data<T>());
      }
    });
  }

 private:
  ConvAttributes attributes_;
};

}  // namespace

void RegisterConv(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Conv", 1, 22, {{"T", SetOf(FloatTypes{})}}), MakeKernel<Conv>);
}

}  // namespace light
