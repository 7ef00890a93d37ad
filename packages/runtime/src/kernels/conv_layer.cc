// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv_layer.h"

#include "conversions/shape.h"

namespace light {

Dims ConvLayer::OutputDims() const { return window.OutputDims(batch, filters); }

ConvAttributes::ConvAttributes(const KernelInfo& info) : window_(info), groups_(info.Int("group", 1)) {
  if (groups_ < 1)
    info.Fail(ErrorCode::kInvalidGraph, "attribute group: must be at least 1, got " + std::to_string(groups_));
}

ConvLayer ConvAttributes::Resolve(const Tensor& x, std::size_t w_input, const Tensor& weights, std::size_t bias_input,
                                  const Tensor* bias) const {
  const std::string label = InputLabel(w_input, "W") + ": ";
  if (weights.rank() != x.rank() || x.rank() < 3)
    FailArgument(label + "must have the rank of " + Describe(x) + " and at least 3, got " + Describe(weights));
  const auto kernel = weights.dims().span().subspan(2);
  if (!window_.kernel().empty() &&
      !std::equal(kernel.begin(), kernel.end(), window_.kernel().begin(), window_.kernel().end()))
    FailArgument(label + "must have the extents kernel_shape " + conversions::FormatExtents(window_.kernel()) +
                 ", got " + Describe(weights));
  if (x.dim(1) % groups_ != 0 || weights.dim(1) != x.dim(1) / groups_ || weights.dim(0) % groups_ != 0)
    FailArgument(label + "must have " + std::to_string(x.dim(1)) + " / " + std::to_string(groups_) +
                 " channels and a multiple of " + std::to_string(groups_) + " filters, got " + Describe(weights));
  if (bias && (bias->rank() != 1 || bias->dim(0) != weights.dim(0)))
    FailArgument(InputLabel(bias_input, "B") + ": must have extents [" + std::to_string(weights.dim(0)) + "], got " +
                 Describe(*bias));
  return {window_.Resolve(x, kernel), x.dim(0), x.dim(1), weights.dim(0), groups_};
}

}  // namespace light
