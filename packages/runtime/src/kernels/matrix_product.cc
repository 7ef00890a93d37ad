// SPDX-License-Identifier: Apache-2.0
#include "kernels/matrix_product.h"

#include <algorithm>

namespace light {
namespace {

int64_t Panels(int64_t n) {
  const auto nr = static_cast<int64_t>(Simd().nr);
  return (n + nr - 1) / nr;
}

void PackPanels(MatrixView<float> b, int64_t k, int64_t n, int64_t begin, int64_t end, float* packed) {
  Simd().pack_b(b.data, b.row, b.column, static_cast<std::size_t>(k), static_cast<std::size_t>(n),
                static_cast<std::size_t>(begin), static_cast<std::size_t>(end), packed);
}

}  // namespace

std::size_t PanelCount(int64_t n) { return static_cast<std::size_t>(Panels(n)); }

int64_t PackedSize(int64_t k, int64_t n) { return Panels(n) * static_cast<int64_t>(Simd().nr) * k; }

void PackedMatrices::Pack(MatrixView<float> b, int64_t pitch, int64_t count, int64_t k, int64_t n) {
  size_ = PackedSize(k, n);
  auto* packed = static_cast<float*>(held_.Allocate(static_cast<std::size_t>(count * size_) * sizeof(float)));
  for (int64_t i = 0; i < count; ++i)
    PackPanels({b.data + i * pitch, b.row, b.column}, k, n, 0, Panels(n), packed + i * size_);
}

float* PackForRun(RuntimeContext& context, MatrixView<float> b, int64_t pitch, int64_t count, int64_t k, int64_t n) {
  const int64_t size = PackedSize(k, n), panels = Panels(n);
  auto* packed = static_cast<float*>(context.TemporaryBuffer(static_cast<std::size_t>(count * size) * sizeof(float)));
  const double cost = (b.column == 1 ? 0.1 : 0.4) * static_cast<double>(k) * static_cast<double>(Simd().nr);
  context.ParallelFor(count * panels, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end;) {
      const int64_t i = unit / panels, first = unit % panels;
      const int64_t last = std::min(panels, first + end - unit);
      PackPanels({b.data + i * pitch, b.row, b.column}, k, n, first, last, packed + i * size);
      unit += last - first;
    }
  });
  return packed;
}

void RunProducts(RuntimeContext& context, int64_t count, int64_t m, FunctionRef<simd::GemmArgs(int64_t)> args) {
  if (count == 0 || m == 0) return;
  const simd::SimdTable& simd = Simd();
  const simd::GemmArgs first = args(0);
  const auto n = static_cast<int64_t>(first.n);
  const int64_t panels = Panels(n), mr = static_cast<int64_t>(simd.mr);
  if (panels == 0) return;
  // A unit is a block of rows by a group of panels. Blocks of many rows use a packed panel well; with few of them the
  // columns are split too, until every thread has several units.
  // One part each where reading the right side takes all the time: the parts stay in the caches of their threads.
  const int64_t threads = context.parallel().thread_count(), wanted = threads == 1 ? 1 : m <= 8 ? threads : 6 * threads;
  int64_t block = 8 * mr;
  if (count * ((m + block - 1) / block) * panels < wanted) block = mr;
  // Blocks of equal heights, so that threads have equal work, and none of one row, unless that is all: alone, it would
  // be summed in another order.
  const int64_t row_blocks = std::max<int64_t>((m + block - 2) / block, 1);
  const auto first_row = [&](int64_t i) { return static_cast<std::size_t>(i * m / row_blocks); };
  const int64_t groups = std::clamp<int64_t>((wanted + count * row_blocks - 1) / (count * row_blocks), 1, panels);
  const int64_t width = (panels + groups - 1) / groups;
  const int64_t columns = (panels + width - 1) / width;
  const double cost = static_cast<double>(std::min(block, m)) *
                          static_cast<double>(std::min(width * static_cast<int64_t>(simd.nr), n)) *
                          static_cast<double>(first.k) / 25 +
                      20;
  const int64_t units = count * row_blocks * columns;
  context.ParallelFor(units, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t at = first.reversed ? units - 1 - unit : unit;
      const int64_t column = at % columns, row = at / columns % row_blocks;
      const simd::GemmArgs product = args(at / columns / row_blocks);
      simd.gemm(&product, first_row(row), first_row(row + 1), static_cast<std::size_t>(column * width),
                static_cast<std::size_t>(std::min(panels, (column + 1) * width)));
    }
  });
}

void MultiplyPacked(RuntimeContext& context, MatrixView<float> a, const float* packed, int64_t m, int64_t n, int64_t k,
                    float* c, float alpha, const float* bias) {
  RunProducts(context, 1, m, [&](int64_t) {
    return simd::GemmArgs{
        a.data, a.row, a.column, packed, c,    n, static_cast<std::size_t>(n), static_cast<std::size_t>(k),
        alpha,  bias,  nullptr,  false,  false};
  });
}

void MultiplyDoubles(RuntimeContext& context, MatrixView<double> a, MatrixView<double> b, int64_t m, int64_t n,
                     int64_t k, double* c) {
  const simd::SimdTable& simd = Simd();
  const auto width = static_cast<int64_t>(simd.double_nr), mr = static_cast<int64_t>(simd.mr);
  const int64_t panels = (n + width - 1) / width;
  if (m == 0 || panels == 0) return;
  // A unit is a block of rows by a few panels: enough rows to be worth the panels' packing, and several units for each
  // thread where there is that much to do.
  constexpr int64_t kGroup = 4;
  const int64_t threads = context.parallel().thread_count(), wanted = threads == 1 ? 1 : 3 * threads;
  const int64_t groups = (panels + kGroup - 1) / kGroup;
  int64_t block = 16 * mr;
  while (block > 2 * mr && groups * ((m + block - 1) / block) < wanted) block /= 2;
  const int64_t row_blocks = (m + block - 1) / block;
  const simd::DoubleGemmArgs args = {
      a.data, a.row, a.column, b.data, b.row, b.column, c, n, static_cast<std::size_t>(n), static_cast<std::size_t>(k)};
  const double cost =
      static_cast<double>(std::min(block, m) * std::min(kGroup * width, n)) * static_cast<double>(k) / 12 + 20;
  context.ParallelFor(row_blocks * groups, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit / groups * block, panel = unit % groups * kGroup;
      simd.double_gemm(&args, static_cast<std::size_t>(row), static_cast<std::size_t>(std::min(row + block, m)),
                       static_cast<std::size_t>(panel), static_cast<std::size_t>(std::min(panel + kGroup, panels)));
    }
  });
}

}  // namespace light
