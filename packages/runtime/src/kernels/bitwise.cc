// SPDX-License-Identifier: Apache-2.0
// BitShift, BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor.
#include "kernels/binary.h"
#include "kernels/families.h"
#include "kernels/unary.h"

namespace light {
namespace {

using IntegerTypes = TypeList<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;

struct BitwiseAndOp {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOrOp {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXorOp {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct BitwiseNotOp {
  static constexpr double kCost = 0.3;
  template <class T>
  static T Apply(T x) {
    return static_cast<T>(~x);
  }
};

/// Whether a shift by `distance` leaves bits of a T; no negative one does.
template <class T>
bool ShiftsWithin(T distance) {
  return static_cast<std::make_unsigned_t<T>>(distance) < 8 * sizeof(T);
}

struct ShiftLeftOp {
  template <class T>
  static T Apply(T x, T distance) {
    if (!ShiftsWithin(distance)) return 0;
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << distance);
  }
};
struct ShiftRightOp {
  template <class T>
  static T Apply(T x, T distance) {
    if (!ShiftsWithin(distance)) return std::is_signed_v<T> && x < T{0} ? static_cast<T>(-1) : T{0};
    return static_cast<T>(x >> distance);
  }
};

KernelRegistration BinaryRegistration(const char* op_type, int since, int until) {
  KernelRegistration registration = Registration(op_type, since, until, {{"T", SetOf(IntegerTypes{})}});
  registration.may_inplace = {{0, 0}, {1, 0}};
  return registration;
}

template <class Op>
void Register(KernelRegistry& registry, const char* op_type) {
  registry.RegisterKernelFn(BinaryRegistration(op_type, 18, 18),
                            [](const KernelInfo& info) { return MakeBinaryKernel<Op>(info, IntegerTypes{}, 0.3); });
}

}  // namespace

void RegisterBitwise(KernelRegistry& registry) {
  Register<BitwiseAndOp>(registry, "BitwiseAnd");
  Register<BitwiseOrOp>(registry, "BitwiseOr");
  Register<BitwiseXorOp>(registry, "BitwiseXor");
  RegisterUnaryKernel<BitwiseNotOp>(registry, "BitwiseNot", "X", 18, 18, IntegerTypes{});
  registry.RegisterKernelFn(BinaryRegistration("BitShift", 11, 28), [](const KernelInfo& info) {
    const std::string direction = info.String("direction", "");
    if (direction == "LEFT") return MakeBinaryKernel<ShiftLeftOp>(info, IntegerTypes{}, 1);
    if (direction == "RIGHT") return MakeBinaryKernel<ShiftRightOp>(info, IntegerTypes{}, 1);
    info.Fail(ErrorCode::kInvalidGraph, "attribute 'direction' must be LEFT or RIGHT, got '" + direction + "'");
  });
}

}  // namespace light
