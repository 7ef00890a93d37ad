// SPDX-License-Identifier: Apache-2.0
#include "kernels/offsets.h"

#include "conversions/checked_size.h"
#include "kernels/arguments.h"

namespace light {
namespace {

Dims Pitches(const Dims& dims) {
  Dims pitch;
  pitch.Resize(dims.rank());
  int64_t elements = 1;
  for (std::size_t d = dims.rank(); d-- > 0; elements *= dims[d]) pitch[d] = elements;
  return pitch;
}

void CheckNotEmpty(const Tensor& data, const Tensor& indices) {
  if (data.element_count() == 0)
    FailArgument(InputLabel(1, "indices") + ": must select nothing of " + Describe(data) + ", got " +
                 Describe(indices));
}

int64_t* Scratch(RuntimeContext& context, int64_t count) {
  // Indices without elements may have any extents.
  const auto bytes = conversions::CheckedByteSize(ElementType::kInt64, count);
  if (!bytes) FailArgument(InputLabel(1, "indices") + ": must fit in memory, got " + std::to_string(count) + " tuples");
  return static_cast<int64_t*>(context.TemporaryBuffer(*bytes));
}

template <class Index>
void FillElementOffsets(const Dims& data, const Tensor& indices, std::size_t axis, int64_t* offsets) {
  const Index* index = indices.Data<Index>();
  const Dims pitch = Pitches(data);
  const std::size_t last = data.rank() - 1;
  const int64_t length = indices.dim(last), lines = indices.element_count() / length;
  const int64_t extent = data[axis], step = pitch[axis], advance = axis == last ? 0 : 1;
  for (int64_t line = 0; line < lines; ++line) {
    int64_t base = 0, rest = line;
    for (std::size_t d = last; d-- > 0;) {
      if (d != axis) base += rest % indices.dim(d) * pitch[d];
      rest /= indices.dim(d);
    }
    for (int64_t i = 0; i < length; ++i)
      offsets[i] = base + i * advance + IndexFromFront(index[i], axis, extent) * step;
    offsets += length;
    index += length;
  }
}

}  // namespace

void FailIndex(int64_t index, std::size_t axis, int64_t extent) {
  FailArgument(InputLabel(1, "indices") + ": must be in [" + std::to_string(-extent) + ", " +
               std::to_string(extent - 1) + "] for axis " + std::to_string(axis) + ", got " + std::to_string(index));
}

std::span<const int64_t> ElementOffsets(RuntimeContext& context, const Tensor& data, const Tensor& indices,
                                        int64_t signed_axis) {
  const auto axis = static_cast<std::size_t>(NormalizeAxis(signed_axis, data.rank()));
  bool fits = indices.rank() == data.rank();
  for (std::size_t d = 0; fits && d < data.rank(); ++d) fits = d == axis || indices.dim(d) <= data.dim(d);
  if (!fits)
    FailArgument(InputLabel(1, "indices") + ": extents must be at most those of " + Describe(data) +
                 " in every axis but " + std::to_string(axis) + ", got " + Describe(indices));
  const int64_t count = indices.element_count();
  if (count == 0) return {};
  CheckNotEmpty(data, indices);
  int64_t* offsets = Scratch(context, count);
  if (indices.type() == ElementType::kInt32)
    FillElementOffsets<int32_t>(data.dims(), indices, axis, offsets);
  else
    FillElementOffsets<int64_t>(data.dims(), indices, axis, offsets);
  return {offsets, static_cast<std::size_t>(count)};
}

SliceOffsets FindSlices(RuntimeContext& context, const Tensor& data, const Tensor& indices, int64_t batch) {
  if (indices.rank() == 0)
    FailArgument(InputLabel(1, "indices") + ": must have at least rank 1, got " + Describe(indices));
  const std::size_t rank = data.rank(), leading = indices.rank() - 1;
  if (batch < 0 || batch > static_cast<int64_t>(std::min(leading, rank)))
    FailArgument("batch_dims: must be at least 0 and less than the ranks of data and indices, got " +
                 std::to_string(batch));
  const auto first = static_cast<std::size_t>(batch);
  const int64_t tuple = indices.dim(leading);
  if (tuple > static_cast<int64_t>(rank - first))
    FailArgument(InputLabel(1, "indices") + ": the last extent must be at most " + std::to_string(rank - first) +
                 " for data " + Describe(data) + ", got " + Describe(indices));
  for (std::size_t d = 0; d < first; ++d)
    if (indices.dim(d) != data.dim(d))
      FailArgument(InputLabel(1, "indices") + ": the first " + std::to_string(first) + " extents must be those of " +
                   Describe(data) + ", got " + Describe(indices));

  const std::size_t inner = first + static_cast<std::size_t>(tuple);
  SliceOffsets slices;
  slices.dims.Resize(leading + rank - inner);
  std::copy_n(indices.dims().data(), leading, slices.dims.data());
  std::copy(data.dims().data() + inner, data.dims().data() + rank, slices.dims.data() + leading);
  const auto total = conversions::CheckedElementCount(slices.dims);
  if (!total)
    FailArgument(InputLabel(1, "indices") + ": the slices must fit in memory, got " + Describe(indices) + " for data " +
                 Describe(data));
  if (*total == 0) return slices;
  CheckNotEmpty(data, indices);

  slices.length = Product(data.dims(), inner, rank);
  const int64_t count = Product(indices.dims(), 0, leading), per_batch = Product(indices.dims(), first, leading);
  const int64_t batch_pitch = Product(data.dims(), first, rank);
  int64_t* starts = Scratch(context, count);
  const Dims pitch = Pitches(data.dims());
  const int64_t* index = indices.Data<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = i / per_batch * batch_pitch;
    for (std::size_t d = first; d < inner; ++d) at += IndexFromFront(*index++, d, data.dim(d)) * pitch[d];
    starts[i] = at;
  }
  slices.starts = {starts, static_cast<std::size_t>(count)};
  return slices;
}

}  // namespace light
