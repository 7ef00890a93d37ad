// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/held_weights.h"
#include "kernels/simd_dispatch.h"
#include "light/runtime_context.h"
#include "light/tensor.h"

namespace light {

// Products of matrices of int8 or uint8, exact modulo 2^32. The left side is held as int8 and the right side as uint8:
// where a matrix has the other type, its elements and its zero points are moved by 128.

/// The right side, packed for the vector library.
struct PackedBytes {
  const uint8_t* panels = nullptr;
  const int32_t* sums = nullptr;  ///< of each column, as it is held
};

/// Right sides that are constant, packed for as long as a kernel lives.
class ConstantBytes {
 public:
  bool empty() const noexcept { return held_.empty(); }
  /// Packs argument `i`, which is constant: `count` dense matrices [k, n] of int8 or uint8.
  void Pack(const KernelInfo& info, std::size_t i, int64_t count, int64_t k, int64_t n);
  PackedBytes matrix(int64_t i) const;

 private:
  HeldWeights held_;
  int64_t count_ = 0, panel_bytes_ = 0, n_ = 0;
};

/// Bytes that the panels of a packed matrix [k, n] take.
int64_t PackedByteSize(int64_t k, int64_t n);

/// Packs one dense matrix [k, n] into scratch memory, on the threads of the run.
PackedBytes PackBytesForRun(RuntimeContext& context, const void* b, bool is_signed, int64_t k, int64_t n);

/// The left side: rows of k bytes, filled up, and the sums of their elements.
struct ByteRows {
  const int8_t* rows;
  const int32_t* sums;
};
/// Elements from one row to the next.
inline int64_t RowPitch(int64_t k) { return (k + 3) / 4 * 4; }

/// Copies `m` dense rows of k elements into scratch memory.
ByteRows HoldRows(RuntimeContext& context, const void* a, bool is_signed, int64_t m, int64_t k);

/// Left sides that are constant.
class ConstantRows {
 public:
  bool empty() const noexcept { return held_.empty(); }
  /// Copies argument `i`, which is constant: `m` dense rows of k elements of int8 or uint8.
  void Hold(const KernelInfo& info, std::size_t i, int64_t m, int64_t k);
  ByteRows rows() const;

 private:
  HeldWeights held_;
  int64_t m_ = 0, pitch_ = 0;
};

/// C = (A - row_zero) * (B - column_zero), dense. The zero points are those of the matrices as they are held.
void MultiplyBytes(RuntimeContext& context, const ByteRows& a, const int32_t* row_zero, const PackedBytes& b,
                   const int32_t* column_zero, int64_t m, int64_t n, int64_t k, int32_t* c);

}  // namespace light
