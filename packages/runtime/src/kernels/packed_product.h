// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/matrix_product.h"

namespace light {

/// A kernel of a product whose right side may be a constant that it has packed.
class PackedProduct : public KernelBase {
 public:
  /// The right side; empty if it is no constant.
  const PackedMatrices& packed() const noexcept { return packed_; }

 protected:
  PackedMatrices packed_;
};

}  // namespace light
