// SPDX-License-Identifier: Apache-2.0
#include "fuse/fused_product.h"

#include "fuse/inner_context.h"

namespace light {
namespace {

/// What the product sees: the inputs of the epilogue only where they fit, which shows when it asks for its output.
class ProductContext final : public InnerContext {
 public:
  ProductContext(RuntimeContext& outer, const Epilogue& epilogue) : InnerContext(outer), epilogue_(epilogue) {}

  /// The result, if the epilogue could not be applied.
  const Tensor* plain() const noexcept { return fits_ ? nullptr : &plain_; }

  std::size_t input_count() const noexcept override { return outer().input_count(); }
  const Tensor* Input(std::size_t i) override { return IsHidden(i) ? nullptr : outer().Input(i); }
  const Value& InputValue(std::size_t i) override { return outer().InputValue(i); }
  Tensor& Output(std::size_t i, std::span<const int64_t> dims) override {
    fits_ = i == 0 && Fits(dims);
    if (fits_) return outer().Output(i, dims);
    plain_.set_data(outer().TemporaryBuffer(plain_.Reshape(ElementType::kFloat, dims)));
    return plain_;
  }
  void SetOutputValue(std::size_t i, Value value) override { outer().SetOutputValue(i, std::move(value)); }

 private:
  bool IsHidden(std::size_t i) const noexcept {
    const int input = static_cast<int>(i);
    return !fits_ && (input == epilogue_.bias_input || input == epilogue_.residual_input);
  }

  bool Fits(std::span<const int64_t> dims) {
    if (epilogue_.bias_input >= 0) {
      const Tensor& bias = *outer().Input(static_cast<std::size_t>(epilogue_.bias_input));
      if (dims.empty() || bias.rank() == 0 || bias.rank() > dims.size() || bias.element_count() != dims.back() ||
          bias.dim(bias.rank() - 1) != dims.back())
        return false;
    }
    if (epilogue_.residual_input < 0) return true;
    return outer().Input(static_cast<std::size_t>(epilogue_.residual_input))->dims().Equals(dims);
  }

  const Epilogue& epilogue_;
  bool fits_ = false;  // not known before the output is made
  Tensor plain_;
};

}  // namespace

void FusedProduct::Run(RuntimeContext& outer) {
  ProductContext context(outer, epilogue_);
  members_[0].kernel->Run(context);
  if (context.plain() != nullptr) members_.RunApart(outer, 1, {context.plain()});
}

}  // namespace light
