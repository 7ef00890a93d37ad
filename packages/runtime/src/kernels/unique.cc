// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "conversions/checked_size.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

using UniqueTypes = TypeList<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                             uint32_t, uint64_t, bool, std::string>;

/// Negative, 0 or positive, as `a` comes before, with or after `b`. NaN comes last and equals NaN.
template <class T>
int Compare(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::string>) {
    return a.compare(b);
  } else {
    const auto x = static_cast<ComputeType<T>>(a), y = static_cast<ComputeType<T>>(b);
    if (x != x || y != y) return (x != x) - (y != y);
    return (x > y) - (x < y);
  }
}

/// What of a tensor is compared: `count` slices of `outer` runs of `inner` elements.
struct Slices {
  int64_t outer, count, inner;

  int64_t Run(int64_t o, int64_t slice) const { return (o * count + slice) * inner; }
};

template <class T>
int CompareSlices(const Slices& slices, const T* x, int64_t a, int64_t b) {
  for (int64_t o = 0; o < slices.outer; ++o) {
    const T *left = x + slices.Run(o, a), *right = x + slices.Run(o, b);
    for (int64_t i = 0; i < slices.inner; ++i)
      if (const int order = Compare(left[i], right[i])) return order;
  }
  return 0;
}

/// Slices that are equal, group by group.
struct Groups {
  int64_t count = 0;
  int64_t* first;  ///< by group: its first slice
  int64_t* size;   ///< by group
  int64_t* of;     ///< by slice: its group
};

/// The groups in ascending order. `order` has room for an entry per slice.
template <class T>
void Group(const Slices& slices, const T* x, int64_t* order, Groups& groups) {
  std::iota(order, order + slices.count, 0);
  std::sort(order, order + slices.count, [&](int64_t a, int64_t b) {
    const int compared = CompareSlices(slices, x, a, b);
    return compared < 0 || (compared == 0 && a < b);
  });
  for (int64_t i = 0; i < slices.count; ++i) {
    if (i == 0 || CompareSlices(slices, x, order[i - 1], order[i]) != 0) {
      groups.first[groups.count] = order[i];
      groups.size[groups.count++] = 0;
    }
    groups.of[order[i]] = groups.count - 1;
    ++groups.size[groups.count - 1];
  }
}

class Unique final : public KernelBase {
 public:
  explicit Unique(const KernelInfo& info)
      : flat_(!info.HasAttribute("axis")), axis_(info.Int("axis", 0)), sorted_(info.Int("sorted", 1) != 0) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const auto axis = static_cast<std::size_t>(flat_ ? 0 : NormalizeAxis(axis_, x.rank()));
    Slices slices{1, x.element_count(), 1};
    if (!flat_) slices = {Product(x.dims(), 0, axis), x.dim(axis), Product(x.dims(), axis + 1, x.rank())};
    if (x.element_count() == 0) slices.outer = 0;

    // By slice: the order, the groups, and where each group goes.
    const int64_t extents[] = {5, slices.count};
    const auto bytes = conversions::CheckedByteSize(ElementType::kInt64, extents);
    if (!bytes) FailArgument(InputLabel(0, "X") + ": must have fewer slices, got " + Describe(x));
    auto* order = static_cast<int64_t*>(context.TemporaryBuffer(*bytes));
    Groups groups{0, order + slices.count, order + 2 * slices.count, order + 3 * slices.count};
    WithType(UniqueTypes{}, x.type(),
             [&](auto tag) { Group(slices, x.Data<typename decltype(tag)::type>(), order, groups); });
    int64_t* place = order + 4 * slices.count;
    if (sorted_) {
      std::iota(place, place + groups.count, 0);
    } else {
      int64_t next = 0;
      for (int64_t i = 0; i < slices.count; ++i)
        if (groups.first[groups.of[i]] == i) place[groups.of[i]] = next++;
    }
    WriteSlices(context, x, axis, slices, groups, place);
    WriteNumbers(context, slices, groups, place);
  }

 private:
  void WriteSlices(RuntimeContext& context, const Tensor& x, std::size_t axis, const Slices& slices,
                   const Groups& groups, const int64_t* place) const {
    Dims dims = x.dims();
    if (flat_) dims.Resize(1);
    dims[axis] = groups.count;
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    const Slices written{slices.outer, groups.count, slices.inner};
    WithMoved(x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t o = 0; o < slices.outer; ++o)
        for (int64_t g = 0; g < groups.count; ++g)
          CopyRun(x.Data<T>() + slices.Run(o, groups.first[g]), slices.inner, y.Data<T>() + written.Run(o, place[g]));
    });
  }

  static void WriteNumbers(RuntimeContext& context, const Slices& slices, const Groups& groups, const int64_t* place) {
    const int64_t by_group[] = {groups.count}, by_slice[] = {slices.count};
    if (context.OutputRequested(1)) {
      auto* indices = context.Output(1, by_group).Data<int64_t>();
      for (int64_t g = 0; g < groups.count; ++g) indices[place[g]] = groups.first[g];
    }
    if (context.OutputRequested(2)) {
      auto* inverse = context.Output(2, by_slice).Data<int64_t>();
      for (int64_t i = 0; i < slices.count; ++i) inverse[i] = place[groups.of[i]];
    }
    if (context.OutputRequested(3)) {
      auto* counts = context.Output(3, by_group).Data<int64_t>();
      for (int64_t g = 0; g < groups.count; ++g) counts[place[g]] = groups.size[g];
    }
  }

  bool flat_;
  int64_t axis_;
  bool sorted_;
};

}  // namespace

void RegisterUnique(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Unique", 11, 28, {{"T", SetOf(UniqueTypes{})}}), MakeKernel<Unique>);
}

}  // namespace light
