// SPDX-License-Identifier: Apache-2.0
// And, Not, Or, Xor.
#include "kernels/arguments.h"
#include "kernels/binary.h"
#include "kernels/families.h"

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
class Not final : public KernelBase {
 public:
  explicit Not(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const auto* from = static_cast<const uint8_t*>(x.data());  // of bytes there are vectors, of bool there are not
    auto* to = static_cast<uint8_t*>(context.Output(0, x.dims()).data());
    context.ParallelFor(x.element_count(), 0.1, [&](int64_t begin, int64_t end) {
      const uint8_t* in = from + begin;  // bytes could overlap what is captured
      uint8_t* out = to + begin;
      for (int64_t n = end - begin, i = 0; i < n; ++i) out[i] = in[i] == 0;
    });
  }
};

using Bool = TypeList<bool>;

template <class Op>
void Register(KernelRegistry& registry, const char* op_type) {
  KernelRegistration registration = Registration(op_type, 1, 7, {{"T", SetOf(Bool{})}});
  registration.may_inplace = {{0, 0}, {1, 0}};
  registry.RegisterKernelFn(registration, [](const KernelInfo& info) -> std::unique_ptr<KernelBase> {
    return std::make_unique<BinaryKernel>(info, LoopsFor<Op, bool, bool, bool>(0.2));
  });
}

}  // namespace

void RegisterLogic(KernelRegistry& registry) {
  Register<AndOp>(registry, "And");
  Register<OrOp>(registry, "Or");
  Register<XorOp>(registry, "Xor");
  KernelRegistration negation = Registration("Not", 1, 1, {{"T", SetOf(Bool{})}});
  negation.may_inplace = {{0, 0}};
  registry.RegisterKernelFn(negation, MakeKernel<Not>);
}

}  // namespace light
