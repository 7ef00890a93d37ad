// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"
#include "kernels/simd_dispatch.h"
#include "kernels/transpose.h"
#include "kernels/transpose_square.h"

namespace light {
namespace {

/// A permutation after axes of extent 1 are dropped and axes that stay neighbours are merged. In output order.
struct Permuted {
  Dims extents;
  Dims strides;  ///< of the input, in elements
};

Permuted Simplify(const Dims& dims, const Dims& perm) {
  const std::size_t rank = dims.rank();
  Dims pitch;
  pitch.Resize(rank);
  int64_t elements = 1;
  for (std::size_t d = rank; d-- > 0;) {
    pitch[d] = elements;
    elements *= dims[d];
  }
  Permuted result;
  result.extents.Resize(rank + 1);
  result.strides.Resize(rank + 1);
  std::size_t n = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto axis = static_cast<std::size_t>(perm[d]);
    if (dims[axis] == 1) continue;
    if (n > 0 && result.strides[n - 1] == dims[axis] * pitch[axis]) {
      result.extents[n - 1] *= dims[axis];
      result.strides[n - 1] = pitch[axis];
    } else {
      result.extents[n] = dims[axis];
      result.strides[n] = pitch[axis];
      ++n;
    }
  }
  if (n == 0) {
    result.extents[0] = 1;
    result.strides[0] = 1;
    n = 1;
  }
  result.extents.Resize(n);
  result.strides.Resize(n);
  return result;
}

// Offset in the input of output line `line`, counting over the axes before `axes`, `skip` excepted.
int64_t LineOffset(const Permuted& p, int64_t line, std::size_t axes, std::size_t skip) {
  int64_t offset = 0;
  for (std::size_t d = axes; d-- > 0;) {
    if (d == skip) continue;
    offset += line % p.extents[d] * p.strides[d];
    line /= p.extents[d];
  }
  return offset;
}

// The innermost axis stays: whole lines are copied.
template <class T>
void CopyLines(RuntimeContext& context, const Permuted& p, const T* from, T* to) {
  const std::size_t last = p.extents.rank() - 1;
  const int64_t length = p.extents[last], lines = Product(p.extents, 0, last);
  context.ParallelFor(lines, kMoveCost<T> * static_cast<double>(length) + 5, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line)
      CopyRun(from + LineOffset(p, line, last, last), length, to + line * length);
  });
}

// Another axis, `inner`, is the one that lies together in the input: square tiles, so that both sides use whole lines.
template <class T>
void TransposeTiles(RuntimeContext& context, const Permuted& p, std::size_t inner, const T* from, T* to) {
  constexpr int64_t kTile = 16;
  constexpr bool kHasSimd = sizeof(T) == sizeof(float);
  constexpr int64_t kBand = kHasSimd ? 4 * kTile : kTile;  // of rows of the output
  const std::size_t last = p.extents.rank() - 1;
  const int64_t columns = p.extents[last], column_stride = p.strides[last];
  const int64_t rows = p.extents[inner], row_pitch = Product(p.extents, inner + 1, last + 1);
  const int64_t bands = (rows + kBand - 1) / kBand;
  const int64_t planes = Product(p.extents, 0, last) / rows;
  const int64_t after = Product(p.extents, inner + 1, last);  // planes that one step along `inner` passes over
  context.ParallelFor(
      planes * bands, kMoveCost<T> * 4 * static_cast<double>(columns * std::min(kBand, rows)),
      [&](int64_t begin, int64_t end) {
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t plane = unit / bands, first = unit % bands * kBand;
          const int64_t band_end = std::min(first + kBand, rows);
          const T* source = from + LineOffset(p, plane, last, inner);
          T* target = to + (plane / after * rows * after + plane % after) * columns;
          if constexpr (kHasSimd) {
            Simd().transpose(reinterpret_cast<const float*>(source + first), column_stride,
                             reinterpret_cast<float*>(target + first * row_pitch), row_pitch,
                             static_cast<std::size_t>(columns), static_cast<std::size_t>(band_end - first));
            continue;
          }
          for (int64_t column = 0; column < columns; column += kTile) {
            const int64_t column_end = std::min(column + kTile, columns);
            if constexpr (!std::is_same_v<T, std::string>) {
              // By way of a small square: extents that are powers of two put a column's elements into one set of the
              // cache, which would lose each line again before its next element is due.
              if constexpr (sizeof(T) <= 2) {
                using U = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
                if (column_end - column == kTile && band_end - first == kTile) {
                  for (int64_t row = first; row < band_end; row += kSquare<U>)
                    for (int64_t c = column; c < column_end; c += kSquare<U>)
                      TransposeSquare<U>(source + row + c * column_stride, column_stride, target + row * row_pitch + c,
                                         row_pitch);
                  continue;
                }
              }
              T square[kTile][kTile];
              if (column_end - column == kTile && band_end - first == kTile) {
                for (int64_t c = 0; c < kTile; ++c)
                  std::memcpy(square[c], source + first + (column + c) * column_stride, sizeof(square[c]));
                for (int64_t row = 0; row < kTile; ++row)
                  for (int64_t c = 0; c < kTile; ++c) target[(first + row) * row_pitch + column + c] = square[c][row];
                continue;
              }
            }
            for (int64_t row = first; row < band_end; ++row) {
              T* out = target + row * row_pitch;
              const T* in = source + row;
              for (int64_t c = column; c < column_end; ++c) CopyOne(in[c * column_stride], out[c]);
            }
          }
        }
      });
}

class Transpose final : public KernelBase {
 public:
  explicit Transpose(const KernelInfo& info) : has_perm_(info.HasAttribute("perm")) { perm_.Assign(info.Ints("perm")); }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    const std::size_t rank = data.rank();
    Dims perm = perm_, dims, seen;
    if (!has_perm_) {
      perm.Resize(rank);
      std::iota(perm.data(), perm.data() + rank, 0);
      std::reverse(perm.data(), perm.data() + rank);
    }
    dims.Resize(rank);
    seen.Resize(rank);
    std::fill_n(seen.data(), rank, 0);
    bool valid = perm.rank() == rank;
    for (std::size_t d = 0; valid && d < rank; ++d) {
      valid = perm[d] >= 0 && perm[d] < static_cast<int64_t>(rank) && !seen[static_cast<std::size_t>(perm[d])];
      if (!valid) break;
      seen[static_cast<std::size_t>(perm[d])] = 1;
      dims[d] = data.dim(static_cast<std::size_t>(perm[d]));
    }
    if (!valid)
      FailArgument("perm: must be a permutation of the axes of " + Describe(data) + ", got " +
                   conversions::FormatExtents(perm));
    Tensor& out = context.Output(0, dims);
    if (data.element_count() == 0) return;
    TransposeElements(context, data.type(), data.dims(), perm, data.data(), out.data());
  }

 private:
  bool has_perm_;
  Dims perm_;
};

}  // namespace

void TransposeElements(RuntimeContext& context, ElementType type, const Dims& dims, const Dims& perm, const void* from,
                       void* to) {
  const Permuted p = Simplify(dims, perm);
  WithMoved(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::size_t last = p.extents.rank() - 1;
    if (p.strides[last] == 1) return CopyLines<T>(context, p, static_cast<const T*>(from), static_cast<T*>(to));
    std::size_t inner = 0;
    while (p.strides[inner] != 1) ++inner;
    TransposeTiles<T>(context, p, inner, static_cast<const T*>(from), static_cast<T*>(to));
  });
}

void RegisterTranspose(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Transpose", 1, 25, {{"T", WholeByteTensors()}}), MakeKernel<Transpose>);
}

}  // namespace light
