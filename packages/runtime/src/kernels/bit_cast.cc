// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/arguments.h"
#include "kernels/casts.h"

namespace light {
namespace {

class BitCast final : public KernelBase {
 public:
  explicit BitCast(const KernelInfo& info) {
    const ElementType from = info.InputElement(0), to = info.OutputElement(0);
    if (conversions::Info(from).bits != conversions::Info(to).bits)
      info.Fail(ErrorCode::kInvalidGraph, std::string("attribute to: must name a type as wide as ") +
                                              conversions::Name(from) + ", got " + conversions::Name(to));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    Tensor& y = context.Output(0, x.dims());
    if (y.element_count() == 0) return;
    if (y.data() != x.data()) std::memcpy(y.data(), x.data(), y.byte_size());
    if (y.type() != ElementType::kBool || x.type() == ElementType::kBool) return;
    auto* bytes = static_cast<unsigned char*>(y.data());
    for (int64_t i = 0; i < y.element_count(); ++i) bytes[i] = bytes[i] != 0;  // a bool is 0 or 1
  }
};

}  // namespace

void RegisterBitCast(KernelRegistry& registry) {
  KernelRegistration registration = Registration("BitCast", 26, 26, {});
  registration.may_inplace = {{0, 0}};
  registry.RegisterKernelFn(registration, MakeKernel<BitCast>);
}

}  // namespace light
