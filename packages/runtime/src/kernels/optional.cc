// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/families.h"

namespace light {
namespace {

/// A value that outlives this run's buffers.
Value Keep(const Value& value) { return value.is_tensor() ? Value(value.tensor().Clone()) : value; }

class Optional final : public KernelBase {
 public:
  explicit Optional(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    context.SetOutputValue(0, Value::Optional(Keep(context.InputValue(0))));
  }
};

/// What an optional holds; since version 18 anything else stands for itself. None if there is nothing.
const Value& ContentOf(const Value& value) { return value.kind() == Value::Kind::kOptional ? value.content() : value; }

class OptionalHasElement final : public KernelBase {
 public:
  explicit OptionalHasElement(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    *context.Output(0, {}).Data<bool>() = !ContentOf(context.InputValue(0)).is_none();
  }
};

class OptionalGetElement final : public KernelBase {
 public:
  explicit OptionalGetElement(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    const Value& content = ContentOf(context.InputValue(0));
    if (content.is_none()) FailArgument(InputLabel(0, "input") + ": must hold an element, got an empty optional");
    if (!content.is_tensor()) return context.SetOutputValue(0, content);
    CopyElements(content.tensor(), context.Output(0, content.tensor().dims()));
  }
};

}  // namespace

void RegisterOptional(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Optional", 15, 28, {}), MakeKernel<Optional>);
  registry.RegisterKernelFn(Registration("OptionalGetElement", 15, 28, {}), MakeKernel<OptionalGetElement>);
  registry.RegisterKernelFn(Registration("OptionalHasElement", 15, 28, {}), MakeKernel<OptionalHasElement>);
}

}  // namespace light
