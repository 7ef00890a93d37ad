// SPDX-License-Identifier: Apache-2.0
#include "kernels/product_conv.h"

#include <algorithm>

#include "kernels/matrix_product.h"
#include "kernels/patch_packer.h"
#include "kernels/scratch.h"
#include "kernels/thread_scratch.h"

namespace light {

void ConvolveByProduct(RuntimeContext& context, const ConvLayer& layer, bool input_last, const float* x,
                       const float* weights, const ConvTarget& target) {
  const simd::SimdTable& simd = Simd();
  const auto nr = static_cast<int64_t>(simd.nr);
  const int64_t outputs = layer.window.output_size(), depth = layer.depth(), filters = layer.group_filters();
  const int64_t panels = (outputs + nr - 1) / nr, images = layer.batch * layer.groups;
  const int threads = context.parallel().thread_count();
  constexpr int64_t kBlockFloats = 128 << 10;
  int64_t fitting = std::clamp<int64_t>(kBlockFloats / (depth * nr), 1, panels);
  if (threads > 1) fitting = std::clamp<int64_t>(images * panels / (3 * threads), 1, fitting);
  const int64_t blocks = (panels + fitting - 1) / fitting, block = (panels + blocks - 1) / blocks;
  const PatchPacker packer(context, layer, x, block, input_last);
  const auto product = [&](int64_t image, int64_t first, int64_t columns, const float* packed) {
    const int64_t at = image * filters * outputs + first, filter = image % layer.groups * filters;
    return simd::GemmArgs{weights + filter * depth,
                          depth,
                          1,
                          packed,
                          target.y + at,
                          outputs,
                          static_cast<std::size_t>(columns),
                          static_cast<std::size_t>(depth),
                          1.f,
                          nullptr,
                          target.bias ? target.bias + filter : nullptr,
                          false,
                          target.relu,
                          target.residual ? target.residual + at : nullptr};
  };
  const double pack_cost = static_cast<double>(nr * depth) / 5;
  if (threads > 1 && (images * blocks < threads || (filters * depth > 256 << 10 && images * blocks < 3 * threads))) {
    // Few patches, or few and filters that are long to read: all patches on all threads, then the products, which can
    // be split by filters.
    const int64_t size = panels * nr * depth;
    auto* packed = Scratch<float>(context, images * size);
    ThreadScratch scratch(context, static_cast<std::size_t>(packer.scratch_floats()));
    context.ParallelFor(images * panels, pack_cost, [&](int64_t begin, int64_t end) {
      const ThreadScratch::Lease lease(scratch);
      for (int64_t unit = begin; unit < end;) {
        const int64_t image = unit / panels, panel = unit % panels;
        const int64_t count = std::min({panels - panel, end - unit, block});  // for which the packer has lines
        packer.Pack(image / layer.groups, image % layer.groups, panel * nr, std::min(count * nr, outputs - panel * nr),
                    lease.data(), packed + image * size + panel * nr * depth);
        unit += count;
      }
    });
    return RunProducts(context, images, filters,
                       [&](int64_t image) { return product(image, 0, outputs, packed + image * size); });
  }
  const int64_t packed_floats = block * nr * depth;
  ThreadScratch scratch(context, static_cast<std::size_t>(packed_floats + packer.scratch_floats()));
  const double cost = static_cast<double>(block) * (pack_cost + static_cast<double>(nr * depth * filters) / 25);
  context.ParallelFor(images * blocks, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t image = unit / blocks, first = unit % blocks * block * nr;
      const int64_t columns = std::min(block * nr, outputs - first);
      if (columns <= 0) continue;
      packer.Pack(image / layer.groups, image % layer.groups, first, columns, lease.data() + packed_floats,
                  lease.data());
      const simd::GemmArgs args = product(image, first, columns, lease.data());
      simd.gemm(&args, 0, static_cast<std::size_t>(filters), 0, static_cast<std::size_t>((columns + nr - 1) / nr));
    }
  });
}

}  // namespace light
