// SPDX-License-Identifier: Apache-2.0
#include "kernels/product_conv.h"

#include <algorithm>
#include <cstring>

#include "kernels/matrix_product.h"
#include "kernels/padded_lines.h"
#include "kernels/scratch.h"
#include "kernels/thread_scratch.h"

namespace light {
namespace {

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

// As PackFromLines, for any window.
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

// True if the window meets at each output position the element of that position. Extents alone do not tell: strides and
// padding can add up to the input's.
bool IsIdentity(const Window& w) {
  for (std::size_t d = 0; d < w.input.rank(); ++d)
    if (w.kernel[d] != 1 || w.output[d] != w.input[d] || w.pads[d] != 0 || (w.strides[d] != 1 && w.output[d] > 1))
      return false;
  return true;
}

/// Packs the patches of one layer.
class PatchPacker {
 public:
  PatchPacker(RuntimeContext& context, const ConvLayer& layer, const float* x, int64_t block_panels)
      : layer_(layer), x_(x), nr_(static_cast<int64_t>(Simd().nr)), lines_(layer.window) {
    const Window& w = layer.window;
    is_plane_ = layer.depth() == layer.group_channels() && IsIdentity(w);
    if (is_plane_ || !lines_.Suits()) return;
    constexpr int64_t kLineFloats = 8192;  // of a few channels, in the first-level cache
    const int64_t width = lines_.output_columns();
    const int64_t rows = std::min(lines_.output_rows(), (block_panels * nr_ + width - 2) / width + 1);
    channel_pitch_ = lines_.Size(rows);
    channels_ = std::clamp<int64_t>(kLineFloats / std::max<int64_t>(channel_pitch_, 1), 1, layer.group_channels());
    columns_ = Scratch<std::size_t>(context, lines_.kernel_columns());
    for (int64_t k = 0; k < lines_.kernel_columns(); ++k)
      columns_[k] = static_cast<std::size_t>(lines_.ColumnOffset(k));
  }

  /// Scratch memory that Pack needs, in floats.
  int64_t scratch_floats() const noexcept { return columns_ ? channels_ * channel_pitch_ + 2 * nr_ : 0; }

  /// Packs what the outputs [first, first + columns) of one image and group see of the input, as a right side
  /// [depth, columns] of the float product. At most the columns of `block_panels` panels: there are lines for no more.
  void Pack(int64_t image, int64_t group, int64_t first, int64_t columns, float* scratch, float* packed) const {
    const int64_t plane = layer_.window.input_size(), depth = layer_.depth();
    const float* x = x_ + (image * layer_.channels + group * layer_.group_channels()) * plane;
    const auto panels = static_cast<std::size_t>((columns + nr_ - 1) / nr_);
    if (is_plane_)
      return Simd().pack_b(x + first, plane, 1, static_cast<std::size_t>(depth), static_cast<std::size_t>(columns), 0,
                           panels, packed);
    if (!columns_) return PackPatches(layer_, x, first, columns, packed);
    if (columns % nr_ != 0)
      std::memset(packed + columns / nr_ * nr_ * depth, 0, static_cast<std::size_t>(nr_ * depth) * sizeof(float));
    const int64_t width = lines_.output_columns(), row = first / width;
    const int64_t rows = (first + columns - 1) / width - row + 1;
    for (int64_t channel = 0; channel < layer_.group_channels(); channel += channels_) {
      const int64_t count = std::min(channels_, layer_.group_channels() - channel);
      for (int64_t c = 0; c < count; ++c)
        lines_.Fill(x + (channel + c) * plane, row, rows, scratch + c * channel_pitch_);
      float* out = packed + channel * (depth / layer_.group_channels()) * nr_;
      for (int64_t at = 0; at < columns; at += nr_)
        CopyPanel(scratch, count, first + at - row * width, std::min(nr_, columns - at), out + at * depth);
    }
  }

 private:
  /// @param first  the first output, counted from the first row in `lines`
  void CopyPanel(const float* lines, int64_t channels, int64_t first, int64_t columns, float* packed) const {
    simd::PatchPiece pieces[kMostPieces];
    const int64_t width = lines_.output_columns();
    std::size_t count = 0;
    for (int64_t at = 0; at < columns;) {
      const int64_t row = (first + at) / width, column = (first + at) % width;
      const int64_t length = std::min(width - column, columns - at);
      pieces[count++] = {static_cast<std::size_t>(row * lines_.row_pitch() + column), static_cast<std::size_t>(at),
                         static_cast<std::size_t>(length)};
      at += length;
    }
    const simd::PatchArgs args = {
        .lines = lines,
        .channels = static_cast<std::size_t>(channels),
        .channel_pitch = static_cast<std::size_t>(channel_pitch_),
        .kernel_rows = static_cast<std::size_t>(lines_.kernel_rows()),
        .kernel_row_pitch = static_cast<std::size_t>(lines_.kernel_row_pitch()),
        .kernel_width = static_cast<std::size_t>(lines_.kernel_columns()),
        .columns = columns_,
        .piece = pieces,
        .pieces = count,
        .packed = packed,
    };
    Simd().copy_patches(&args);
  }

  static constexpr int64_t kMostPieces = 64;  // one for each column of the widest panel would do

  const ConvLayer& layer_;
  const float* x_;
  int64_t nr_;
  PaddedLines lines_;
  bool is_plane_;
  int64_t channel_pitch_ = 0;
  int64_t channels_ = 0;  ///< whose lines are in the scratch memory at a time
  std::size_t* columns_ = nullptr;
};

}  // namespace

void ConvolveByProduct(RuntimeContext& context, const ConvLayer& layer, const float* x, const float* weights,
                       const ConvTarget& target) {
  const simd::SimdTable& simd = Simd();
  const auto nr = static_cast<int64_t>(simd.nr);
  const int64_t outputs = layer.window.output_size(), depth = layer.depth(), filters = layer.group_filters();
  const int64_t panels = (outputs + nr - 1) / nr, images = layer.batch * layer.groups;
  const int threads = context.parallel().thread_count();
  constexpr int64_t kBlockFloats = 128 << 10;
  int64_t fitting = std::clamp<int64_t>(kBlockFloats / (depth * nr), 1, panels);
  if (threads > 1) fitting = std::clamp<int64_t>(images * panels / (3 * threads), 1, fitting);
  const int64_t blocks = (panels + fitting - 1) / fitting, block = (panels + blocks - 1) / blocks;
  const PatchPacker packer(context, layer, x, block);
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
