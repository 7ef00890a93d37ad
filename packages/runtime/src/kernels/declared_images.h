// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/arguments.h"
#include "light/kernel_info.h"

namespace light {

/// The extents of images with their channels last that the model promises: what later nodes do with them element by
/// element is right only if it keeps its word.
class DeclaredImages {
 public:
  explicit DeclaredImages(const KernelInfo& info) {
    const ValueType* type = info.layouts().output_last ? info.OutputType(0) : nullptr;
    if (type != nullptr) shape_ = type->shape;
  }
  /// Throws Error if the extents of the result, [batch, channels, height, width], are others.
  void Check(std::span<const int64_t> dims) const {
    for (std::size_t d = 1; d < shape_.rank() && d < dims.size(); ++d) {
      if (shape_[d].is_known() && shape_[d].extent() != dims[d])
        FailArgument("output 0: the model declares the extents " + shape_.ToString() + ", but they are " +
                     conversions::FormatExtents(dims));
    }
  }

 private:
  Shape shape_;
};

}  // namespace light
