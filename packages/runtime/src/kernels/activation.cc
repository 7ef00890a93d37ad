// SPDX-License-Identifier: Apache-2.0
// Celu, Elu, Gelu, HardSigmoid, HardSwish, LeakyRelu, Mish, Selu, Shrink, Softplus, Softsign, Swish, ThresholdedRelu.
#include <cmath>
#include <numbers>

#include "kernels/families.h"
#include "kernels/scalar.h"
#include "kernels/unary.h"

namespace light {
namespace {

struct CeluOp {
  static constexpr double kCost = 1;
  explicit CeluOp(const KernelInfo& info) : alpha(info.Float("alpha", 1)) {}
  void MapFloats(const float* x, float* y, std::size_t n) const { Simd().elu(x, alpha, alpha, 1, y, n); }
  template <class T>
  T Apply(T x) const {
    const T a = static_cast<T>(alpha);
    return Larger(x, T{0}) + Smaller(a * std::expm1(x / a), T{0});
  }
  float alpha;
};
struct EluOp {
  static constexpr double kCost = 1;
  explicit EluOp(const KernelInfo& info) : alpha(info.Float("alpha", 1)) {}
  void MapFloats(const float* x, float* y, std::size_t n) const { Simd().elu(x, 1, alpha, 1, y, n); }
  template <class T>
  T Apply(T x) const {
    return x < 0 ? static_cast<T>(alpha) * std::expm1(x) : x;
  }
  float alpha;
};
struct GeluOp {
  static constexpr auto kSimd = &simd::SimdTable::gelu;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    // 1 + erf(z) is erfc(-z), which keeps its digits where the sum would cancel.
    return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<T>);
  }
};
// 1 + tanh(z) is 2 / (1 + exp(-2z)), which keeps its digits where the sum would cancel.
struct GeluTanhOp {
  static constexpr double kCost = 2;
  static constexpr double kLinear = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // of 2z in x
  static constexpr double kCubic = 0.044715 * kLinear;
  template <class T>
  static T Apply(T x) {
    return x / (1 + std::exp(-x * (T(kLinear) + T(kCubic) * x * x)));
  }
  static void MapFloats(const float* x, float* y, std::size_t n) {
    float z[kFloatBlock];
    Simd().mul(x, x, z, n);
    Simd().affine(z, static_cast<float>(kCubic), static_cast<float>(kLinear), z, n);
    Simd().mul(x, z, z, n);
    Simd().sigmoid(z, z, n);
    Simd().mul(x, z, y, n);
  }
};
// y = scale * x + shift, but at least 0 and at most 1.
void MapHardSigmoid(const float* x, float scale, float shift, float* y, std::size_t n) {
  const float zero = 0, one = 1;
  Simd().affine(x, scale, shift, y, n);
  Simd().min_scalar(y, &one, y, n);
  Simd().max_scalar(y, &zero, y, n);
}
struct HardSigmoidOp {
  static constexpr double kCost = 0.5;
  explicit HardSigmoidOp(const KernelInfo& info) : alpha(info.Float("alpha", 0.2f)), beta(info.Float("beta", 0.5f)) {}
  template <class T>
  T Apply(T x) const {
    return Larger(Smaller(static_cast<T>(alpha) * x + static_cast<T>(beta), T{1}), T{0});
  }
  void MapFloats(const float* x, float* y, std::size_t n) const { MapHardSigmoid(x, alpha, beta, y, n); }
  float alpha;
  float beta;
};
struct HardSwishOp {
  static constexpr double kCost = 0.5;
  template <class T>
  static T Apply(T x) {
    return x * Larger(Smaller(x / 6 + T(0.5), T{1}), T{0});
  }
  static void MapFloats(const float* x, float* y, std::size_t n) {
    float factor[kFloatBlock];
    MapHardSigmoid(x, 1.f / 6, 0.5f, factor, n);
    Simd().mul(x, factor, y, n);
  }
};
struct LeakyReluOp {
  static constexpr double kCost = 0.5;
  explicit LeakyReluOp(const KernelInfo& info) : alpha(info.Float("alpha", 0.01f)) {}
  void MapFloats(const float* x, float* y, std::size_t n) const { Simd().prelu_scalar(x, &alpha, y, n); }
  template <class T>
  T Apply(T x) const {
    const T factors[] = {1, static_cast<T>(alpha)};
    return x * factors[x < 0];  // a branch would be mispredicted half of the time
  }
  float alpha;
};
// The logarithm of 1 + e^x, where e^x may be beyond the type.
template <class T>
T Softplus(T x) {
  return (x > 0 ? x : T{0}) + std::log1p(std::exp(-std::abs(x)));
}
struct MishOp {
  static constexpr auto kSimd = &simd::SimdTable::mish;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return x * std::tanh(Softplus(x));
  }
};
struct SeluOp {
  static constexpr double kCost = 1;
  explicit SeluOp(const KernelInfo& info) : alpha(info.Float("alpha", 1.67326f)), gamma(info.Float("gamma", 1.0507f)) {}
  void MapFloats(const float* x, float* y, std::size_t n) const { Simd().elu(x, 1, alpha, gamma, y, n); }
  template <class T>
  T Apply(T x) const {
    return static_cast<T>(gamma) * (x > 0 ? x : static_cast<T>(alpha) * std::expm1(x));
  }
  float alpha;
  float gamma;
};
struct ShrinkOp {
  static constexpr double kCost = 0.5;
  explicit ShrinkOp(const KernelInfo& info) : bias(info.Float("bias", 0)), lambd(info.Float("lambd", 0.5f)) {}
  void MapFloats(const float* x, float* y, std::size_t n) const { Simd().shrink(x, bias, lambd, y, n); }
  template <class T>
  T Apply(T x) const {
    if constexpr (std::is_integral_v<T>) {
      // Wide enough for every element where long double is wider than double.
      using Wide = std::conditional_t<sizeof(T) == 8, long double, double>;
      return SaturatingCast<T>(Shrunk(static_cast<Wide>(x)));
    } else {
      return Shrunk(x);
    }
  }
  template <class T>
  T Shrunk(T x) const {
    const T threshold = static_cast<T>(lambd), shift = static_cast<T>(bias);
    return x < -threshold ? x + shift : x > threshold ? x - shift : T{0};
  }
  float bias;
  float lambd;
};
struct SoftplusOp {
  static constexpr auto kSimd = &simd::SimdTable::softplus;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return Softplus(x);
  }
};
struct SoftsignOp {
  static constexpr auto kSimd = &simd::SimdTable::softsign;
  static constexpr double kCost = 0.5;
  template <class T>
  static T Apply(T x) {
    return x / (1 + std::abs(x));
  }
};
struct SwishOp {
  static constexpr double kCost = 2;
  explicit SwishOp(const KernelInfo& info) : alpha(info.Float("alpha", 1)) {}
  template <class T>
  T Apply(T x) const {
    return x / (1 + std::exp(-static_cast<T>(alpha) * x));
  }
  void MapFloats(const float* x, float* y, std::size_t n) const {
    float factor[kFloatBlock];
    Simd().mul_scalar(x, &alpha, factor, n);
    Simd().sigmoid(factor, factor, n);
    Simd().mul(x, factor, y, n);
  }
  float alpha;
};
struct ThresholdedReluOp {
  static constexpr double kCost = 0.5;
  explicit ThresholdedReluOp(const KernelInfo& info) : alpha(info.Float("alpha", 1)) {}
  void MapFloats(const float* x, float* y, std::size_t n) const { Simd().threshold_scalar(x, &alpha, y, n); }
  template <class T>
  T Apply(T x) const {
    return x > static_cast<T>(alpha) ? x : T{0};
  }
  float alpha;
};

std::unique_ptr<KernelBase> MakeGelu(const KernelInfo& info) {
  const std::string approximate = info.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    info.Fail(ErrorCode::kInvalidGraph, "attribute 'approximate' must be none or tanh, got '" + approximate + "'");
  return WithType(FloatTypes{}, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
    using T = typename decltype(tag)::type;
    if (approximate == "tanh") return std::make_unique<UnaryKernel<GeluTanhOp, T>>(info);
    return std::make_unique<UnaryKernel<GeluOp, T>>(info);
  });
}

}  // namespace

void RegisterActivation(KernelRegistry& registry) {
  KernelRegistration gelu = Registration("Gelu", 20, 20, {{"T", SetOf(FloatTypes{})}});
  gelu.may_inplace = {{0, 0}};
  gelu.is_elementwise = true;
  registry.RegisterKernelFn(gelu, MakeGelu);
  RegisterUnaryKernel<CeluOp>(registry, "Celu", "X", 12, 28, FloatTypes{});
  RegisterUnaryKernel<EluOp>(registry, "Elu", "X", 1, 22, FloatTypes{});
  RegisterUnaryKernel<HardSigmoidOp>(registry, "HardSigmoid", "X", 1, 22, FloatTypes{});
  RegisterUnaryKernel<HardSwishOp>(registry, "HardSwish", "X", 14, 22, FloatTypes{});
  RegisterUnaryKernel<LeakyReluOp>(registry, "LeakyRelu", "X", 1, 16, FloatTypes{});
  RegisterUnaryKernel<MishOp>(registry, "Mish", "X", 18, 22, FloatTypes{});
  RegisterUnaryKernel<SeluOp>(registry, "Selu", "X", 1, 22, FloatTypes{});
  RegisterUnaryKernel<ShrinkOp>(registry, "Shrink", "input", 9, 9, NumberTypes{});
  RegisterUnaryKernel<SoftplusOp>(registry, "Softplus", "X", 1, 22, FloatTypes{});
  RegisterUnaryKernel<SoftsignOp>(registry, "Softsign", "input", 1, 22, FloatTypes{});
  RegisterUnaryKernel<SwishOp>(registry, "Swish", "X", 24, 24, FloatTypes{});
  RegisterUnaryKernel<ThresholdedReluOp>(registry, "ThresholdedRelu", "X", 10, 22, FloatTypes{});
}

}  // namespace light
