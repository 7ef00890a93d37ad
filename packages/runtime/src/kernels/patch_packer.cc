// SPDX-License-Identifier: Apache-2.0
#include "kernels/patch_packer.h"

#include <algorithm>
#include <cstring>

#include "kernels/scratch.h"
#include "kernels/simd_dispatch.h"

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

}  // namespace

PatchPacker::PatchPacker(RuntimeContext& context, const ConvLayer& layer, const float* x, int64_t block_panels,
                         bool channels_last)
    : layer_(layer),
      x_(x),
      channels_last_(channels_last),
      nr_(static_cast<int64_t>(Simd().nr)),
      lines_(layer.window),
      pixels_(layer) {
  is_plane_ = layer.window.is_identity();
  if (channels_last || is_plane_ || !lines_.Suits()) return;
  constexpr int64_t kLineFloats = 8192;  // of a few channels, in the first-level cache
  const int64_t width = lines_.output_columns();
  const int64_t rows = std::min(lines_.output_rows(), (block_panels * nr_ + width - 2) / width + 1);
  channel_pitch_ = lines_.Size(rows);
  channels_ = std::clamp<int64_t>(kLineFloats / std::max<int64_t>(channel_pitch_, 1), 1, layer.group_channels());
  columns_ = Scratch<std::size_t>(context, lines_.kernel_columns());
  for (int64_t k = 0; k < lines_.kernel_columns(); ++k) columns_[k] = static_cast<std::size_t>(lines_.ColumnOffset(k));
}

int64_t PatchPacker::scratch_floats() const noexcept {
  if (channels_last_) return pixels_.is_dense() ? 0 : nr_ * pixels_.depth();
  return columns_ ? channels_ * channel_pitch_ + 2 * nr_ : 0;
}

void PatchPacker::Pack(int64_t image, int64_t group, int64_t first, int64_t columns, float* scratch,
                       float* packed) const {
  const int64_t plane = layer_.window.input_size();
  if (channels_last_) return PackFromPixels(image * layer_.window.output_size() + first, columns, scratch, packed);
  const float* x = x_ + (image * layer_.channels + group * layer_.group_channels()) * plane;
  if (is_plane_)
    return Simd().pack_b(x + first, plane, 1, static_cast<std::size_t>(layer_.depth()),
                         static_cast<std::size_t>(columns), 0, static_cast<std::size_t>((columns + nr_ - 1) / nr_),
                         packed);
  if (!columns_) return PackPatches(layer_, x, first, columns, packed);
  PackFromLines(x, first, columns, scratch, packed);
}

void PatchPacker::PackFromPixels(int64_t first, int64_t columns, float* scratch, float* packed) const {
  const int64_t depth = pixels_.depth();
  for (int64_t at = 0; at < columns; at += nr_) {
    const int64_t count = std::min(nr_, columns - at);
    const float* rows = pixels_.is_dense() ? x_ + (first + at) * depth : scratch;
    if (!pixels_.is_dense()) pixels_.Gather(x_, first + at, count, scratch);
    float* out = packed + at * depth;
    if (count < nr_) std::memset(out, 0, static_cast<std::size_t>(nr_ * depth) * sizeof(float));
    Simd().transpose(rows, depth, out, nr_, static_cast<std::size_t>(count), static_cast<std::size_t>(depth));
  }
}

void PatchPacker::PackFromLines(const float* x, int64_t first, int64_t columns, float* scratch, float* packed) const {
  const int64_t plane = layer_.window.input_size(), depth = layer_.depth();
  if (columns % nr_ != 0)
    std::memset(packed + columns / nr_ * nr_ * depth, 0, static_cast<std::size_t>(nr_ * depth) * sizeof(float));
  const int64_t width = lines_.output_columns(), row = first / width;
  const int64_t rows = (first + columns - 1) / width - row + 1;
  for (int64_t channel = 0; channel < layer_.group_channels(); channel += channels_) {
    const int64_t count = std::min(channels_, layer_.group_channels() - channel);
    for (int64_t c = 0; c < count; ++c) lines_.Fill(x + (channel + c) * plane, row, rows, scratch + c * channel_pitch_);
    float* out = packed + channel * (depth / layer_.group_channels()) * nr_;
    for (int64_t at = 0; at < columns; at += nr_)
      CopyPanel(scratch, count, first + at - row * width, std::min(nr_, columns - at), out + at * depth);
  }
}

void PatchPacker::CopyPanel(const float* lines, int64_t channels, int64_t first, int64_t columns, float* packed) const {
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

}  // namespace light
