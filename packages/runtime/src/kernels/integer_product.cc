// SPDX-License-Identifier: Apache-2.0
#include "kernels/integer_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/scratch.h"

namespace light {
namespace {

int64_t Groups(int64_t k) { return (k + 3) / 4; }
int64_t Width() { return static_cast<int64_t>(Simd().nr); }
int64_t Panels(int64_t n) { return (n + Width() - 1) / Width(); }

/// Packs the panels [begin, end) of a dense matrix and adds up their columns. `flip` is what each byte is combined
/// with.
void PackPanels(const uint8_t* b, uint8_t flip, int64_t k, int64_t n, int64_t begin, int64_t end, uint8_t* packed,
                int32_t* sums) {
  const int64_t width = Width(), groups = Groups(k);
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t first = panel * width, columns = std::min(width, n - first);
    uint8_t* out = packed + panel * groups * width * 4;
    int32_t* totals = sums + first;
    std::fill_n(totals, columns, 0);
    for (int64_t group = 0; group < groups; ++group, out += width * 4) {
      uint8_t lines[4][64] = {};  // of at most 32 columns
      const int64_t rows = std::min<int64_t>(4, k - group * 4);
      for (int64_t r = 0; r < rows; ++r) {
        const uint8_t* line = b + (group * 4 + r) * n + first;
        for (int64_t j = 0; j < columns; ++j) lines[r][j] = static_cast<uint8_t>(line[j] ^ flip);
      }
      for (int64_t j = 0; j < columns; ++j) totals[j] += lines[0][j] + lines[1][j] + lines[2][j] + lines[3][j];
      for (int64_t j = 0; j < width; ++j) {
        const uint32_t four = lines[0][j] | static_cast<uint32_t>(lines[1][j]) << 8 |
                              static_cast<uint32_t>(lines[2][j]) << 16 | static_cast<uint32_t>(lines[3][j]) << 24;
        std::memcpy(out + j * 4, &four, sizeof(four));
      }
    }
  }
}

/// Copies the rows [begin, end) of k elements, filled up, and adds them up.
void CopyRows(const uint8_t* a, uint8_t flip, int64_t k, int64_t begin, int64_t end, int8_t* rows, int32_t* sums) {
  const int64_t pitch = RowPitch(k);
  for (int64_t i = begin; i < end; ++i) {
    int8_t* row = rows + i * pitch;
    const uint8_t* in = a + i * k;
    for (int64_t p = 0; p < k; ++p) row[p] = static_cast<int8_t>(in[p] ^ flip);
    std::fill(row + k, row + pitch, int8_t{0});
    int32_t sum = 0;
    for (int64_t p = 0; p < k; ++p) sum += row[p];
    sums[i] = sum;
  }
}

simd::IntegerGemmFn ProductFunction() {
#if defined(__x86_64__)
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni");
#else
  constexpr bool has_vnni = false;
#endif
  const simd::SimdTable& simd = Simd();
  return has_vnni && simd.integer_gemm_vnni != nullptr ? simd.integer_gemm_vnni : simd.integer_gemm;
}

}  // namespace

int64_t PackedByteSize(int64_t k, int64_t n) { return Panels(n) * Width() * Groups(k) * 4; }

void ConstantBytes::Pack(const KernelInfo& info, std::size_t input, int64_t count, int64_t k, int64_t n) {
  count_ = count;
  n_ = n;
  panel_bytes_ = PackedByteSize(k, n);
  held_.Make(info, input, [this, b = *info.ConstantInput(input), k] {
    auto* panels = static_cast<uint8_t*>(held_.Allocate(static_cast<std::size_t>(count_ * (panel_bytes_ + n_ * 4))));
    auto* sums = reinterpret_cast<int32_t*>(panels + count_ * panel_bytes_);
    const auto* from = static_cast<const uint8_t*>(b.data());
    for (int64_t i = 0; i < count_; ++i)
      PackPanels(from + i * k * n_, b.type() == ElementType::kInt8 ? 0x80 : 0, k, n_, 0, Panels(n_),
                 panels + i * panel_bytes_, sums + i * n_);
  });
}

PackedBytes ConstantBytes::matrix(int64_t i) const {
  const auto* panels = static_cast<const uint8_t*>(held_.data());
  return {panels + i * panel_bytes_, reinterpret_cast<const int32_t*>(panels + count_ * panel_bytes_) + i * n_};
}

PackedBytes PackBytesForRun(RuntimeContext& context, const void* b, bool is_signed, int64_t k, int64_t n) {
  auto* packed = Scratch<uint8_t>(context, PackedByteSize(k, n));
  auto* sums = Scratch<int32_t>(context, n);
  context.ParallelFor(Panels(n), 0.3 * static_cast<double>(k * Width()), [&](int64_t begin, int64_t end) {
    PackPanels(static_cast<const uint8_t*>(b), is_signed ? 0x80 : 0, k, n, begin, end, packed, sums);
  });
  return {packed, sums};
}

ByteRows HoldRows(RuntimeContext& context, const void* a, bool is_signed, int64_t m, int64_t k) {
  auto* rows = Scratch<int8_t>(context, MultiplyExtents(m, RowPitch(k)));
  auto* sums = Scratch<int32_t>(context, m);
  context.ParallelFor(m, 0.2 * static_cast<double>(k) + 5, [&](int64_t begin, int64_t end) {
    CopyRows(static_cast<const uint8_t*>(a), is_signed ? 0 : 0x80, k, begin, end, rows, sums);
  });
  return {rows, sums};
}

void ConstantRows::Hold(const KernelInfo& info, std::size_t i, int64_t m, int64_t k) {
  m_ = m;
  pitch_ = RowPitch(k);
  held_.Make(info, i, [this, a = *info.ConstantInput(i), k] {
    // The sums first: they are aligned then.
    auto* sums = static_cast<int32_t*>(held_.Allocate(static_cast<std::size_t>(m_ * (pitch_ + 4))));
    CopyRows(static_cast<const uint8_t*>(a.data()), a.type() == ElementType::kInt8 ? 0 : 0x80, k, 0, m_,
             reinterpret_cast<int8_t*>(sums + m_), sums);
  });
}

ByteRows ConstantRows::rows() const {
  const auto* sums = static_cast<const int32_t*>(held_.data());
  return {reinterpret_cast<const int8_t*>(sums + m_), sums};
}

void MultiplyBytes(RuntimeContext& context, const ByteRows& a, const int32_t* row_zero, const PackedBytes& b,
                   const int32_t* column_zero, int64_t m, int64_t n, int64_t k, int32_t* c) {
  if (m == 0 || n == 0) return;
  auto* column_sum = Scratch<int32_t>(context, n);
  for (int64_t j = 0; j < n; ++j)
    column_sum[j] = static_cast<int32_t>(static_cast<uint32_t>(b.sums[j]) -
                                         static_cast<uint32_t>(k) * static_cast<uint32_t>(column_zero[j]));
  const simd::IntegerGemmArgs args = {
      a.rows, b.panels,    c,         static_cast<std::size_t>(n), static_cast<std::size_t>(Groups(k)), row_zero,
      a.sums, column_zero, column_sum};
  const simd::IntegerGemmFn multiply = ProductFunction();
  const int64_t panels = Panels(n), block = 8 * static_cast<int64_t>(Simd().mr), blocks = (m + block - 1) / block;
  const double cost = static_cast<double>(std::min(m, block) * Width()) * static_cast<double>(k) / 60 + 20;
  context.ParallelFor(blocks * panels, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit / panels * block, panel = unit % panels;
      multiply(&args, static_cast<std::size_t>(row), static_cast<std::size_t>(std::min(m, row + block)),
               static_cast<std::size_t>(panel), static_cast<std::size_t>(panel + 1));
    }
  });
}

}  // namespace light
