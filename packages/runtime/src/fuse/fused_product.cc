// SPDX-License-Identifier: Apache-2.0
#include "fuse/fused_product.h"

namespace light {
namespace {

/// What the product sees: the inputs of the epilogue only where they fit, which shows when it asks for its output.
class ProductContext final : public RuntimeContext {
 public:
  ProductContext(RuntimeContext& outer, const Epilogue& epilogue) : outer_(outer), epilogue_(epilogue) {}

  /// The result, if the epilogue could not be applied.
  const Tensor* plain() const noexcept { return fits_ ? nullptr : &plain_; }

  std::size_t input_count() const noexcept override { return outer_.input_count(); }
  std::size_t output_count() const noexcept override { return 1; }
  const Tensor* Input(std::size_t i) override { return IsHidden(i) ? nullptr : outer_.Input(i); }
  const Value& InputValue(std::size_t i) override { return outer_.InputValue(i); }
  const Value& CaptureValue(std::size_t i) override { return outer_.CaptureValue(i); }
  bool OutputRequested(std::size_t i) const noexcept override { return i == 0; }
  Tensor& Output(std::size_t i, std::span<const int64_t> dims) override {
    fits_ = i == 0 && Fits(dims);
    if (fits_) return outer_.Output(i, dims);
    plain_.set_data(outer_.TemporaryBuffer(plain_.Reshape(ElementType::kFloat, dims)));
    return plain_;
  }
  bool TakesOver(std::size_t, std::size_t) const noexcept override { return false; }
  void SetOutputValue(std::size_t i, Value value) override { outer_.SetOutputValue(i, std::move(value)); }
  void OutputView(std::size_t i, std::size_t input, std::span<const int64_t> dims) override {
    CopyElements(*Input(input), Output(i, dims));
  }
  void* TemporaryBuffer(std::size_t bytes) override { return outer_.TemporaryBuffer(bytes); }
  void ParallelFor(int64_t total, double cost, RangeFn body) override { outer_.ParallelFor(total, cost, body); }
  ParallelBackend& parallel() noexcept override { return outer_.parallel(); }
  Cancellation* cancellation() noexcept override { return outer_.cancellation(); }

 private:
  bool IsHidden(std::size_t i) const noexcept {
    const int input = static_cast<int>(i);
    return !fits_ && (input == epilogue_.bias_input || input == epilogue_.residual_input);
  }

  bool Fits(std::span<const int64_t> dims) {
    if (epilogue_.bias_input >= 0) {
      const Tensor& bias = *outer_.Input(static_cast<std::size_t>(epilogue_.bias_input));
      if (dims.empty() || bias.rank() == 0 || bias.rank() > dims.size() || bias.element_count() != dims.back() ||
          bias.dim(bias.rank() - 1) != dims.back())
        return false;
    }
    if (epilogue_.residual_input < 0) return true;
    return outer_.Input(static_cast<std::size_t>(epilogue_.residual_input))->dims().Equals(dims);
  }

  RuntimeContext& outer_;
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
