// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantization.h"

#include "conversions/shape.h"

namespace light {

const Tensor& SingleElement(RuntimeContext& context, std::size_t i, const char* name) {
  const Tensor& tensor = Required(context, i, name);
  if (tensor.element_count() != 1) FailArgument(InputLabel(i, name) + ": must be a scalar, got " + Describe(tensor));
  return tensor;
}

ScaleLayout::ScaleLayout(const Tensor& x, const Tensor& scale, const char* scale_name, const Tensor* zero,
                         const char* zero_name, int64_t axis_attribute, int64_t block_size) {
  if (zero && !zero->dims().Equals(scale.dims()) && (zero->element_count() != 1 || scale.element_count() != 1))
    FailArgument(InputLabel(2, zero_name) + ": must have the extents of the scale " + Describe(scale) + ", got " +
                 Describe(*zero));
  if (block_size == 0 && scale.rank() <= 1 && scale.element_count() == 1) {
    inner = std::max<int64_t>(x.element_count(), 1);
    return;
  }
  const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_attribute, x.rank()));
  extent = x.dim(axis);
  inner = Product(x.dims(), axis + 1, x.rank());
  if (block_size == 0) {
    if (scale.rank() != 1 || scale.dim(0) != extent)
      FailArgument(InputLabel(1, scale_name) + ": must be a scalar or have extents [" + std::to_string(extent) +
                   "], as axis " + std::to_string(axis) + " of " + Describe(x) + ", got " + Describe(scale));
    return;
  }
  blocked = true;
  block = block_size;
  blocks = extent / block + (extent % block != 0);
  Dims wanted = x.dims();
  wanted[axis] = blocks;
  if (!scale.dims().Equals(wanted))
    FailArgument(InputLabel(1, scale_name) + ": must have extents " + conversions::FormatExtents(wanted) +
                 " for blocks of " + std::to_string(block) + " along axis " + std::to_string(axis) + " of " +
                 Describe(x) + ", got " + Describe(scale));
}

}  // namespace light
