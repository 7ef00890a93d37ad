// SPDX-License-Identifier: Apache-2.0
#include "conversions/checked_size.h"
#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"
#include "kernels/window.h"

namespace light {
namespace {

// The indices count the elements of the shape that the window implies; output_shape may be larger.
class MaxUnpool final : public KernelBase {
 public:
  explicit MaxUnpool(const KernelInfo& info) : attributes_(WindowAttributes::ForPooling(info)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& indices = Required(context, 1, "I");
    if (!indices.dims().Equals(x.dims()))
      FailArgument("input 1 (I): must have the extents of " + Describe(x) + ", got " + Describe(indices));
    const Window w = attributes_.ResolveTransposed(x, attributes_.kernel(), {}, {});
    Dims implied = x.dims();
    for (std::size_t d = 2; d < implied.rank(); ++d) implied[d] = w.input[d - 2];
    const auto count = conversions::CheckedElementCount(implied);
    if (!count)
      FailArgument("input 0 (X): the unpooled size must fit in memory, got " + conversions::FormatExtents(implied));
    Dims dims = implied;
    if (const Tensor* shape = context.Input(2)) dims = ReadIntegers(*shape, 2, "output_shape");
    if (dims.rank() != x.rank())
      FailArgument("input 2 (output_shape): must have " + std::to_string(x.rank()) + " extents, got " +
                   conversions::FormatExtents(dims));
    Tensor& y = context.Output(0, dims);
    for (const int64_t index : indices.Span<int64_t>())
      if (index < 0 || index >= *count)
        FailArgument("input 1 (I): must be in [0, " + std::to_string(*count - 1) + "], got " + std::to_string(index));
    const bool same = dims.Equals(implied);
    WithMoved(x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::fill_n(y.Data<T>(), y.element_count(), T{});
      for (int64_t i = 0; i < x.element_count(); ++i) {
        const int64_t index = indices.Data<int64_t>()[i];
        y.Data<T>()[same ? index : Place(index, implied, dims)] = x.Data<T>()[i];
      }
    });
  }

 private:
  /// The place in `to` of element `index` of `from`.
  static int64_t Place(int64_t index, const Dims& from, const Dims& to) {
    int64_t place = 0, pitch = 1, rest = index;
    for (std::size_t d = from.rank(); d-- > 0; rest /= from[d], pitch *= to[d]) {
      const int64_t at = rest % from[d];
      if (at >= to[d])
        FailArgument("input 2 (output_shape): must hold element " + std::to_string(index) + " of " +
                     conversions::FormatExtents(from) + ", got " + conversions::FormatExtents(to));
      place += at * pitch;
    }
    return place;
  }

  WindowAttributes attributes_;
};

}  // namespace

void RegisterMaxUnpool(KernelRegistry& registry) {
  const TypeSet floats =
      TypeSet::Tensors({ElementType::kFloat, ElementType::kDouble, ElementType::kFloat16, ElementType::kBfloat16});
  registry.RegisterKernelFn(Registration("MaxUnpool", 9, 22, {{"T1", floats}}), MakeKernel<MaxUnpool>);
}

}  // namespace light
