// SPDX-License-Identifier: Apache-2.0
// Scatter (the old name of ScatterElements), ScatterElements, ScatterND.
#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"
#include "kernels/offsets.h"
#include "kernels/scalar.h"

namespace light {
namespace {

// How an update meets what is there. Of booleans the sum and the maximum are "or", the others "and".

struct AddOp {
  template <class C>
  static C Apply(C a, C b) {
    return WrappingAdd(a, b);
  }
};

struct MulOp {
  template <class C>
  static C Apply(C a, C b) {
    return WrappingMultiply(a, b);
  }
};

struct MaxOp {
  template <class C>
  static C Apply(C a, C b) {
    return Larger(a, b);
  }
};

struct MinOp {
  template <class C>
  static C Apply(C a, C b) {
    return Smaller(a, b);
  }
};

/// The updates, one run of `length` elements per entry of `starts`. One after the other: entries may be equal.
using ScatterFn = void (*)(const Tensor& updates, std::span<const int64_t> starts, int64_t length, Tensor& out);

void Assign(const Tensor& updates, std::span<const int64_t> starts, int64_t length, Tensor& out) {
  WithMoved(out.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = updates.Data<T>();
    T* to = out.Data<T>();
    if (length == 1) {
      for (const int64_t start : starts) CopyOne(*from++, to[start]);
    } else {
      for (const int64_t start : starts) {
        CopyRun(from, length, to + start);
        from += length;
      }
    }
  });
}

template <class Op>
void Combine(const Tensor& updates, std::span<const int64_t> starts, int64_t length, Tensor& out) {
  WithType(NumberAndBoolTypes{}, out.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = ComputeType<T>;
    const T* from = updates.Data<T>();
    for (const int64_t start : starts) {
      T* to = out.Data<T>() + start;
      for (int64_t i = 0; i < length; ++i) to[i] = T(Op::Apply(static_cast<C>(to[i]), static_cast<C>(from[i])));
      from += length;
    }
  });
}

ScatterFn FindReduction(const KernelInfo& info) {
  const std::string name = info.String("reduction", "none");
  const bool with_extremes = info.since_version() >= 18;
  if (name == "none") return Assign;
  if (name == "add") return Combine<AddOp>;
  if (name == "mul") return Combine<MulOp>;
  if (name == "max" && with_extremes) return Combine<MaxOp>;
  if (name == "min" && with_extremes) return Combine<MinOp>;
  info.Fail(ErrorCode::kInvalidGraph, std::string("attribute reduction: must be none, add, mul") +
                                          (with_extremes ? ", max or min" : "") + ", got " + name);
}

class ScatterElements final : public KernelBase {
 public:
  explicit ScatterElements(const KernelInfo& info) : scatter_(FindReduction(info)), axis_(info.Int("axis", 0)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    const Tensor& indices = Required(context, 1, "indices");
    const Tensor& updates = Required(context, 2, "updates");
    if (!updates.dims().Equals(indices.dims()))
      FailArgument(InputLabel(2, "updates") + ": must have the extents of indices " +
                   conversions::FormatExtents(indices.dims()) + ", got " + Describe(updates));
    const auto offsets = ElementOffsets(context, data, indices, axis_);
    Tensor& out = context.Output(0, data.dims());
    CopyElements(data, out);
    scatter_(updates, offsets, 1, out);
  }

 private:
  ScatterFn scatter_;
  int64_t axis_;
};

class ScatterND final : public KernelBase {
 public:
  explicit ScatterND(const KernelInfo& info) : scatter_(FindReduction(info)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    const Tensor& updates = Required(context, 2, "updates");
    const SliceOffsets slices = FindSlices(context, data, Required(context, 1, "indices"), 0);
    if (!updates.dims().Equals(slices.dims))
      FailArgument(InputLabel(2, "updates") + ": must have the extents of the slices " +
                   conversions::FormatExtents(slices.dims) + ", got " + Describe(updates));
    Tensor& out = context.Output(0, data.dims());
    CopyElements(data, out);
    if (updates.element_count() > 0) scatter_(updates, slices.starts, slices.length, out);
  }

 private:
  ScatterFn scatter_;
};

std::string Declines(const KernelInfo& info) {
  static const TypeSet numbers = SetOf(NumberAndBoolTypes{});
  if (info.String("reduction", "none") == "none" || numbers.Contains(*info.InputType(0))) return "";
  return "a reduction of elements of type " + std::string(conversions::Name(info.InputElement(0)));
}

template <class Kernel>
void Register(KernelRegistry& registry, const char* op_type, int since, int until) {
  KernelRegistration registration = Registration(op_type, since, until, {});
  registration.declines = Declines;
  registry.RegisterKernelFn(registration, MakeKernel<Kernel>);
}

}  // namespace

void RegisterScatter(KernelRegistry& registry) {
  Register<ScatterElements>(registry, "Scatter", 9, 10);
  Register<ScatterElements>(registry, "ScatterElements", 11, 18);
  Register<ScatterND>(registry, "ScatterND", 11, 18);
}

}  // namespace light
