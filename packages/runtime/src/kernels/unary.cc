// SPDX-License-Identifier: Apache-2.0
// Abs, Erf, Exp, Log, Neg, Relu, Sigmoid, Sqrt, Tanh.
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/simd_dispatch.h"

namespace light {
namespace {

using simd::SimdTable;

// Each operation: its name, its function of the vector library, and its meaning for one element of any other type.
struct AbsOp {
  static constexpr auto kSimd = &SimdTable::abs;
  static constexpr double kCost = 0.3;
  template <class T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return std::abs(x);
    else if constexpr (std::is_unsigned_v<T>)
      return x;
    else
      return x < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x)) : x;
  }
};
struct NegOp {
  static constexpr auto kSimd = &SimdTable::neg;
  static constexpr double kCost = 0.3;
  template <class T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  }
};
struct ReluOp {
  static constexpr auto kSimd = &SimdTable::relu;
  static constexpr double kCost = 0.3;
  template <class T>
  static T Apply(T x) {
    return x < T{0} ? T{0} : x;
  }
};
struct SqrtOp {
  static constexpr auto kSimd = &SimdTable::sqrt;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return std::sqrt(x);
  }
};
struct ExpOp {
  static constexpr auto kSimd = &SimdTable::exp;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return std::exp(x);
  }
};
struct LogOp {
  static constexpr auto kSimd = &SimdTable::log;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return std::log(x);
  }
};
struct ErfOp {
  static constexpr auto kSimd = &SimdTable::erf;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return std::erf(x);
  }
};
struct TanhOp {
  static constexpr auto kSimd = &SimdTable::tanh;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return std::tanh(x);
  }
};
struct SigmoidOp {
  static constexpr auto kSimd = &SimdTable::sigmoid;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    const T e = std::exp(-std::abs(x));
    return (x < 0 ? e : T{1}) / (1 + e);
  }
};

template <class Op, class T>
void Loop(const void* in, void* out, int64_t begin, int64_t end) {
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  if constexpr (std::is_same_v<T, float>) {
    (Simd().*Op::kSimd)(x + begin, y + begin, static_cast<std::size_t>(end - begin));
  } else if constexpr (kIsSmallFloat<T>) {
    // Blocks of floats on the stack, so that these types get the vector functions too.
    constexpr int64_t kBlock = 256;
    float block[kBlock];
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t n = std::min(kBlock, end - i);
      for (int64_t j = 0; j < n; ++j) block[j] = static_cast<float>(x[i + j]);
      (Simd().*Op::kSimd)(block, block, static_cast<std::size_t>(n));
      for (int64_t j = 0; j < n; ++j) y[i + j] = T(block[j]);
    }
  } else {
    for (int64_t i = begin; i < end; ++i) y[i] = Op::template Apply<T>(x[i]);
  }
}

class Unary final : public KernelBase {
 public:
  using LoopFn = void (*)(const void*, void*, int64_t, int64_t);
  Unary(LoopFn loop, double cost) : loop_(loop), cost_(cost) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    Tensor& y = context.Output(0, x.dims());
    const void* in = x.data();
    void* out = y.data();
    context.ParallelFor(x.element_count(), cost_, [&](int64_t begin, int64_t end) { loop_(in, out, begin, end); });
  }

 private:
  LoopFn loop_;
  double cost_;
};

template <class Op, class Types>
void Register(KernelRegistry& registry, const char* op_type, const char* input, int since, int until, Types types) {
  KernelRegistration registration = Registration(op_type, since, until, {{input, SetOf(types)}});
  registration.may_inplace = {{0, 0}};
  registry.RegisterKernelFn(registration, [types](const KernelInfo& info) {
    return WithType(types, info.InputElement(0), [](auto tag) -> std::unique_ptr<KernelBase> {
      using T = typename decltype(tag)::type;
      const bool slow = !std::is_same_v<T, float> && Op::kCost >= 1;  // the C library's functions
      return std::make_unique<Unary>(Loop<Op, T>, slow ? 8 * Op::kCost : Op::kCost);
    });
  });
}

}  // namespace

void RegisterUnary(KernelRegistry& registry) {
  Register<AbsOp>(registry, "Abs", "X", 1, 13, NumberTypes{});
  Register<NegOp>(registry, "Neg", "X", 1, 13, SignedTypes{});
  Register<ReluOp>(registry, "Relu", "X", 1, 14, SignedTypes{});
  Register<SqrtOp>(registry, "Sqrt", "X", 1, 13, FloatTypes{});
  Register<ExpOp>(registry, "Exp", "input", 1, 13, FloatTypes{});
  Register<LogOp>(registry, "Log", "input", 1, 13, FloatTypes{});
  Register<ErfOp>(registry, "Erf", "input", 9, 13, FloatTypes{});
  Register<TanhOp>(registry, "Tanh", "input", 1, 13, FloatTypes{});
  Register<SigmoidOp>(registry, "Sigmoid", "X", 1, 13, FloatTypes{});
}

}  // namespace light
