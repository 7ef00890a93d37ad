// SPDX-License-Identifier: Apache-2.0
#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/scratch.h"
#include "kernels/vision.h"
#include "kernels/window.h"

namespace light {
namespace {

template <class C>
C Added(C a, C b) {
  if constexpr (std::is_same_v<C, bool>)
    return a || b;
  else
    return WrappingAdd(a, b);
}

/// Adds the columns of one channel, [block, positions of the block], to its image.
template <class T, class C>
void AddColumns(const Window& w, const T* columns, C* image) {
  const std::size_t last = w.last();
  const int64_t rows = w.output_rows(), width = w.output[last], positions = w.output_size();
  for (int64_t k = 0; k < w.kernel_rows(); ++k) {
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t image_row = w.InputRow(row, k);
      if (image_row < 0) continue;
      for (int64_t kw = 0; kw < w.kernel[last]; ++kw) {
        int64_t begin, end;
        w.OutputColumns(kw, begin, end);
        const T* from = columns + (k * w.kernel[last] + kw) * positions + row * width;
        C* to = image + image_row * w.input[last];
        for (int64_t i = begin; i < end; ++i) {
          C& sum = to[w.InputColumn(i, kw)];
          sum = Added(sum, static_cast<C>(from[i]));
        }
      }
    }
  }
}

class Col2Im final : public KernelBase {
 public:
  explicit Col2Im(const KernelInfo& info) : attributes_(info) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    const Dims image = ReadIntegers(Required(context, 1, "image_shape"), 1, "image_shape");
    const Dims block = ReadIntegers(Required(context, 2, "block_shape"), 2, "block_shape");
    if (x.rank() != 3)
      FailArgument(InputLabel(0, "input") + ": must be [batch, channels times block, positions], got " + Describe(x));
    if (image.rank() == 0 || block.rank() != image.rank())
      FailArgument(InputLabel(2, "block_shape") + ": must have as many extents as image_shape, " +
                   conversions::FormatExtents(image) + ", got " + conversions::FormatExtents(block));
    int64_t size = 1;
    for (std::size_t d = 0; d < image.rank(); ++d) {
      if (image[d] < 1 || block[d] < 1)
        FailArgument("image_shape and block_shape: must be positive, got " + conversions::FormatExtents(image) +
                     " and " + conversions::FormatExtents(block));
      size = MultiplyExtents(size, block[d]);
    }
    if (x.dim(1) % size != 0)
      FailArgument(InputLabel(0, "input") + ": must have a multiple of the block's " + std::to_string(size) +
                   " elements in axis 1, got " + Describe(x));
    Dims dims = image;
    dims.Resize(image.rank() + 2);
    dims[0] = x.dim(0);
    dims[1] = x.dim(1) / size;
    for (std::size_t d = 0; d < image.rank(); ++d) dims[d + 2] = image[d];
    // The window moves over the image; only its extents are asked for.
    const Window w = attributes_.Resolve(Tensor::Borrow(x.type(), dims, nullptr), block);
    if (w.output_size() != x.dim(2))
      FailArgument(InputLabel(0, "input") + ": must have " + std::to_string(w.output_size()) +
                   " positions of the block in axis 2, got " + Describe(x));
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    const int64_t plane = w.input_size(), channels = y.element_count() / plane, pitch = size * x.dim(2);
    WithType(NumberAndBoolTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      C* sums;
      if constexpr (kIsSmallFloat<T>)
        sums = Scratch<C>(context, y.element_count());
      else
        sums = y.Data<T>();
      const double cost = static_cast<double>(pitch) + static_cast<double>(plane);
      context.ParallelFor(channels, cost, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          std::fill_n(sums + c * plane, plane, C(0));
          AddColumns(w, x.Data<T>() + c * pitch, sums + c * plane);
          if constexpr (kIsSmallFloat<T>)
            for (int64_t i = c * plane; i < (c + 1) * plane; ++i) y.Data<T>()[i] = T(sums[i]);
        }
      });
    });
  }

 private:
  WindowAttributes attributes_;
};

}  // namespace

void RegisterCol2Im(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Col2Im", 18, 18, {{"T", SetOf(NumberAndBoolTypes{})}}), MakeKernel<Col2Im>);
}

}  // namespace light
