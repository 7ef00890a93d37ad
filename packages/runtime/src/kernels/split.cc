// SPDX-License-Identifier: Apache-2.0
#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

class Split final : public KernelBase {
 public:
  explicit Split(const KernelInfo& info)
      : axis_(info.Int("axis", 0)),
        from_attribute_(info.since_version() < 13 && info.HasAttribute("split")),
        last_may_be_smaller_(info.since_version() >= 18) {
    if (from_attribute_) sizes_.Assign(info.Ints("split"));
    const int64_t outputs = info.Int("num_outputs", static_cast<int64_t>(info.output_count()));
    if (outputs != static_cast<int64_t>(info.output_count()))
      info.Fail(ErrorCode::kInvalidGraph, "attribute num_outputs: must be the number of outputs, " +
                                              std::to_string(info.output_count()) + ", got " + std::to_string(outputs));
    if (info.HasAttribute("num_outputs") && info.HasInput(1))
      info.Fail(ErrorCode::kInvalidGraph, "input 1 (split): must be omitted with num_outputs, got both");
  }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "input");
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, data.rank()));
    const std::size_t count = context.output_count();
    auto* sizes = static_cast<int64_t*>(context.TemporaryBuffer(count * sizeof(int64_t)));
    Sizes(context, data.dim(axis), {sizes, count});

    const int64_t outer = Product(data.dims(), 0, axis);
    const int64_t inner = data.element_count() == 0 ? 0 : Product(data.dims(), axis + 1, data.rank());
    const int64_t pitch = data.dim(axis) * inner;
    Dims dims = data.dims();
    int64_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const int64_t length = sizes[i] * inner, first = at;
      at += length;
      if (!context.OutputRequested(i)) continue;
      dims[axis] = sizes[i];
      Tensor& out = context.Output(i, dims);
      if (out.element_count() == 0) continue;
      WithMoved(data.type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* from = data.Data<T>() + first;
        T* to = out.Data<T>();
        context.ParallelFor(outer, kMoveCost<T> * static_cast<double>(length) + 2, [&](int64_t begin, int64_t end) {
          for (int64_t o = begin; o < end; ++o) CopyRun(from + o * pitch, length, to + o * length);
        });
      });
    }
  }

 private:
  void Sizes(RuntimeContext& context, int64_t extent, std::span<int64_t> sizes) const {
    const Tensor* input = context.Input(1);
    if (from_attribute_ || input) return GivenSizes(input, extent, sizes);
    const auto parts = static_cast<int64_t>(sizes.size());
    if (extent % parts != 0 && !last_may_be_smaller_)
      FailArgument("input 0 (input): the extent of the axis must divide into " + std::to_string(parts) +
                   " equal parts, got " + std::to_string(extent));
    const int64_t part = extent / parts + (extent % parts != 0);
    for (int64_t& size : sizes) {
      size = std::min(part, extent);
      extent -= size;
    }
  }

  void GivenSizes(const Tensor* input, int64_t extent, std::span<int64_t> sizes) const {
    if (input && (input->rank() != 1 || input->type() != ElementType::kInt64))
      FailArgument(InputLabel(1, "split") + ": must be a vector of int64, got " + Describe(*input));
    const std::span<const int64_t> given = input ? input->Span<int64_t>() : sizes_.span();
    bool fits = given.size() == sizes.size();
    int64_t rest = extent;
    for (std::size_t i = 0; fits && i < given.size(); ++i) {
      fits = given[i] >= 0 && given[i] <= rest;
      if (fits) rest -= sizes[i] = given[i];
    }
    if (!fits || rest != 0)
      FailArgument("split: must have " + std::to_string(sizes.size()) + " sizes that add up to the extent " +
                   std::to_string(extent) + ", got " + conversions::FormatExtents(given));
  }

  int64_t axis_;
  bool from_attribute_;
  bool last_may_be_smaller_;
  Dims sizes_;
};

std::string Declines(const KernelInfo& info) {
  return info.since_version() == 1 && info.HasInput(1) ? "sizes given as floats by input 1 (split) of version 1" : "";
}

}  // namespace

void RegisterSplit(KernelRegistry& registry) {
  KernelRegistration registration = Registration("Split", 1, 18, {});
  registration.declines = Declines;
  registry.RegisterKernelFn(registration, MakeKernel<Split>);
}

}  // namespace light
