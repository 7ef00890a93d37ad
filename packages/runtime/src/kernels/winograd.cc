// SPDX-License-Identifier: Apache-2.0
#include "kernels/winograd.h"

#include <algorithm>

#include "kernels/simd_dispatch.h"
#include "kernels/thread_scratch.h"

namespace light {
namespace {

/// Numbers along an axis of a transformed tile of `tile` outputs, and in all of it.
constexpr int64_t Edge(int64_t tile) { return tile + 2; }
constexpr int64_t Positions(int64_t tile) { return Edge(tile) * Edge(tile); }

// Exact up to kMany: what a model declares may have any extents.
int64_t CountTiles(int64_t tile, int64_t batch, int64_t height, int64_t width) {
  constexpr int64_t kMany = 64;
  const auto count = [&](int64_t extent) { return std::min(extent / tile + (extent % tile != 0 ? 1 : 0), kMany); };
  return std::min(batch, kMany) * count(height) * count(width);
}

// True if weights of that many elements, as they are, leave the second-level cache once they are transformed: reading
// them costs more than the sums then, unless there are many tiles.
bool AreLarge(int64_t weights) { return weights > 24 << 10; }

// The tile that makes the least work, 0 if that is none: measured on layers of 4 to 64 tiles.
int64_t BestTile(int64_t channels, int64_t filters, int64_t batch, int64_t height, int64_t width) {
  const bool large = AreLarge(9 * channels * filters);
  if (CountTiles(4, batch, height, width) >= (large ? 6 : 3)) return 4;
  return CountTiles(2, batch, height, width) >= (large ? 8 : 3) ? 2 : 0;
}

int64_t Nr() { return static_cast<int64_t>(Simd().nr); }

int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// The same number of several filters: kept side by side, so that the transformed ones are written in whole lines.
constexpr int64_t kSideBySide = 16;
struct Numbers {
  double of[kSideBySide];
  template <class Function>
  static Numbers Each(const Function& function) {
    Numbers result;
    for (int64_t i = 0; i < kSideBySide; ++i) result.of[i] = function(i);
    return result;
  }
};

// G * g: the values of a polynomial at the points (simd/winograd.inc has the other transforms), each divided by the
// product of the point's distances from the other points; the last one is infinity.
void TransformLine(int64_t tile, const Numbers& g0, const Numbers& g1, const Numbers& g2, Numbers out[6]) {
  if (tile == 2) {  // 0, +-1
    out[0] = g0;
    out[1] = Numbers::Each([&](int64_t i) { return (g0.of[i] + g1.of[i] + g2.of[i]) / 2; });
    out[2] = Numbers::Each([&](int64_t i) { return (g0.of[i] - g1.of[i] + g2.of[i]) / 2; });
    out[3] = g2;
    return;
  }
  constexpr double a = 0.75, b = 1.5, a2 = a * a, b2 = b * b;  // 0, +-a, +-b
  const auto pair = [&](double point, double square, double other, Numbers& plus, Numbers& minus) {
    for (int64_t i = 0; i < kSideBySide; ++i) {
      const double even = (g0.of[i] + square * g2.of[i]) / (2 * square * (square - other));
      const double odd = point * g1.of[i] / (2 * square * (square - other));
      plus.of[i] = even + odd;
      minus.of[i] = even - odd;
    }
  };
  out[0] = Numbers::Each([&](int64_t i) { return g0.of[i] / (a2 * b2); });
  pair(a, a2, b2, out[1], out[2]);
  pair(b, b2, a2, out[3], out[4]);
  out[5] = g2;
}

// [filters, channels, 3, 3] to [panels, positions, channels, filters of a panel]: a thread that has some of the panels
// reads on and on. The last panel is filled up with zeros.
void TransformWeights(int64_t tile, const float* weights, int64_t filters, int64_t channels, float* out) {
  const int64_t edge = Edge(tile), nr = Nr(), width = std::min(kSideBySide, nr);
  for (int64_t first = 0; first < RoundUp(filters, nr); first += width) {
    const int64_t count = std::clamp<int64_t>(filters - first, 0, width);
    float* panel = out + first / nr * Positions(tile) * channels * nr + first % nr;
    for (int64_t c = 0; c < channels; ++c) {
      Numbers kernel[9] = {}, half[3][6], values[6];
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < 9; ++j) kernel[j].of[i] = weights[((first + i) * channels + c) * 9 + j];
      for (int64_t j = 0; j < 3; ++j) TransformLine(tile, kernel[j], kernel[3 + j], kernel[6 + j], half[j]);
      float* to = panel + c * nr;
      for (int64_t i = 0; i < edge; ++i) {
        TransformLine(tile, half[0][i], half[1][i], half[2][i], values);
        for (int64_t j = 0; j < edge; ++j, to += channels * nr)
          for (int64_t k = 0; k < width; ++k) to[k] = static_cast<float>(values[j].of[k]);
      }
    }
  }
}

/// The tiles of a layer, counted over batch, rows and columns, and how they and the filters are dealt out: a unit of
/// work is a block of tiles by a group of panels of filters.
struct Tiles {
  Tiles(const ConvLayer& layer, int64_t tile, int64_t threads)
      : edge(tile),
        columns((layer.window.output[1] + tile - 1) / tile),
        per_image((layer.window.output[0] + tile - 1) / tile * columns),
        total(layer.batch * per_image),
        input_pitch(RoundUp(layer.channels, Nr())),
        panels(RoundUp(layer.filters, Nr()) / Nr()) {
    // Threads share the filters if reading all weights costs each of them more than transforming all the inputs, half
    // of which another thread made: measured on layers of 64 to 512 channels.
    if (threads > 1 && Positions(tile) * layer.channels * layer.filters > 3 << 20 && 2 * total < layer.filters)
      groups = std::min(panels, threads);
    group_panels = (panels + groups - 1) / groups;
    groups = (panels + group_panels - 1) / group_panels;
    // A block stays in the second-level cache, and beside it the weights if they can; if they cannot, few large blocks
    // read them less often.
    const int64_t floats = Positions(tile) * (input_pitch + Nr());
    const bool small = Positions(tile) * input_pitch * panels * Nr() <= 256 << 10;
    const int64_t fitting = std::max<int64_t>((small ? 72 << 10 : 320 << 10) / floats, 12);
    int64_t count = (total + fitting - 1) / fitting;
    // Enough blocks for every thread, and for evening out, but none of a few tiles alone.
    if (threads > 1) {
      const auto at_most = [&](int64_t tiles) { return std::max<int64_t>(total / tiles, 1); };
      count = std::max({count, std::min((threads + groups - 1) / groups, at_most(4)),
                        std::min((3 * threads + groups - 1) / groups, at_most(2 * static_cast<int64_t>(Simd().mr)))});
      // As many for each thread, if that does not make them tiny.
      const int64_t even = RoundUp(count * groups, threads) / groups;
      if (count * groups > threads && total / even >= 8) count = even;
    }
    block = RoundUp((total + count - 1) / count, 4);
    blocks = (total + block - 1) / block;
  }
  /// Elements from one position to the next for `count` tiles. The odd line keeps the positions of one tile from
  /// competing for the same lines of the cache.
  static int64_t PositionPitch(int64_t count, int64_t pitch) { return count * pitch + 16; }

  /// Calls body(image, row, column, first, count) for what lies side by side of the tiles [begin, end).
  template <class Body>
  void ForEachRow(int64_t begin, int64_t end, const Body& body) const {
    for (int64_t at = begin; at < end;) {
      const int64_t image = at / per_image, row = at % per_image / columns, column = at % columns;
      const int64_t count = std::min(end - at, columns - column);
      body(image, row, column, at, count);
      at += count;
    }
  }

  int64_t edge;  ///< of the outputs of a tile
  int64_t columns, per_image, total, input_pitch, panels;
  int64_t groups = 1, group_panels, block, blocks;
};

/// The three steps for the tiles [begin, end), whose buffers begin with tile `begin`. The last two are for one panel of
/// filters.
struct Step {
  const ConvLayer& layer;
  const Layouts& layouts;
  const Tiles& tiles;
  int64_t begin, end;
  float* v;
  float* m;

  // One row alone would be summed in another order than rows among others: results must not depend on who got it.
  int64_t rows() const { return RoundUp(end - begin, 2); }
  int64_t v_pitch() const { return Tiles::PositionPitch(rows(), tiles.input_pitch); }
  int64_t m_pitch() const { return Tiles::PositionPitch(rows(), Nr()); }

  void TransformInput(const float* x) const {
    const Window& w = layer.window;
    const int64_t plane = w.input_size(), image_size = layer.channels * plane;
    tiles.ForEachRow(begin, end, [&](int64_t image, int64_t row, int64_t column, int64_t first, int64_t count) {
      const simd::WinogradInput args = {
          .tile = static_cast<std::size_t>(tiles.edge),
          .channels_last = layouts.input_last,
          .x = x + image * image_size,
          .x_end = x + layer.batch * image_size,
          .plane = plane,
          .height = w.input[0],
          .width = w.input[1],
          .row = tiles.edge * row - w.pads[0],
          .column = tiles.edge * column - w.pads[1],
          .channels = static_cast<std::size_t>(layer.channels),
          .tiles = static_cast<std::size_t>(count),
          .v = v + (first - begin) * tiles.input_pitch,
          .tile_pitch = static_cast<std::size_t>(tiles.input_pitch),
          .position_pitch = static_cast<std::size_t>(v_pitch()),
      };
      Simd().winograd_input(&args);
    });
  }

  void Multiply(const float* weights, int64_t panel) const {
    const int64_t positions = Positions(tiles.edge), size = layer.channels * Nr();
    for (int64_t position = 0; position < positions; ++position) {
      const simd::GemmArgs args = {.a = v + position * v_pitch(),
                                   .a_row = tiles.input_pitch,
                                   .a_column = 1,
                                   .b = weights + (panel * positions + position) * size,
                                   .c = m + position * m_pitch(),
                                   .c_row = Nr(),
                                   .n = Simd().nr,
                                   .k = static_cast<std::size_t>(layer.channels),
                                   .alpha = 1.f,
                                   .column_bias = nullptr,
                                   .row_bias = nullptr,
                                   .accumulate = false,
                                   .relu = false};
      Simd().gemm(&args, 0, static_cast<std::size_t>(rows()), 0, 1);
    }
  }

  void TransformOutput(const ConvTarget& target, int64_t panel) const {
    const Window& w = layer.window;
    const int64_t filter = panel * Nr(), filters = std::min(layer.filters - filter, Nr());
    tiles.ForEachRow(begin, end, [&](int64_t image, int64_t row, int64_t column, int64_t first, int64_t count) {
      const bool last = layouts.output_last;
      const int64_t pixel = tiles.edge * (row * w.output[1] + column);
      const int64_t at = image * layer.filters * w.output_size() +
                         (last ? pixel * layer.filters + filter : filter * w.output_size() + pixel);
      const simd::WinogradOutput args = {
          .tile = static_cast<std::size_t>(tiles.edge),
          .channels_last = last,
          .m = m + (first - begin) * Nr(),
          .tile_pitch = Simd().nr,
          .position_pitch = static_cast<std::size_t>(m_pitch()),
          .tiles = static_cast<std::size_t>(count),
          .filters = static_cast<std::size_t>(filters),
          .rows = static_cast<std::size_t>(std::min(tiles.edge, w.output[0] - tiles.edge * row)),
          .columns = static_cast<std::size_t>(std::min(tiles.edge * count, w.output[1] - tiles.edge * column)),
          .y = target.y + at,
          .plane = last ? layer.filters : w.output_size(),
          .width = w.output[1],
          .bias = target.bias ? target.bias + filter : nullptr,
          .residual = target.residual ? target.residual + at : nullptr,
          .relu = target.relu,
      };
      Simd().winograd_output(&args);
    });
  }
};

}  // namespace

void WinogradConv::Prepare(const KernelInfo& info, const Tensor& weights, const ValueType* output) {
  const std::span<const int64_t> dims = weights.dims();
  if (dims.size() != 4 || dims[0] < 16 || dims[1] < 16 || dims[2] != 3 || dims[3] != 3) return;
  tile_ = 4;
  if (output && output->shape.has_rank() && output->shape.rank() == 4) {
    const Shape& shape = output->shape;
    const auto extent = [&shape](std::size_t d) { return shape[d].is_known() ? shape[d].extent() : 0; };
    // Of an unknown number of images there is one at least.
    if (extent(2) > 0 && extent(3) > 0)
      tile_ = BestTile(dims[1], dims[0], std::max<int64_t>(extent(0), 1), extent(2), extent(3));
  }
  if (tile_ == 0) return;
  weights_.Make(info, 1, [this, data = weights.Data<float>(), filters = dims[0], channels = dims[1]] {
    const int64_t floats = Positions(tile_) * channels * RoundUp(filters, Nr());
    auto* transformed = static_cast<float*>(weights_.Allocate(static_cast<std::size_t>(floats) * sizeof(float)));
    TransformWeights(tile_, data, filters, channels, transformed);
  });
}

bool WinogradConv::Takes(const ConvLayer& layer) const {
  if (weights_.empty()) return false;
  const int64_t best =
      BestTile(layer.channels, layer.filters, layer.batch, layer.window.output[0], layer.window.output[1]);
  return best == tile_ || (best == 4 && tile_ == 2);
}

void WinogradConv::Run(RuntimeContext& context, const ConvLayer& layer, const Layouts& layouts, const float* x,
                       const ConvTarget& target) const {
  const Tiles tiles(layer, tile_, context.parallel().thread_count());
  const int64_t positions = Positions(tile_), filters = tiles.group_panels * Nr();
  const auto* weights = static_cast<const float*>(weights_.data());
  const int64_t v_size = positions * Tiles::PositionPitch(tiles.block, tiles.input_pitch);
  const int64_t m_size = positions * Tiles::PositionPitch(tiles.block, Nr());
  ThreadScratch scratch(context, static_cast<std::size_t>(v_size + m_size));
  const double cost = static_cast<double>(tiles.block * positions * filters * layer.channels) / 25;
  context.ParallelFor(tiles.blocks * tiles.groups, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t block = unit / tiles.groups, group = unit % tiles.groups;
      const Step step = {layer,
                         layouts,
                         tiles,
                         block * tiles.block,
                         std::min(tiles.total, (block + 1) * tiles.block),
                         lease.data(),
                         lease.data() + v_size};
      if (unit == begin || group == 0) step.TransformInput(x);
      const int64_t first = group * tiles.group_panels;
      for (int64_t panel = first; panel < std::min(tiles.panels, first + tiles.group_panels); ++panel) {
        step.Multiply(weights, panel);
        step.TransformOutput(target, panel);
      }
    }
  });
}

}  // namespace light
