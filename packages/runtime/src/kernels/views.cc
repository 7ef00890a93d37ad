// SPDX-License-Identifier: Apache-2.0
// Operators whose output is their input under other extents: Flatten, Identity, Reshape, Squeeze, Unsqueeze.
#include <algorithm>

#include "conversions/checked_size.h"
#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/input_axes.h"

namespace light {
namespace {

class Identity final : public KernelBase {
 public:
  explicit Identity(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    const Value& value = context.InputValue(0);
    context.OutputView(0, 0, value.is_tensor() ? value.tensor().dims().span() : std::span<const int64_t>());
  }
};

class Flatten final : public KernelBase {
 public:
  explicit Flatten(const KernelInfo& info) : axis_(info.Int("axis", 1)) {}
  void Run(RuntimeContext& context) override {
    const Dims& dims = Required(context, 0, "input").dims();
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, dims.rank(), 1));
    const int64_t extents[] = {Product(dims, 0, axis), Product(dims, axis, dims.rank())};
    context.OutputView(0, 0, extents);
  }

 private:
  int64_t axis_;
};

class Reshape final : public KernelBase {
 public:
  explicit Reshape(const KernelInfo& info)
      : allow_zero_(info.Int("allowzero", 0) != 0), from_attribute_(info.since_version() < 5) {
    if (!from_attribute_) return;
    const std::vector<int64_t> shape = info.Ints("shape");
    shape_.Assign(shape);
  }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    Dims dims = from_attribute_ ? shape_ : ReadIntegers(Required(context, 1, "shape"), 1, "shape");
    const std::string asked = conversions::FormatExtents(dims);
    std::size_t free = dims.rank();
    for (std::size_t d = 0; d < dims.rank(); ++d) {
      if (dims[d] == -1) {
        if (free != dims.rank()) FailArgument("input 1 (shape): at most one extent may be -1, got " + asked);
        free = d;
      } else if (dims[d] < 0) {
        FailArgument("input 1 (shape): extents must be at least -1, got " + asked);
      } else if (dims[d] == 0 && !allow_zero_) {
        if (d >= data.rank())
          FailArgument("input 1 (shape): 0 copies an extent that " + Describe(data) + " must have, got " + asked);
        dims[d] = data.dim(d);
      }
    }
    if (free != dims.rank()) {
      dims[free] = 1;
      const int64_t others = conversions::CheckedElementCount(dims).value_or(0);
      if (others == 0 || data.element_count() % others != 0)
        FailArgument("input 1 (shape): -1 has no value that fits " + Describe(data) + ", got " + asked);
      dims[free] = data.element_count() / others;
    }
    if (conversions::CheckedElementCount(dims) != data.element_count())
      FailArgument("input 1 (shape): must have as many elements as " + Describe(data) + ", got " + asked);
    context.OutputView(0, 0, dims);
  }

 private:
  bool allow_zero_;
  bool from_attribute_;
  Dims shape_;
};

// Axes from an attribute before version 13, else from the second input.
class AxesKernel : public KernelBase {
 public:
  explicit AxesKernel(const KernelInfo& info) : from_attribute_(info.since_version() < 13) {
    if (from_attribute_) axes_.Assign(info.Ints("axes"));
    has_axes_ = from_attribute_ && info.HasAttribute("axes");
  }

 protected:
  /// False if the node has no axes; a list may be empty, too.
  bool Axes(RuntimeContext& context, Dims& axes) const {
    if (from_attribute_) {
      axes = axes_;
      return has_axes_;
    }
    const Tensor* input = context.Input(1);
    if (input) axes = ReadIntegers(*input, 1, "axes");
    return input != nullptr;
  }
  /// For messages.
  const char* Label() const noexcept { return from_attribute_ ? "attribute axes" : "input 1 (axes)"; }

 private:
  bool from_attribute_;
  bool has_axes_ = false;
  Dims axes_;
};

class Squeeze final : public AxesKernel {
 public:
  using AxesKernel::AxesKernel;
  void Run(RuntimeContext& context) override {
    const Dims& dims = Required(context, 0, "data").dims();
    Dims axes, kept;
    const bool given = Axes(context, axes) && axes.rank() > 0;  // an empty list stands for every 1, as none does
    const Dims marked = MarkAxes(axes, dims.rank(), Label());
    kept.Resize(dims.rank());
    std::size_t rank = 0;
    for (std::size_t d = 0; d < dims.rank(); ++d) {
      if (given && marked[d] && dims[d] != 1)
        FailArgument("axes: the extent of axis " + std::to_string(d) + " must be 1, got " +
                     conversions::FormatExtents(dims));
      if (given ? !marked[d] : dims[d] != 1) kept[rank++] = dims[d];
    }
    context.OutputView(0, 0, kept.span().first(rank));
  }
};

class Unsqueeze final : public AxesKernel {
 public:
  using AxesKernel::AxesKernel;
  void Run(RuntimeContext& context) override {
    const Dims& dims = Required(context, 0, "data").dims();
    Dims axes;
    if (!Axes(context, axes)) FailArgument(std::string(Label()) + ": is required, got none");
    Dims expanded = MarkAxes(axes, dims.rank() + axes.rank(), Label());
    std::size_t next = 0;
    for (std::size_t d = 0; d < expanded.rank(); ++d) expanded[d] = expanded[d] ? 1 : dims[next++];
    context.OutputView(0, 0, expanded);
  }
};

template <class Kernel>
void Register(KernelRegistry& registry, const char* op_type, int until) {
  KernelRegistration registration = Registration(op_type, 1, until, {});
  registration.aliases = {{0, 0}};
  registry.RegisterKernelFn(registration, MakeKernel<Kernel>);
}

}  // namespace

void RegisterViews(KernelRegistry& registry) {
  Register<Flatten>(registry, "Flatten", 25);
  Register<Identity>(registry, "Identity", 25);
  Register<Reshape>(registry, "Reshape", 25);
  Register<Squeeze>(registry, "Squeeze", 25);
  Register<Unsqueeze>(registry, "Unsqueeze", 25);
}

}  // namespace light
