// SPDX-License-Identifier: Apache-2.0
#include "kernels/einsum_product.h"

#include <algorithm>
#include <utility>

#include "kernels/matrix_product.h"
#include "kernels/scratch.h"

namespace light {
namespace {

/// Labels that are walked as one axis.
struct Axis {
  Dims labels;
  int64_t extent = 1;

  void Add(int64_t label, int64_t label_extent) {
    labels.Resize(labels.rank() + 1);
    labels[labels.rank() - 1] = label;
    extent *= label_extent;
  }
  bool Has(int64_t label) const {
    return std::find(labels.data(), labels.data() + labels.rank(), label) != labels.data() + labels.rank();
  }
  /// The stride of the axis in memory with these strides by label; -1 if it has none.
  int64_t Stride(const Dims& extents, const Dims& strides) const {
    int64_t stride = 0, next = 0;
    bool is_first = true;
    for (std::size_t i = labels.rank(); i-- > 0;) {
      const auto l = static_cast<std::size_t>(labels[i]);
      if (extents[l] == 1) continue;
      if (is_first)
        stride = strides[l];
      else if (strides[l] != next)
        return -1;
      is_first = false;
      next = strides[l] * extents[l];
    }
    return stride;
  }
};

/// [matrices, rows, columns] in memory.
struct Matrices {
  const float* data;
  int64_t pitch, row, column;
};

/// Where element `index` of an axis lies.
int64_t Offset(const Axis& axis, const Dims& extents, const Dims& strides, int64_t index) {
  int64_t offset = 0;
  for (std::size_t i = axis.labels.rank(); i-- > 0;) {
    const auto l = static_cast<std::size_t>(axis.labels[i]);
    offset += index % extents[l] * strides[l];
    index /= extents[l];
  }
  return offset;
}

/// Calls `element(position, offset)` for the dense positions of [matrices, rows, columns].
template <class Element>
void ForEachElement(RuntimeContext& context, const Dims& extents, const Dims& strides, const Axis (&axes)[3],
                    Element element) {
  const int64_t columns = axes[2].extent;
  auto* inner = Scratch<int64_t>(context, columns);
  for (int64_t i = 0; i < columns; ++i) inner[i] = Offset(axes[2], extents, strides, i);
  context.ParallelFor(axes[0].extent * axes[1].extent, static_cast<double>(columns) + 10,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t line = begin; line < end; ++line) {
                          const int64_t start = Offset(axes[0], extents, strides, line / axes[1].extent) +
                                                Offset(axes[1], extents, strides, line % axes[1].extent);
                          for (int64_t i = 0; i < columns; ++i) element(line * columns + i, start + inner[i]);
                        }
                      });
}

/// The operand as it lies, or a copy where its axes cannot be walked with one stride each.
Matrices View(RuntimeContext& context, const Dims& extents, const EinsumOperand<float>& operand,
              const Axis (&axes)[3]) {
  Matrices m{operand.data, axes[0].Stride(extents, operand.strides), axes[1].Stride(extents, operand.strides),
             axes[2].Stride(extents, operand.strides)};
  if (m.pitch >= 0 && m.row >= 0 && m.column >= 0) return m;
  const int64_t size = axes[1].extent * axes[2].extent;
  auto* copy = Scratch<float>(context, MultiplyExtents(axes[0].extent, size));
  ForEachElement(context, extents, operand.strides, axes,
                 [&](int64_t position, int64_t offset) { copy[position] = operand.data[offset]; });
  return {copy, size, axes[2].extent, 1};
}

}  // namespace

bool EinsumByProducts(RuntimeContext& context, const Dims& extents, const EinsumOperand<float>& first,
                      const EinsumOperand<float>& second, const Dims& order, float* out) {
  const EinsumOperand<float>*a = &first, *b = &second;
  Axis batch, m, n, k;
  Dims pitches = extents;
  int64_t pitch = 1;
  for (std::size_t d = order.rank(); d-- > 0;) {
    pitches[static_cast<std::size_t>(order[d])] = pitch;
    pitch *= extents[static_cast<std::size_t>(order[d])];
  }
  for (std::size_t d = 0; d < order.rank(); ++d) {
    const auto l = static_cast<std::size_t>(order[d]);
    if (!a->present[l] && !b->present[l]) return false;
    (a->present[l] && b->present[l] ? batch : a->present[l] ? m : n).Add(order[d], extents[l]);
  }
  for (std::size_t l = 0; l < extents.rank(); ++l) {
    const auto label = static_cast<int64_t>(l);
    if (batch.Has(label) || m.Has(label) || n.Has(label) || (!a->present[l] && !b->present[l])) continue;
    if (!a->present[l] || !b->present[l]) return false;
    k.Add(label, extents[l]);
  }
  constexpr int64_t kLeast = 512;  // products of one matrix
  if (pitch == 0 || k.extent < 2 || m.extent * n.extent * k.extent < kLeast) return false;
  if (order.rank() > 0 && m.Has(order[order.rank() - 1])) {  // columns lie together in the output
    std::swap(a, b);
    std::swap(m, n);
  }
  const Matrices left = View(context, extents, *a, {batch, m, k}), right = View(context, extents, *b, {batch, k, n});
  const float* packed =
      PackForRun(context, {right.data, right.row, right.column}, right.pitch, batch.extent, k.extent, n.extent);
  const int64_t size = PackedSize(k.extent, n.extent);
  Matrices result{out, batch.Stride(extents, pitches), m.Stride(extents, pitches), n.Stride(extents, pitches)};
  const bool is_placed = result.pitch >= 0 && result.row >= 0 && (result.column == 1 || n.extent == 1);
  float* to = is_placed ? out : Scratch<float>(context, pitch);
  if (!is_placed) result = {to, m.extent * n.extent, n.extent, 1};
  RunProducts(context, batch.extent, m.extent, [&](int64_t i) {
    simd::GemmArgs args{};
    args.a = left.data + i * left.pitch;
    args.a_row = left.row;
    args.a_column = left.column;
    args.b = packed + i * size;
    args.c = to + i * result.pitch;
    args.c_row = result.row;
    args.n = static_cast<std::size_t>(n.extent);
    args.k = static_cast<std::size_t>(k.extent);
    args.alpha = 1;
    return args;
  });
  if (!is_placed)
    ForEachElement(context, extents, pitches, {batch, m, n},
                   [&](int64_t position, int64_t offset) { out[offset] = to[position]; });
  return true;
}

}  // namespace light
