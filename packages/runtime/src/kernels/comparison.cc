// SPDX-License-Identifier: Apache-2.0
// Equal, Greater, GreaterOrEqual, Less, LessOrEqual.
#include "kernels/binary.h"
#include "kernels/families.h"

namespace light {
namespace {

struct EqualOp {
  template <class T>
  static bool Apply(const T& a, const T& b) {
    return a == b;
  }
};
struct LessOp {
  template <class T>
  static bool Apply(const T& a, const T& b) {
    return a < b;
  }
};
struct LessOrEqualOp {
  template <class T>
  static bool Apply(const T& a, const T& b) {
    return a <= b;
  }
};
struct GreaterOp {
  template <class T>
  static bool Apply(const T& a, const T& b) {
    return a > b;
  }
};
struct GreaterOrEqualOp {
  template <class T>
  static bool Apply(const T& a, const T& b) {
    return a >= b;
  }
};

using EqualTypes = TypeList<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                            uint32_t, uint64_t, bool, std::string>;

template <class Op, class Types>
void Register(KernelRegistry& registry, const char* op_type, int since, int until, Types types) {
  registry.RegisterKernelFn(Registration(op_type, since, until, {{"T", SetOf(types)}}), [types](
                                                                                            const KernelInfo& info) {
    return WithType(types, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
      using T = typename decltype(tag)::type;
      return std::make_unique<BinaryKernel>(info, LoopsFor<Op, T, T, bool>(std::is_same_v<T, std::string> ? 5 : 0.5));
    });
  });
}

}  // namespace

void RegisterComparison(KernelRegistry& registry) {
  Register<EqualOp>(registry, "Equal", 1, 19, EqualTypes{});
  Register<LessOp>(registry, "Less", 1, 13, NumberTypes{});
  Register<GreaterOp>(registry, "Greater", 1, 13, NumberTypes{});
  Register<LessOrEqualOp>(registry, "LessOrEqual", 12, 16, NumberTypes{});
  Register<GreaterOrEqualOp>(registry, "GreaterOrEqual", 12, 16, NumberTypes{});
}

}  // namespace light
