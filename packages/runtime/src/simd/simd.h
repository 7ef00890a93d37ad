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
};

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

  UnaryFn exp, log, tanh, erf, sigmoid, sqrt, relu, neg, abs;
  BinaryFn add, sub, mul, div;
  BinaryFn max, min;  ///< a NaN in either wins
  BinaryFn prelu;     ///< a * b where a < 0, else a
  // One operand a scalar, read from its address.
  BinaryFn add_scalar, mul_scalar, sub_scalar, scalar_sub, div_scalar, scalar_div, max_scalar, min_scalar, prelu_scalar;

  /// y += a * x.
  void (*axpy)(float a, const float* x, float* y, size_t n);
  /// y = x * scale + shift.
  void (*affine)(const float* x, float scale, float shift, float* y, size_t n);

  float (*reduce_sum)(const float* x, size_t n);
  float (*reduce_max)(const float* x, size_t n);  ///< -inf if n is 0; a NaN wins
  float (*reduce_min)(const float* x, size_t n);  ///< inf if n is 0; a NaN wins
  /// Softmax of each row of [rows, n].
  void (*softmax)(const float* x, float* y, size_t rows, size_t n);
  /// Normalises each row of [rows, n]; `bias`, `mean` and `inverse_deviation` (one per row) may be null.
  void (*layer_norm)(const float* x, const float* scale, const float* bias, float epsilon, float* y, float* mean,
                     float* inverse_deviation, size_t rows, size_t n);
};

}  // namespace light::simd

// The only symbols of the instruction-set libraries.
extern "C" const light::simd::SimdTable light_simd_baseline;
extern "C" const light::simd::SimdTable light_simd_avx2;
extern "C" const light::simd::SimdTable light_simd_avx512;
