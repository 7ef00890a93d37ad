// SPDX-License-Identifier: Apache-2.0
// Operators whose number of results depends on the elements: Compress, NonZero.
#include <algorithm>

#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

class Compress final : public KernelBase {
 public:
  explicit Compress(const KernelInfo& info) : flat_(!info.HasAttribute("axis")), axis_(info.Int("axis", 0)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "input");
    const Tensor& condition = Required(context, 1, "condition");
    if (condition.rank() != 1)
      FailArgument(InputLabel(1, "condition") + ": must have rank 1, got " + Describe(condition));
    const auto axis = static_cast<std::size_t>(flat_ ? 0 : NormalizeAxis(axis_, data.rank()));
    const int64_t extent = flat_ ? data.element_count() : data.dim(axis);
    // What it says of entries that are not there is passed over.
    std::span<const bool> chosen = condition.Span<bool>();
    chosen = chosen.first(std::min(chosen.size(), static_cast<std::size_t>(extent)));
    const int64_t count = std::count(chosen.begin(), chosen.end(), true);
    Dims dims = data.dims();
    if (flat_) dims.Resize(1);
    dims[axis] = count;
    Tensor& out = context.Output(0, dims);
    if (out.element_count() == 0) return;
    const int64_t outer = Product(dims, 0, axis), inner = Product(dims, axis + 1, dims.rank());
    WithMoved(data.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = kMoveCost<T> * static_cast<double>(count * inner) + static_cast<double>(chosen.size());
      context.ParallelFor(outer, cost, [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) {
          const T* from = data.Data<T>() + o * extent * inner;
          T* to = out.Data<T>() + o * count * inner;
          for (const bool take : chosen) {
            if (take) {
              CopyRun(from, inner, to);
              to += inner;
            }
            from += inner;
          }
        }
      });
    });
  }

 private:
  bool flat_;
  int64_t axis_;
};

template <class T>
bool IsNonZero(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return !value.empty();
  else
    return static_cast<ComputeType<T>>(value) != 0;
}

using NonZeroTypes = TypeList<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                              uint32_t, uint64_t, bool, std::string>;

class NonZero final : public KernelBase {
 public:
  explicit NonZero(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    WithType(NonZeroTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const std::span<const T> elements = x.Span<T>();
      const int64_t count = std::count_if(elements.begin(), elements.end(), IsNonZero<T>);
      const std::size_t rank = x.rank();
      const int64_t dims[] = {static_cast<int64_t>(rank), count};
      auto* coordinates = context.Output(0, dims).template Data<int64_t>();
      if (count == 0 || rank == 0) return;
      const int64_t length = x.dim(rank - 1);
      int64_t found = 0;
      for (int64_t line = 0; line < x.element_count() / length; ++line) {
        for (int64_t i = 0; i < length; ++i) {
          if (!IsNonZero(elements[static_cast<std::size_t>(line * length + i)])) continue;
          coordinates[static_cast<int64_t>(rank - 1) * count + found] = i;
          int64_t rest = line;
          for (std::size_t d = rank - 1; d-- > 0;) {
            coordinates[static_cast<int64_t>(d) * count + found] = rest % x.dim(d);
            rest /= x.dim(d);
          }
          ++found;
        }
      }
    });
  }
};

}  // namespace

void RegisterSelection(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Compress", 9, 28, {}), MakeKernel<Compress>);
  registry.RegisterKernelFn(Registration("NonZero", 9, 13, {{"T", SetOf(NonZeroTypes{})}}), MakeKernel<NonZero>);
}

}  // namespace light
