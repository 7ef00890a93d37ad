// SPDX-License-Identifier: Apache-2.0
#include "kernels/winograd.h"

#include <algorithm>

#include "kernels/thread_scratch.h"

namespace light {
namespace {

constexpr int64_t kPositions = 36;

// True if there are enough tiles: with fewer, weights that no cache has room for take longer to read than the sums to
// compute.
bool IsWorthIt(int64_t channels, int64_t filters, int64_t batch, int64_t height, int64_t width) {
  const bool small = kPositions * channels * filters <= 3 << 19;
  return batch * ((height + 3) / 4) * ((width + 3) / 4) >= (small ? 3 : 9);
}

int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// G * g for the points 0, +-3/4, +-3/2 and infinity (simd/winograd.inc has the other transforms): the values of a
// polynomial there, each divided by the product of the point's distances from the other points.
void TransformLine(const double g[3], double out[6]) {
  constexpr double a = 0.75, b = 1.5, a2 = a * a, b2 = b * b;
  out[0] = g[0] / (a2 * b2);
  const double even_a = (g[0] + a2 * g[2]) / (2 * a2 * (a2 - b2)), odd_a = a * g[1] / (2 * a2 * (a2 - b2));
  out[1] = even_a + odd_a;
  out[2] = even_a - odd_a;
  const double even_b = (g[0] + b2 * g[2]) / (2 * b2 * (b2 - a2)), odd_b = b * g[1] / (2 * b2 * (b2 - a2));
  out[3] = even_b + odd_b;
  out[4] = even_b - odd_b;
  out[5] = g[2];
}

// [filters, channels, 3, 3] to [36, channels, filters].
void TransformWeights(const float* weights, int64_t filters, int64_t channels, float* out) {
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t f = 0; f < filters; ++f) {
      const float* kernel = weights + (f * channels + c) * 9;
      double half[3][6];
      for (int j = 0; j < 3; ++j) {
        const double column[3] = {kernel[j], kernel[3 + j], kernel[6 + j]};
        TransformLine(column, half[j]);
      }
      float* to = out + c * filters + f;
      for (int i = 0; i < 6; ++i) {
        const double line[3] = {half[0][i], half[1][i], half[2][i]};
        double values[6];
        TransformLine(line, values);
        for (int j = 0; j < 6; ++j) to[(i * 6 + j) * channels * filters] = static_cast<float>(values[j]);
      }
    }
  }
}

/// The tiles of a layer, counted over batch, rows and columns, and the buffers that hold some of them.
struct Tiles {
  explicit Tiles(const ConvLayer& layer)
      : columns((layer.window.output[1] + 3) / 4),
        per_image((layer.window.output[0] + 3) / 4 * columns),
        total(layer.batch * per_image),
        input_pitch(RoundUp(layer.channels, static_cast<int64_t>(Simd().nr))),
        output_pitch(RoundUp(layer.filters, static_cast<int64_t>(Simd().nr))) {
    // A block of tiles stays in the second-level cache, and beside it the weights if they can; if they cannot, few
    // large blocks read them less often. It is a whole number of tiles of the product, and blocks are about equal.
    const int64_t positions = kPositions * (input_pitch + output_pitch);
    const bool small = kPositions * input_pitch * output_pitch <= 256 << 10;
    const int64_t fitting = std::max<int64_t>((small ? 72 << 10 : 320 << 10) / positions, 12);
    const int64_t blocks = (total + fitting - 1) / fitting;
    block = RoundUp((total + blocks - 1) / blocks, static_cast<int64_t>(Simd().mr));
  }
  /// Elements from one position to the next for `count` tiles. The odd line keeps the 36 positions of one tile from
  /// competing for the same lines of the cache.
  static int64_t PositionPitch(int64_t count, int64_t pitch) { return count * pitch + 16; }

  /// Calls body(image, row, column, first, count) for what lies side by side of the tiles [begin, end).
  template <class Body>
  void ForEachRow(int64_t begin, int64_t end, const Body& body) const {
    for (int64_t tile = begin; tile < end;) {
      const int64_t image = tile / per_image, row = tile % per_image / columns, column = tile % columns;
      const int64_t count = std::min(end - tile, columns - column);
      body(image, row, column, tile, count);
      tile += count;
    }
  }

  int64_t columns, per_image, total, input_pitch, output_pitch, block;
};

/// The three steps for the tiles [begin, end), whose buffers begin with tile `begin`.
struct Step {
  const ConvLayer& layer;
  const Tiles& tiles;
  int64_t begin, end;
  float* v;
  float* m;

  int64_t v_pitch() const { return Tiles::PositionPitch(end - begin, tiles.input_pitch); }
  int64_t m_pitch() const { return Tiles::PositionPitch(end - begin, tiles.output_pitch); }

  void TransformInput(const float* x, int64_t channel, int64_t channels) const {
    const Window& w = layer.window;
    const int64_t plane = w.input_size();
    tiles.ForEachRow(begin, end, [&](int64_t image, int64_t row, int64_t column, int64_t first, int64_t count) {
      const simd::WinogradInput args = {
          .x = x + (image * layer.channels + channel) * plane,
          .x_end = x + layer.batch * layer.channels * plane,
          .plane = plane,
          .height = w.input[0],
          .width = w.input[1],
          .row = 4 * row - w.pads[0],
          .column = 4 * column - w.pads[1],
          .channels = static_cast<std::size_t>(channels),
          .tiles = static_cast<std::size_t>(count),
          .v = v + (first - begin) * tiles.input_pitch + channel,
          .tile_pitch = static_cast<std::size_t>(tiles.input_pitch),
          .position_pitch = static_cast<std::size_t>(v_pitch()),
      };
      Simd().winograd_input(&args);
    });
  }

  /// @param panel_end  in panels of filters, as `panel_begin`
  void Multiply(const PackedMatrices& weights, int64_t position, int64_t panel_begin, int64_t panel_end) const {
    const simd::GemmArgs args = {v + position * v_pitch(),
                                 tiles.input_pitch,
                                 1,
                                 weights.matrix(position),
                                 m + position * m_pitch(),
                                 tiles.output_pitch,
                                 static_cast<std::size_t>(tiles.output_pitch),
                                 static_cast<std::size_t>(layer.channels),
                                 1.f,
                                 nullptr,
                                 nullptr,
                                 false,
                                 false};
    Simd().gemm(&args, 0, static_cast<std::size_t>(end - begin), static_cast<std::size_t>(panel_begin),
                static_cast<std::size_t>(panel_end));
  }

  void TransformOutput(const ConvTarget& target, int64_t filter, int64_t filters) const {
    const Window& w = layer.window;
    tiles.ForEachRow(begin, end, [&](int64_t image, int64_t row, int64_t column, int64_t first, int64_t count) {
      const int64_t at = (image * layer.filters + filter) * w.output_size() + 4 * row * w.output[1] + 4 * column;
      const simd::WinogradOutput args = {
          .m = m + (first - begin) * tiles.output_pitch + filter,
          .tile_pitch = static_cast<std::size_t>(tiles.output_pitch),
          .position_pitch = static_cast<std::size_t>(m_pitch()),
          .tiles = static_cast<std::size_t>(count),
          .filters = static_cast<std::size_t>(filters),
          .rows = static_cast<std::size_t>(std::min<int64_t>(4, w.output[0] - 4 * row)),
          .columns = static_cast<std::size_t>(std::min(4 * count, w.output[1] - 4 * column)),
          .y = target.y + at,
          .plane = w.output_size(),
          .width = w.output[1],
          .bias = target.bias ? target.bias + filter : nullptr,
          .residual = target.residual ? target.residual + at : nullptr,
          .relu = target.relu,
      };
      Simd().winograd_output(&args);
    });
  }
};

// Every thread takes blocks of tiles through all steps.
void RunBlocks(RuntimeContext& context, const ConvLayer& layer, const Tiles& tiles, const PackedMatrices& weights,
               const float* x, const ConvTarget& target) {
  const int64_t v_size = kPositions * Tiles::PositionPitch(tiles.block, tiles.input_pitch);
  const int64_t m_size = kPositions * Tiles::PositionPitch(tiles.block, tiles.output_pitch);
  const int64_t panels = tiles.output_pitch / static_cast<int64_t>(Simd().nr);
  ThreadScratch scratch(context, static_cast<std::size_t>(v_size + m_size));
  const double cost = static_cast<double>(tiles.block * kPositions * tiles.output_pitch * layer.channels) / 25;
  context.ParallelFor((tiles.total + tiles.block - 1) / tiles.block, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t block = begin; block < end; ++block) {
      const Step step = {layer,
                         tiles,
                         block * tiles.block,
                         std::min(tiles.total, (block + 1) * tiles.block),
                         lease.data(),
                         lease.data() + v_size};
      step.TransformInput(x, 0, layer.channels);
      for (int64_t position = 0; position < kPositions; ++position) step.Multiply(weights, position, 0, panels);
      step.TransformOutput(target, 0, layer.filters);
    }
  });
}

// Few tiles: every step of all of them on all threads.
void RunSteps(RuntimeContext& context, const ConvLayer& layer, const Tiles& tiles, const PackedMatrices& weights,
              const float* x, const ConvTarget& target) {
  const auto nr = static_cast<int64_t>(Simd().nr);
  const int64_t v_size = kPositions * Tiles::PositionPitch(tiles.total, tiles.input_pitch);
  const int64_t m_size = kPositions * Tiles::PositionPitch(tiles.total, tiles.output_pitch);
  const int64_t panels = tiles.output_pitch / nr;
  auto* buffer = Scratch<float>(context, v_size + m_size);
  const Step step = {layer, tiles, 0, tiles.total, buffer, buffer + v_size};
  const double transform_cost = static_cast<double>(tiles.total * nr * kPositions) / 4;
  context.ParallelFor(tiles.input_pitch / nr, transform_cost, [&](int64_t begin, int64_t end) {
    step.TransformInput(x, begin * nr, std::min(end * nr, layer.channels) - begin * nr);
  });
  // Columns of one position are cheap to tell apart, so that a unit is never more than what a thread waits for.
  const double cost = static_cast<double>(tiles.total * nr * layer.channels) / 25;
  context.ParallelFor(kPositions * panels, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end;) {
      const int64_t panel = unit % panels, count = std::min(panels - panel, end - unit);
      step.Multiply(weights, unit / panels, panel, panel + count);
      unit += count;
    }
  });
  context.ParallelFor(panels, transform_cost, [&](int64_t begin, int64_t end) {
    step.TransformOutput(target, begin * nr, std::min(end * nr, layer.filters) - begin * nr);
  });
}

}  // namespace

bool SuitsWinograd(std::span<const int64_t> weights, const ValueType* output) {
  if (weights.size() != 4 || weights[0] < 16 || weights[1] < 16 || weights[2] != 3 || weights[3] != 3) return false;
  const auto extents = output ? output->shape.extents() : std::nullopt;
  return !extents || extents->size() != 4 ||
         IsWorthIt(weights[1], weights[0], (*extents)[0], (*extents)[2], (*extents)[3]);
}

void WinogradConv::Prepare(const KernelInfo& info, const Tensor& weights) {
  const auto transform = [this, data = weights.Data<float>(), filters = weights.dim(0), channels = weights.dim(1)] {
    const conversions::OwnedBuffer buffer =
        conversions::AllocateBuffer(static_cast<std::size_t>(kPositions * channels * filters) * sizeof(float));
    auto* transformed = static_cast<float*>(buffer.data);
    TransformWeights(data, filters, channels, transformed);
    weights_.Pack({transformed, filters, 1}, channels * filters, kPositions, channels, filters);
  };
  if (IsMapped(info, 1)) {
    weights_.PackLater(transform, info.budget());
  } else {
    transform();
  }
}

bool WinogradConv::Takes(const ConvLayer& layer) const {
  return !weights_.empty() &&
         IsWorthIt(layer.channels, layer.filters, layer.batch, layer.window.output[0], layer.window.output[1]);
}

void WinogradConv::Run(RuntimeContext& context, const ConvLayer& layer, const float* x,
                       const ConvTarget& target) const {
  const Tiles tiles(layer);
  const int threads = context.parallel().thread_count();
  const bool few = threads > 1 && tiles.total < 3 * threads * tiles.block;
  (few ? RunSteps : RunBlocks)(context, layer, tiles, weights_, x, target);
}

}  // namespace light
