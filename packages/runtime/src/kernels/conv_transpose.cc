// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/matrix_product.h"
#include "kernels/scratch.h"
#include "kernels/thread_scratch.h"
#include "kernels/window.h"

namespace light {
namespace {

template <class T>
void AddScaled(T factor, const T* x, int64_t n, T* y, int64_t stride) {
  if constexpr (std::is_same_v<T, float>) {
    if (stride == 1) return Simd().axpy(factor, x, y, static_cast<std::size_t>(n));
  }
  for (int64_t i = 0; i < n; ++i) y[i * stride] += factor * x[i];
}

// Each element of X adds a scaled kernel to the result. One filter at a time, so that threads never share an output.
template <class T>
void Scatter(RuntimeContext& context, const Window& w, const Dims& x_dims, int64_t groups, int64_t group_filters,
             const T* x, const T* weights, const T* bias, T* y) {
  const int64_t channels = x_dims[1], filters = groups * group_filters, group_channels = channels / groups;
  const int64_t rows = w.output_rows(), width = w.output[w.last()], plane = rows * width;
  const int64_t kernel_rows = w.kernel_rows(), kernel_width = w.kernel[w.last()], area = kernel_rows * kernel_width;
  const int64_t stride = w.strides[w.last()], out_width = w.input[w.last()];
  const double cost = 0.4 * static_cast<double>(group_channels * area * plane) + 5;
  context.ParallelFor(x_dims[0] * filters, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t filter = unit % filters, b = unit / filters, g = filter / group_filters;
      T* out = y + unit * w.input_size();
      std::fill_n(out, w.input_size(), bias ? bias[filter] : T{0});
      for (int64_t c = g * group_channels; c < (g + 1) * group_channels; ++c) {
        const T* input = x + (b * channels + c) * plane;
        const T* kernel = weights + (c * group_filters + filter % group_filters) * area;
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t k = 0; k < kernel_rows; ++k) {
            const int64_t out_row = w.InputRow(row, k);
            if (out_row < 0) continue;
            for (int64_t kw = 0; kw < kernel_width; ++kw) {
              int64_t first, last;
              w.OutputColumns(kw, first, last);
              if (first == last) continue;
              AddScaled(kernel[k * kernel_width + kw], input + row * width + first, last - first,
                        out + out_row * out_width + w.InputColumn(first, kw), stride);
            }
          }
        }
      }
    }
  });
}

// Adds what each input position gives to one filter's plane at the kernel positions [begin, end): `columns` has a line
// of input positions for each.
void AddColumns(const Window& w, int64_t begin, int64_t end, const float* columns, float* out) {
  const int64_t rows = w.output_rows(), width = w.output[w.last()];
  const int64_t kernel_width = w.kernel[w.last()], stride = w.strides[w.last()], out_width = w.input[w.last()];
  const simd::SimdTable& simd = Simd();
  for (int64_t position = begin; position < end; ++position, columns += rows * width) {
    const int64_t k = position / kernel_width, kw = position % kernel_width;
    int64_t first, last;
    w.OutputColumns(kw, first, last);
    if (first == last) continue;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t out_row = w.InputRow(row, k);
      if (out_row < 0) continue;
      const float* from = columns + row * width + first;
      float* to = out + out_row * out_width + w.InputColumn(first, kw);
      if (stride == 1) {
        simd.add(from, to, to, static_cast<std::size_t>(last - first));
      } else {
        for (int64_t i = 0; i < last - first; ++i) to[i * stride] += from[i];
      }
    }
  }
}

// The products of kernel positions with all input positions first: of some filters at a time, or, where those of one
// would be large, of some of its kernel positions. The pieces are of one size, whatever the number of threads.
void AddProducts(RuntimeContext& context, const Window& w, const Dims& x_dims, int64_t groups, int64_t group_filters,
                 const float* x, const float* weights, const float* bias, float* y) {
  const int64_t group_channels = x_dims[1] / groups, images = x_dims[0] * groups, plane = w.output_size();
  const int64_t area = Product(w.kernel, 0, w.kernel.rank()), out_plane = w.input_size();
  const float* packed = PackForRun(context, {x, plane, 1}, group_channels * plane, images, group_channels, plane);
  const int64_t packed_size = PackedSize(group_channels, plane);
  constexpr int64_t kBlockFloats = 256 << 10;
  const int64_t block = std::clamp<int64_t>(kBlockFloats / (area * plane), 1, std::min<int64_t>(group_filters, 16));
  const int64_t blocks = (group_filters + block - 1) / block;
  // Rows of the product, in pieces of equal height: fewer than eight would read the input for little.
  constexpr int64_t kMostFloats = 2 << 20;
  const int64_t fitting = std::clamp<int64_t>(kMostFloats / plane, std::min<int64_t>(area, 8), block * area);
  const int64_t pieces = (block * area + fitting - 1) / fitting, most = (block * area + pieces - 1) / pieces;
  ThreadScratch scratch(context, static_cast<std::size_t>(most * plane));
  const double cost = static_cast<double>(block * area * plane) * (static_cast<double>(group_channels) / 25 + 1);
  context.ParallelFor(images * blocks, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t image = unit / blocks, group = image % groups, first = unit % blocks * block;
      const int64_t count = std::min(block, group_filters - first);
      float* out = y + (image * group_filters + first) * out_plane;
      for (int64_t i = 0; i < count; ++i)
        std::fill_n(out + i * out_plane, out_plane, bias ? bias[group * group_filters + first + i] : 0.f);
      for (int64_t at = 0; at < count * area; at += most) {
        const int64_t rows = std::min(most, count * area - at);
        const simd::GemmArgs args = {.a = weights + (group * group_channels * group_filters + first) * area + at,
                                     .a_row = 1,
                                     .a_column = group_filters * area,
                                     .b = packed + image * packed_size,
                                     .c = lease.data(),
                                     .c_row = plane,
                                     .n = static_cast<std::size_t>(plane),
                                     .k = static_cast<std::size_t>(group_channels),
                                     .alpha = 1.f,
                                     .column_bias = nullptr,
                                     .row_bias = nullptr,
                                     .accumulate = false,
                                     .relu = false};
        Simd().gemm(&args, 0, static_cast<std::size_t>(rows), 0, PanelCount(plane));
        for (int64_t row = at; row < at + rows;) {
          const int64_t filter = row / area, position = row % area, end = std::min(area, position + at + rows - row);
          AddColumns(w, position, end, lease.data() + (row - at) * plane, out + filter * out_plane);
          row += end - position;
        }
      }
    }
  });
}

class ConvTranspose final : public KernelBase {
 public:
  explicit ConvTranspose(const KernelInfo& info)
      : attributes_(info),
        groups_(info.Int("group", 1)),
        output_shape_(info.Ints("output_shape")),
        output_padding_(info.Ints("output_padding")) {
    if (groups_ < 1)
      info.Fail(ErrorCode::kInvalidGraph, "attribute group: must be at least 1, got " + std::to_string(groups_));
    for (const auto& [name, values] : {std::pair("output_shape", output_shape_), {"output_padding", output_padding_}})
      for (const int64_t value : values)
        if (value < 0 || value >= int64_t{1} << 31)
          info.Fail(ErrorCode::kInvalidGraph, "attribute " + std::string(name) +
                                                  ": must be at least 0 and less than 2^31, got " +
                                                  conversions::FormatExtents(values));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& weights = Required(context, 1, "W");
    const Tensor* bias = context.Input(2);
    if (weights.rank() != x.rank() || x.rank() < 3)
      FailArgument("input 1 (W): must have the rank of " + Describe(x) + " and at least 3, got " + Describe(weights));
    const auto kernel = weights.dims().span().subspan(2);
    if (!attributes_.kernel().empty() &&
        !std::equal(kernel.begin(), kernel.end(), attributes_.kernel().begin(), attributes_.kernel().end()))
      FailArgument("input 1 (W): must have the extents kernel_shape " +
                   conversions::FormatExtents(attributes_.kernel()) + ", got " + Describe(weights));
    if (weights.dim(0) != x.dim(1) || x.dim(1) % groups_ != 0)
      FailArgument("input 1 (W): must have the " + std::to_string(x.dim(1)) + " channels of X, a multiple of group " +
                   std::to_string(groups_) + ", got " + Describe(weights));
    for (const auto* values : {&output_shape_, &output_padding_})
      if (!values->empty() && values->size() != x.rank() - 2)
        FailArgument("attributes output_shape and output_padding: must have " + std::to_string(x.rank() - 2) +
                     " entries for " + Describe(x) + ", got " + conversions::FormatExtents(*values));
    const Window w = attributes_.ResolveTransposed(x, kernel, output_shape_, output_padding_);
    Dims dims = x.dims();
    if (__builtin_mul_overflow(weights.dim(1), groups_, &dims[1]))
      FailArgument("input 1 (W): must have a number of filters that fits 64 bits with group " +
                   std::to_string(groups_) + ", got " + Describe(weights));
    for (std::size_t d = 2; d < dims.rank(); ++d) dims[d] = w.input[d - 2];
    if (bias && (bias->rank() != 1 || bias->dim(0) != dims[1]))
      FailArgument("input 2 (B): must have extents [" + std::to_string(dims[1]) + "], got " + Describe(*bias));
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    const auto run = [&]<class T>(const T* input, const T* filters, const T* offsets, T* out) {
      if constexpr (std::is_same_v<T, float>) {
        if (x.element_count() > 0 && x.dim(1) / groups_ >= 4)
          return AddProducts(context, w, x.dims(), groups_, weights.dim(1), input, filters, offsets, out);
      }
      Scatter(context, w, x.dims(), groups_, weights.dim(1), input, filters, offsets, out);
    };
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kIsSmallFloat<T>) {
        const float* input = WidenForRun(context, x.Data<T>(), x.element_count());
        const float* filters = WidenForRun(context, weights.Data<T>(), weights.element_count());
        const float* offsets = bias ? WidenForRun(context, bias->Data<T>(), bias->element_count()) : nullptr;
        auto* wide = Scratch<float>(context, y.element_count());
        run(input, filters, offsets, wide);
        NarrowTo(context, wide, y.element_count(), y.Data<T>());
      } else {
        run(x.Data<T>(), weights.Data<T>(), bias ? bias->Data<T>() : nullptr, y.Data<T>());
      }
    });
  }

 private:
  WindowAttributes attributes_;
  int64_t groups_;
  std::vector<int64_t> output_shape_, output_padding_;
};

}  // namespace

void RegisterConvTranspose(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("ConvTranspose", 1, 22, {{"T", SetOf(FloatTypes{})}}),
                            MakeKernel<ConvTranspose>);
}

}  // namespace light
