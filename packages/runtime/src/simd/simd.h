// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by the objects that are compiled for one instruction set each, so: C headers only, and nothing that could
// become a function of its own in such an object.
#include <stddef.h>
#include <stdint.h>

namespace light::simd {

/// A product C = alpha * A * B with B packed, and what happens to its result on the way to memory.
struct GemmArgs {
  const float* a;  ///< element (i, k) at a[i * a_row + k * a_column]
  ptrdiff_t a_row;
  ptrdiff_t a_column;
  const float* b;  ///< panels of SimdTable::nr columns: [panel][k][nr], the last one filled up with zeros
  float* c;        ///< element (i, j) at c[i * c_row + j]
  ptrdiff_t c_row;
  size_t n;
  size_t k;
  float alpha;
  const float* column_bias;         ///< [n] or null; added to every row
  const float* row_bias;            ///< one per row, or null; added to every column
  bool accumulate;                  ///< add to what c holds
  bool relu;                        ///< after all else
  const float* residual = nullptr;  ///< lies as c does, or null; added behind the biases
  bool reversed = false;            ///< take the panels from the last to the first
};

/// A product C = A * B of doubles. Each is described as A in GemmArgs.
struct DoubleGemmArgs {
  const double* a;
  ptrdiff_t a_row;
  ptrdiff_t a_column;
  const double* b;
  ptrdiff_t b_row;
  ptrdiff_t b_column;
  double* c;  ///< element (i, j) at c[i * c_row + j]
  ptrdiff_t c_row;
  size_t n;
  size_t k;
};

/// A product C = (A - row_zero) * (B - column_zero) of 8-bit integers, modulo 2^32.
struct IntegerGemmArgs {
  const int8_t* a;   ///< rows of 4 * k_groups bytes; zeros fill them up
  const uint8_t* b;  ///< panels of SimdTable::nr columns: [panel][k_groups][nr][4]
  int32_t* c;        ///< rows of n numbers
  size_t n;
  size_t k_groups;
  const int32_t* row_zero;
  const int32_t* row_sum;  ///< of A's elements
  const int32_t* column_zero;
  const int32_t* column_sum;  ///< of B's elements less their zero points
};

/// What quantized numbers of 8 bits may be, and which of them is 0.
struct QuantizedRange {
  int32_t low;
  int32_t high;
  int32_t zero;
};

/// How a line of an input is laid out for windows that move over it: padded, and, if they move by more than one
/// element, split into phases: element i of the padded line at [i % stride][i / stride]. Neighbours in a phase belong
/// to neighbouring windows.
struct LineLayout {
  ptrdiff_t rows;  ///< of the input; lines before and behind them are zeros
  size_t width;    ///< of the line without padding
  size_t pad;      ///< zeros before it
  size_t stride;
  size_t phases;       ///< the first ones, which are needed
  size_t phase_pitch;  ///< elements of each; zeros fill it up
};

/// Part of a panel whose columns lie side by side in the output.
struct PatchPiece {
  size_t from;  ///< of the lines: where the first column's window begins
  size_t at;    ///< the first column in the panel
  size_t length;
};

/// Patches for one panel of a packed matrix [channel, kernel row, kernel column], copied from lines. Reads up to
/// SimdTable::nr elements more than are asked for.
struct PatchArgs {
  const float* lines;
  size_t channels;
  size_t channel_pitch;
  size_t kernel_rows;
  size_t kernel_row_pitch;
  size_t kernel_width;
  const size_t* columns;  ///< offset of each kernel column in a line
  const PatchPiece* piece;
  size_t pieces;
  float* packed;
};

/// Output lines of one filter that sees one channel. Reads up to SimdTable::nr elements more than are asked for.
struct DepthwiseArgs {
  const float* lines;
  size_t row_pitch;       ///< from one output row's lines to the next's
  const size_t* offsets;  ///< of each tap, from the first window's beginning
  const float* weights;
  size_t taps;
  float bias;
  size_t rows;
  size_t columns;
  float* y;               ///< [rows, columns]
  const float* residual;  ///< added, lies as y does; or null
  bool relu;
};

/// Outputs side by side of one row, with the channels last, of filters that each see the channel of their number.
struct DepthwisePixelsArgs {
  const float* x;                ///< where the first output's window begins
  ptrdiff_t step;                ///< to the next output's
  const ptrdiff_t* offsets;      ///< of each tap from there, in x
  const size_t* weight_offsets;  ///< and in `weights`, which has one row of channels per tap
  const float* weights;
  size_t taps;
  size_t columns;
  size_t channels;
  const float* bias;      ///< [channels] or null
  float* y;               ///< [columns, channels]
  const float* residual;  ///< added, lies as y does; or null
  bool relu;
};

/// Tiles of Winograd's convolution that lie side by side: (tile + 2) x (tile + 2) elements each of an input, `tile`
/// columns apart. P = (tile + 2) * (tile + 2) numbers come of each.
struct WinogradInput {
  size_t tile;         ///< 2 or 4
  bool channels_last;  ///< x holds [height, width, channels], else planes of [height, width]
  const float* x;      ///< the first channel
  const float* x_end;  ///< the end of the memory that may be read
  ptrdiff_t plane;
  ptrdiff_t height;
  ptrdiff_t width;
  ptrdiff_t row;  ///< of the tiles' first elements; may lie in the padding, as the columns may
  ptrdiff_t column;
  size_t channels;
  size_t tiles;
  float* v;           ///< element (p, tile, channel), p < P, at v[p * position_pitch + tile * tile_pitch + channel]
  size_t tile_pitch;  ///< a multiple of SimdTable::nr, up to which channels are filled up
  size_t position_pitch;
};

/// Tiles side by side again: from P numbers each to tile x tile elements of an output.
struct WinogradOutput {
  size_t tile;         ///< 2 or 4
  bool channels_last;  ///< of y; `plane` is the number of all filters then
  const float* m;      ///< element (p, tile, filter) at m[p * position_pitch + tile * tile_pitch + filter]
  size_t tile_pitch;
  size_t position_pitch;
  size_t tiles;
  size_t filters;
  size_t rows;     ///< real ones: at most `tile`
  size_t columns;  ///< real ones: at most tile * tiles, and more than tile * (tiles - 1)
  float* y;        ///< the first element of the first tile
  ptrdiff_t plane;
  ptrdiff_t width;
  const float* bias;      ///< [filters] or null
  const float* residual;  ///< added, lies as y does; or null
  bool relu;
};

using IntegerGemmFn = void (*)(const IntegerGemmArgs* args, size_t row_begin, size_t row_end, size_t panel_begin,
                               size_t panel_end);
using UnaryFn = void (*)(const float* x, float* y, size_t n);
using BinaryFn = void (*)(const float* a, const float* b, float* y, size_t n);

/// The float32 functions of one instruction set. Pointers need no alignment beyond 4 bytes. An output may be the very
/// address of an input, and overlaps no input otherwise.
struct SimdTable {
  const char* name;
  size_t mr;  ///< rows that the product computes at once
  size_t nr;  ///< columns of a packed panel

  /// Packs panels [panel_begin, panel_end) of B, whose element (k, j) is at b[k * row + j * column].
  void (*pack_b)(const float* b, ptrdiff_t row, ptrdiff_t column, size_t k, size_t n, size_t panel_begin,
                 size_t panel_end, float* packed);
  /// Computes the rows and panels given of the product.
  void (*gemm)(const GemmArgs* args, size_t row_begin, size_t row_end, size_t panel_begin, size_t panel_end);

  /// The same of doubles, whose panels of `double_nr` columns are not packed ahead.
  size_t double_nr;
  void (*double_gemm)(const DoubleGemmArgs* args, size_t row_begin, size_t row_end, size_t panel_begin,
                      size_t panel_end);

  IntegerGemmFn integer_gemm;
  IntegerGemmFn integer_gemm_vnni;  ///< for processors with AVX512_VNNI; null elsewhere

  UnaryFn exp, log, tanh, erf, sigmoid, sqrt, relu, neg, abs;
  UnaryFn sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh;
  UnaryFn gelu, mish, softplus, softsign, reciprocal;
  UnaryFn sign;                ///< 0 of either zero
  UnaryFn round, floor, ceil;  ///< halves round to even
  BinaryFn add, sub, mul, div;
  BinaryFn max, min;  ///< a NaN in either wins
  BinaryFn prelu;     ///< a * b where a < 0, else a
  // One operand a scalar, read from its address.
  BinaryFn add_scalar, mul_scalar, sub_scalar, scalar_sub, div_scalar, scalar_div, max_scalar, min_scalar, prelu_scalar;

  BinaryFn threshold_scalar;  ///< a where a > b, else 0

  /// y = gamma * (x < 0 ? alpha * (e^(x / divisor) - 1) : x).
  void (*elu)(const float* x, float divisor, float alpha, float gamma, float* y, size_t n);
  /// y = x + bias below -bound, x - bias above bound, else 0.
  void (*shrink)(const float* x, float bias, float bound, float* y, size_t n);
  /// y += a * x.
  void (*axpy)(float a, const float* x, float* y, size_t n);
  /// y = x * scale + shift.
  void (*affine)(const float* x, float scale, float shift, float* y, size_t n);

  /// Of binary16; numbers are rounded half to even.
  void (*from_half)(const uint16_t* x, float* y, size_t n);
  void (*to_half)(const float* x, uint16_t* y, size_t n);
  /// The same of bfloat16, the upper half of a float.
  void (*from_bfloat)(const uint16_t* x, float* y, size_t n);
  void (*to_bfloat)(const float* x, uint16_t* y, size_t n);
  void (*to_int32)(const float* x, int32_t* y, size_t n);  ///< truncated; beyond the type its nearest; 0 of a NaN
  /// As above, of numbers that `low` and `high` bound.
  void (*to_bytes)(const float* x, float low, float high, uint8_t* y, size_t n);
  /// y = x / scale, rounded half to even, moved by the zero point and kept in the range; the lowest of a NaN.
  void (*quantize)(const float* x, float scale, const QuantizedRange* range, uint8_t* y, size_t n);
  /// As above, of x times a factor: one for all, or one each.
  void (*requantize)(const int32_t* x, const double* factors, bool one_factor, const QuantizedRange* range, uint8_t* y,
                     size_t n);

  float (*reduce_sum)(const float* x, size_t n);
  /// The same of `rows` rows of `n` elements that lie one behind the other.
  void (*reduce_sum_rows)(const float* x, size_t rows, size_t n, float* sums);
  float (*reduce_max)(const float* x, size_t n);  ///< -inf if n is 0; a NaN wins
  float (*reduce_min)(const float* x, size_t n);  ///< inf if n is 0; a NaN wins
  // In float64.
  double (*sum)(const float* x, size_t n);
  double (*sum_of_magnitudes)(const float* x, size_t n);
  double (*sum_of_squares)(const float* x, double center, size_t n);  ///< of the distances from `center`
  /// Softmax of each row of [rows, n].
  void (*softmax)(const float* x, float* y, size_t rows, size_t n);
  /// Normalises each row of [rows, n]; `bias`, `mean` and `inverse_deviation` (one per row) may be null.
  void (*layer_norm)(const float* x, const float* scale, const float* bias, float epsilon, float* y, float* mean,
                     float* inverse_deviation, size_t rows, size_t n);
  /// y[j * y_row + i] = x[i * x_row + j] for the i below `rows` and the j below `columns`. Bits are moved: any elements
  /// of 4 bytes will do.
  void (*transpose)(const float* x, ptrdiff_t x_row, float* y, ptrdiff_t y_row, size_t rows, size_t columns);

  /// Lays out the lines [begin, end) of the plane x. Spoils up to `nr` elements behind them.
  void (*pad_lines)(const float* x, const LineLayout* layout, ptrdiff_t begin, ptrdiff_t end, float* y);
  void (*copy_patches)(const PatchArgs* args);
  void (*depthwise)(const DepthwiseArgs* args);
  void (*depthwise_pixels)(const DepthwisePixelsArgs* args);
  void (*winograd_input)(const WinogradInput* args);
  void (*winograd_output)(const WinogradOutput* args);
};

}  // namespace light::simd

// The only symbols of the instruction-set libraries.
extern "C" const light::simd::SimdTable light_simd_baseline;
extern "C" const light::simd::SimdTable light_simd_avx2;
extern "C" const light::simd::SimdTable light_simd_avx512;
