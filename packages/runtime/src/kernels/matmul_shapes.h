// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/arguments.h"

namespace light {

/// numpy's matmul: the last two axes are matrices, the axes before them broadcast; a vector is a row on the left and a
/// column on the right, and its axis does not appear in the result.
struct MatMulShapes {
  Dims out;
  Dims a_batch, b_batch;
  int64_t m = 1, n = 1, k = 1;

  /// Throws Error, naming B as input `b_input`, if they cannot be multiplied.
  MatMulShapes(const Tensor& a, const Tensor& b, std::size_t b_input = 1);

  // Matrices on either side, and products.
  int64_t a_count() const { return Product(a_batch, 0, a_batch.rank()); }
  int64_t b_count() const { return Product(b_batch, 0, b_batch.rank()); }
  int64_t count() const { return Product(out, 0, std::max(a_batch.rank(), b_batch.rank())); }
  /// Which matrix of A, at 2 * i, and of B, behind it, product i takes.
  const int64_t* Pairs(RuntimeContext& context) const;
};

}  // namespace light
