// SPDX-License-Identifier: Apache-2.0
// And, Not, Or, Xor.
#include "kernels/binary.h"
#include "kernels/families.h"
#include "kernels/unary.h"

namespace light {
namespace {

struct AndOp {
  static bool Apply(bool a, bool b) { return a & b; }
};
struct OrOp {
  static bool Apply(bool a, bool b) { return a | b; }
};
struct XorOp {
  static bool Apply(bool a, bool b) { return a != b; }
};
struct NotOp {
  static constexpr double kCost = 0.2;
  static bool Apply(bool x) { return !x; }
};

using Bool = TypeList<bool>;

template <class Op>
void Register(KernelRegistry& registry, const char* op_type) {
  KernelRegistration registration = Registration(op_type, 1, 7, {{"T", SetOf(Bool{})}});
  registration.may_inplace = {{0, 0}, {1, 0}};
  registry.RegisterKernelFn(registration, [](const KernelInfo& info) -> std::unique_ptr<KernelBase> {
    return std::make_unique<BinaryKernel>(info, GenericLoops<Op, bool, bool, bool>::Get(0.2));
  });
}

}  // namespace

void RegisterLogic(KernelRegistry& registry) {
  Register<AndOp>(registry, "And");
  Register<OrOp>(registry, "Or");
  Register<XorOp>(registry, "Xor");
  RegisterUnaryKernel<NotOp>(registry, "Not", "X", 1, 1, Bool{});
}

}  // namespace light
