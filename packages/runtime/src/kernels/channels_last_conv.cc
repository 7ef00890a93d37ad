// SPDX-License-Identifier: Apache-2.0
#include "kernels/channels_last_conv.h"

#include <algorithm>

#include "kernels/patch_packer.h"
#include "kernels/pixel_rows.h"
#include "kernels/product_conv.h"
#include "kernels/scratch.h"
#include "kernels/thread_scratch.h"

namespace light {
namespace {

/// The product of `rows` with the filters, whose results begin at pixel `first`, counted over all images.
simd::GemmArgs Product(const ConvLayer& layer, const float* packed, const ConvTarget& target, int64_t first,
                       const float* rows, int64_t row, int64_t column) {
  const int64_t at = first * layer.filters;
  return {.a = rows,
          .a_row = row,
          .a_column = column,
          .b = packed,
          .c = target.y + at,
          .c_row = layer.filters,
          .n = static_cast<std::size_t>(layer.filters),
          .k = static_cast<std::size_t>(layer.depth()),
          .alpha = 1.f,
          .column_bias = target.bias,
          .row_bias = nullptr,
          .accumulate = false,
          .relu = target.relu,
          .residual = target.residual ? target.residual + at : nullptr};
}

void FromPixels(RuntimeContext& context, const ConvLayer& layer, const float* x, const float* packed,
                const ConvTarget& target) {
  const PixelRows pixels(layer);
  const int64_t outputs = layer.batch * layer.window.output_size(), depth = layer.depth();
  const auto multiply_all = [&](const float* rows) {
    RunProducts(context, 1, outputs, [&](int64_t) { return Product(layer, packed, target, 0, rows, depth, 1); });
  };
  if (pixels.is_dense()) return multiply_all(x);
  const int threads = context.parallel().thread_count();
  constexpr int64_t kBlockFloats = 64 << 10;
  const auto mr = static_cast<int64_t>(Simd().mr);
  const int64_t block = std::clamp<int64_t>(kBlockFloats / std::max<int64_t>(depth, 1) / mr, 1, 8) * mr;
  const double gather_cost = static_cast<double>(depth) / 20 + 2;
  if (threads > 1 && outputs < 3 * threads * block) {
    // Few pixels: all patches on all threads, then the products, which can be split by filters.
    auto* rows = Scratch<float>(context, outputs * depth);
    context.ParallelFor(outputs, gather_cost, [&](int64_t begin, int64_t end) {
      pixels.Gather(x, begin, end - begin, rows + begin * depth);
    });
    return multiply_all(rows);
  }
  // A pixel that is left over goes to the block before it: alone, it would be summed in another order.
  const int64_t blocks = std::max<int64_t>((outputs + block - 2) / block, 1);
  ThreadScratch scratch(context, static_cast<std::size_t>((block + 1) * depth));
  const double cost = static_cast<double>(block) * (gather_cost + static_cast<double>(depth * layer.filters) / 25);
  context.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit * block, count = unit + 1 == blocks ? outputs - first : block;
      pixels.Gather(x, first, count, lease.data());
      const simd::GemmArgs args = Product(layer, packed, target, first, lease.data(), depth, 1);
      Simd().gemm(&args, 0, static_cast<std::size_t>(count), 0, PanelCount(layer.filters));
    }
  });
}

// Patches are packed as a right side [depth, pixels] has it, which is a left side [pixels, depth] as well.
void FromPlanes(RuntimeContext& context, const ConvLayer& layer, const float* x, const float* packed,
                const ConvTarget& target) {
  const int64_t outputs = layer.window.output_size(), depth = layer.depth();
  const auto nr = static_cast<int64_t>(Simd().nr);
  const int64_t panels = (outputs + nr - 1) / nr, threads = context.parallel().thread_count();
  constexpr int64_t kBlockFloats = 64 << 10;
  int64_t block = std::clamp<int64_t>(kBlockFloats / std::max<int64_t>(depth * nr, 1), 1, panels);
  if (threads > 1) block = std::clamp<int64_t>(layer.batch * panels / (3 * threads), 1, block);
  const int64_t blocks = (panels + block - 1) / block;
  const PatchPacker packer(context, layer, x, block);
  const int64_t packed_floats = block * nr * depth;
  ThreadScratch scratch(context, static_cast<std::size_t>(packed_floats + packer.scratch_floats()));
  const double cost = static_cast<double>(block * nr * depth) * (1. / 5 + static_cast<double>(layer.filters) / 25);
  context.ParallelFor(layer.batch * blocks, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t image = unit / blocks, first = unit % blocks * block * nr;
      const int64_t columns = std::min(block * nr, outputs - first);
      packer.Pack(image, 0, first, columns, lease.data() + packed_floats, lease.data());
      for (int64_t at = 0; at < columns; at += nr) {
        const simd::GemmArgs args =
            Product(layer, packed, target, image * outputs + first + at, lease.data() + at * depth, 1, nr);
        Simd().gemm(&args, 0, static_cast<std::size_t>(std::min(nr, columns - at)), 0, PanelCount(layer.filters));
      }
    }
  });
}

}  // namespace

void ChannelsLastConv::Prepare(const KernelInfo& info, const Tensor& weights) {
  const float* data = weights.Data<float>();
  const int64_t filters = weights.dim(0), channels = weights.dim(1), positions = weights.dim(2) * weights.dim(3);
  const int64_t depth = channels * positions;
  if (!info.layouts().output_last) {
    reordered_.Make(info, 1, [this, data, filters, channels, positions, depth] {
      auto* out = static_cast<float*>(reordered_.Allocate(static_cast<std::size_t>(filters * depth) * sizeof(float)));
      ReorderFilters(data, filters, channels, positions, out);
    });
    return;
  }
  packed_.Prepare(info, 1, [this, data, filters, channels, positions, depth, is_last = info.layouts().input_last] {
    if (!is_last || positions == 1) return packed_.Pack({data, 1, depth}, 0, 1, depth, filters);
    const conversions::OwnedBuffer buffer =
        conversions::AllocateBuffer(static_cast<std::size_t>(filters * depth) * sizeof(float));
    auto* reordered = static_cast<float*>(buffer.data);
    ReorderFilters(data, filters, channels, positions, reordered);
    packed_.Pack({reordered, 1, depth}, 0, 1, depth, filters);
  });
}

void ChannelsLastConv::Run(RuntimeContext& context, const ConvLayer& layer, const Layouts& layouts, const float* x,
                           const ConvTarget& target) const {
  if (!layouts.output_last)
    return ConvolveByProduct(context, layer, true, x, static_cast<const float*>(reordered_.data()), target);
  (layouts.input_last ? FromPixels : FromPlanes)(context, layer, x, packed_.matrix(0), target);
}

}  // namespace light
