// SPDX-License-Identifier: Apache-2.0
#include "kernels/broadcast.h"

#include <string>

#include "conversions/checked_size.h"
#include "conversions/shape.h"
#include "light/error.h"

namespace light {

void WidenExtents(Dims& out, const Dims& dims, std::size_t i) {
  if (dims.rank() > out.rank()) {
    const std::size_t old = out.rank(), added = dims.rank() - old;
    out.Resize(dims.rank());
    std::copy_backward(out.data(), out.data() + old, out.data() + dims.rank());
    std::fill_n(out.data(), added, 1);
  }
  for (std::size_t d = 0; d < dims.rank(); ++d) {
    const int64_t extent = out[out.rank() - dims.rank() + d];
    if (dims[d] != extent && dims[d] != 1 && extent != 1)
      throw Error(ErrorCode::kInvalidArgument,
                  "input " + std::to_string(i) + ": extents must be equal or 1 to broadcast with " +
                      conversions::FormatExtents(out) + ", got " + conversions::FormatExtents(dims));
  }
  for (std::size_t d = 0; d < dims.rank(); ++d)
    if (dims[d] != 1) out[out.rank() - dims.rank() + d] = dims[d];
}

BroadcastPlan::BroadcastPlan(std::span<const Dims* const> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) WidenExtents(out, *inputs[i], i);
  const std::size_t rank = out.rank();
  const auto count = conversions::CheckedElementCount(out);
  if (!count)
    throw Error(ErrorCode::kInvalidArgument,
                "output 0: the broadcast size must fit in memory, got " + conversions::FormatExtents(out));
  total = *count;
  if (total == 0) {  // nothing to walk, and the other extents may multiply to any number
    extents.Resize(1);
    extents[0] = 0;
    for (Dims& s : strides) {
      s.Resize(1);
      s[0] = 0;
    }
    return;
  }

  // Strides of the inputs along the output, then merged from the inside out; kept reversed until the end.
  std::array<int64_t, kMaxInputs> pitch;
  pitch.fill(1);
  std::size_t merged = 0;
  const std::size_t room = std::max<std::size_t>(rank, 1);
  extents.Resize(room);
  for (Dims& s : strides) s.Resize(room);
  for (std::size_t d = rank; d-- > 0;) {
    if (out[d] == 1) continue;
    std::array<int64_t, kMaxInputs> stride{};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Dims& dims = *inputs[i];
      const std::size_t missing = rank - dims.rank();
      const int64_t own = d < missing ? 1 : dims[d - missing];
      stride[i] = own == 1 ? 0 : pitch[i];
      pitch[i] *= own;
    }
    bool merge = merged > 0;
    for (std::size_t i = 0; merge && i < inputs.size(); ++i)
      merge = stride[i] == strides[i][merged - 1] * extents[merged - 1];
    if (merge) {
      extents[merged - 1] *= out[d];
    } else {
      extents[merged] = out[d];
      for (std::size_t i = 0; i < kMaxInputs; ++i) strides[i][merged] = stride[i];
      ++merged;
    }
  }
  if (merged == 0) {
    extents[0] = 1;
    for (Dims& s : strides) s[0] = 0;
    merged = 1;
  }
  extents.Resize(merged);
  std::reverse(extents.data(), extents.data() + merged);
  for (Dims& s : strides) {
    s.Resize(merged);
    std::reverse(s.data(), s.data() + merged);
  }
}

}  // namespace light
