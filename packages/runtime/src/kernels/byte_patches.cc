// SPDX-License-Identifier: Apache-2.0
#include "kernels/byte_patches.h"

#include <cstring>

#include "kernels/scratch.h"

namespace light {

BytePatches::BytePatches(RuntimeContext& context, const ConvLayer& layer)
    : window_(layer.window),
      channels_(layer.group_channels()),
      depth_(layer.depth()),
      columns_(layer.window.output_size()),
      padded_(layer.window.input),
      pitch_(layer.window.input) {
  for (std::size_t d = padded_.rank(); d-- > 0;) {
    padded_[d] += window_.pads[d] + window_.pads_end[d];
    pitch_[d] = plane_;
    plane_ = MultiplyExtents(plane_, padded_[d]);
  }
  image_ = Scratch<uint8_t>(context, MultiplyExtents(channels_, plane_));
  taps_ = Scratch<int64_t>(context, depth_);
  packed_ = Scratch<uint8_t>(context, PackedByteSize(depth_, columns_));
  sums_ = Scratch<int32_t>(context, columns_);
  const int64_t kernel = depth_ / std::max<int64_t>(channels_, 1);
  for (int64_t i = 0; i < depth_; ++i) {
    int64_t rest = i % kernel;
    taps_[i] = i / kernel * plane_;
    for (std::size_t d = padded_.rank(); d-- > 0; rest /= window_.kernel[d])
      taps_[i] += rest % window_.kernel[d] * window_.dilations[d] * pitch_[d];
  }
}

void BytePatches::Pad(RuntimeContext& context, const uint8_t* x, uint8_t flip, uint8_t zero) {
  const std::size_t last = window_.last();
  const int64_t width = window_.input[last], rows = window_.input_size() / std::max<int64_t>(width, 1);
  context.ParallelFor(channels_, 0.1 * static_cast<double>(plane_) + 5, [&](int64_t begin, int64_t end) {
    std::memset(image_ + begin * plane_, zero, static_cast<std::size_t>((end - begin) * plane_));
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t row = 0; row < rows; ++row) {
        int64_t at = c * plane_ + window_.pads[last], rest = row;
        for (std::size_t d = last; d-- > 0; rest /= window_.input[d])
          at += (rest % window_.input[d] + window_.pads[d]) * pitch_[d];
        const uint8_t* from = x + (c * rows + row) * width;
        uint8_t* to = image_ + at;
        for (int64_t i = 0, n = width; i < n; ++i) to[i] = static_cast<uint8_t>(from[i] ^ flip);
      }
    }
  });
}

void BytePatches::PackPanel(int64_t panel) {
  constexpr int64_t kMostColumns = 64;
  struct Piece {
    const uint8_t* from;
    int64_t at, length;
  };
  Piece pieces[kMostColumns];
  int64_t count = 0;
  const std::size_t last = window_.last();
  const int64_t nr = static_cast<int64_t>(Simd().nr), first = panel * nr, n = std::min(nr, columns_ - first);
  const int64_t width = window_.output[last], stride = window_.strides[last];
  for (int64_t at = 0; at < n; ++count) {
    const int64_t column = (first + at) % width;
    int64_t row = (first + at) / width, offset = column * stride;
    for (std::size_t d = last; d-- > 0; row /= window_.output[d])
      offset += row % window_.output[d] * window_.strides[d] * pitch_[d];
    pieces[count] = {image_ + offset, at, std::min(width - column, n - at)};
    at += pieces[count].length;
  }
  uint32_t totals[kMostColumns] = {};
  uint8_t* out = packed_ + panel * nr * ((depth_ + 3) / 4) * 4;
  for (int64_t group = 0; group < depth_; group += 4, out += nr * 4) {
    const int64_t real = std::min<int64_t>(4, depth_ - group);
    int64_t taps[4] = {};
    std::copy_n(taps_ + group, real, taps);
    uint32_t mask = 0xffffffffu >> (8 * (4 - real));
    uint32_t fours[kMostColumns] = {};
    for (int64_t p = 0; p < count; ++p) {
      const Piece& piece = pieces[p];
      const uint8_t *a = piece.from + taps[0], *b = piece.from + taps[1], *c = piece.from + taps[2],
                    *d = piece.from + taps[3];
      uint32_t* to = fours + piece.at;
      const auto gather = [&](int64_t step) {
        for (int64_t j = 0; j < piece.length; ++j)
          to[j] = (static_cast<uint32_t>(a[j * step]) | static_cast<uint32_t>(b[j * step]) << 8 |
                   static_cast<uint32_t>(c[j * step]) << 16 | static_cast<uint32_t>(d[j * step]) << 24) &
                  mask;
      };
      stride == 1 ? gather(1) : gather(stride);
    }
    for (int64_t j = 0; j < nr; ++j)
      totals[j] += (fours[j] & 255) + (fours[j] >> 8 & 255) + (fours[j] >> 16 & 255) + (fours[j] >> 24);
    std::memcpy(out, fours, static_cast<std::size_t>(nr) * 4);
  }
  for (int64_t j = 0; j < n; ++j) sums_[first + j] = static_cast<int32_t>(totals[j]);
}

PackedBytes BytePatches::Pack(RuntimeContext& context, const void* x, bool is_signed, uint8_t zero) {
  Pad(context, static_cast<const uint8_t*>(x), is_signed ? 0x80 : 0, zero);
  const auto nr = static_cast<int64_t>(Simd().nr);
  context.ParallelFor((columns_ + nr - 1) / nr, 0.3 * static_cast<double>(depth_ * nr),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t panel = begin; panel < end; ++panel) PackPanel(panel);
                      });
  return {packed_, sums_};
}

}  // namespace light
