// SPDX-License-Identifier: Apache-2.0
#include "fuse/sibling_products.h"

#include <algorithm>

namespace light {

SiblingProducts::SiblingProducts(const Graph& graph, const Fusion& fusion,
                                 std::vector<std::unique_ptr<KernelBase>> kernels)
    : members_(graph, fusion, std::move(kernels)), siblings_(fusion.siblings), k_(fusion.depth), n_(fusion.width) {}

const PackedProduct& SiblingProducts::product(std::size_t sibling) const noexcept {
  return static_cast<const PackedProduct&>(*members_[siblings_[sibling].product].kernel);
}

bool SiblingProducts::Fits(RuntimeContext& context, const Tensor* a) const {
  if (a == nullptr || a->rank() < 2 || a->dim(a->rank() - 1) != k_) return false;
  return std::all_of(siblings_.begin(), siblings_.end(), [&](const Fusion::Sibling& sibling) {
    if (sibling.bias_input < 0) return true;
    const Tensor& bias = *context.Input(static_cast<std::size_t>(sibling.bias_input));
    return bias.rank() <= a->rank() && bias.element_count() == n_;
  });
}

void SiblingProducts::Run(RuntimeContext& context) {
  const Tensor* a = context.Input(0);
  if (!Fits(context, a)) return members_.RunApart(context);
  const auto count = static_cast<int64_t>(siblings_.size());
  const int64_t m = a->element_count() / k_;
  Dims dims = a->dims();
  dims[a->rank() - 1] = n_;
  float* results[Fusion::kMostSiblings];
  for (std::size_t i = 0; i < siblings_.size(); ++i) results[i] = context.Output(i, dims).Data<float>();
  const bool reversed = product(0).packed().WalkBack(context, m);
  RunProducts(context, count, m, [&](int64_t i) {
    const Fusion::Sibling& sibling = siblings_[static_cast<std::size_t>(i)];
    simd::GemmArgs args{};
    args.a = a->Data<float>();
    args.a_row = k_;
    args.a_column = 1;
    args.b = product(static_cast<std::size_t>(i)).packed().matrix(0);
    args.c = results[i];
    args.c_row = n_;
    args.n = static_cast<std::size_t>(n_);
    args.k = static_cast<std::size_t>(k_);
    args.alpha = 1;
    if (sibling.bias_input >= 0)
      args.column_bias = context.Input(static_cast<std::size_t>(sibling.bias_input))->Data<float>();
    args.relu = sibling.relu;
    args.reversed = reversed;
    return args;
  });
}

}  // namespace light
