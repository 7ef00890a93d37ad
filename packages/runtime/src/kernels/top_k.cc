// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/float_keys.h"
#include "kernels/scratch.h"

namespace light {
namespace {

/// Whether `a` comes before `b`, from large to small or from small to large. NaN counts as larger than every number.
template <bool kLargest, class C>
bool IsBefore(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (a != a || b != b) return kLargest ? a != a && b == b : a == a && b != b;
  }
  return kLargest ? a > b : a < b;
}

/// The indices of the first `k` of `extent` elements, in order, into `best`.
template <bool kLargest, class T>
void Select(const T* x, int64_t extent, int64_t pitch, int64_t* best, int64_t k) {
  using C = ComputeType<T>;
  const auto at = [&](int64_t i) { return static_cast<C>(x[i * pitch]); };
  // Of equal elements the one with the lower index comes first.
  const auto before = [&](int64_t a, int64_t b) {
    const C left = at(a), right = at(b);
    if (IsBefore<kLargest>(left, right)) return true;
    return !IsBefore<kLargest>(right, left) && a < b;
  };
  for (int64_t i = 0; i < k; ++i) best[i] = i;
  std::make_heap(best, best + k, before);  // the last of the chosen on top
  for (int64_t i = k; i < extent; ++i) {
    if (!IsBefore<kLargest>(at(i), at(best[0]))) continue;
    std::pop_heap(best, best + k, before);
    best[k - 1] = i;
    std::push_heap(best, best + k, before);
  }
  std::sort_heap(best, best + k, before);
}

/// As Select, of at most kMostKeys floats; `keys` has room for `extent`.
template <bool kLargest>
void SelectFloats(const float* x, int64_t extent, int64_t pitch, int64_t* best, int64_t k, uint64_t* keys) {
  const auto key = [&](int64_t i) {
    const uint32_t order = OrderOf(x[i * pitch]);
    return KeyOf(kLargest ? ~order : order, i);
  };
  if (k > extent / 16) {
    for (int64_t i = 0; i < extent; ++i) keys[i] = key(i);
    if (k < extent) std::nth_element(keys, keys + k, keys + extent);
  } else {
    for (int64_t i = 0; i < k; ++i) keys[i] = key(i);
    std::make_heap(keys, keys + k);  // the last of the chosen on top
    for (int64_t i = k; i < extent; ++i) {
      const uint64_t next = key(i);
      if (next > keys[0]) continue;
      std::pop_heap(keys, keys + k);
      keys[k - 1] = next;
      std::push_heap(keys, keys + k);
    }
  }
  std::sort(keys, keys + k);
  for (int64_t i = 0; i < k; ++i) best[i] = IndexOf(keys[i]);
}

class TopK final : public KernelBase {
 public:
  explicit TopK(const KernelInfo& info)
      : from_attribute_(info.since_version() < 10),
        k_(info.Int("k", 0)),
        axis_(info.Int("axis", -1)),
        largest_(info.Int("largest", 1) != 0) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, x.rank()));
    const int64_t k = from_attribute_ ? k_ : ReadInteger(Required(context, 1, "K"), 1, "K");
    if (k < 0 || k > x.dim(axis))
      FailArgument((from_attribute_ ? "attribute k" : InputLabel(1, "K")) + ": must be in [0, " +
                   std::to_string(x.dim(axis)) + "] for axis " + std::to_string(axis) + ", got " + std::to_string(k));
    Dims dims = x.dims();
    dims[axis] = k;
    Tensor& values = context.Output(0, dims);
    Tensor& indices = context.Output(1, dims);
    if (values.element_count() == 0) return;
    const int64_t outer = Product(dims, 0, axis), inner = Product(dims, axis + 1, dims.rank());
    WithType(NumberTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (largest_)
        Fill<true, T>(context, outer, x.dim(axis), inner, k, x, values, indices);
      else
        Fill<false, T>(context, outer, x.dim(axis), inner, k, x, values, indices);
    });
  }

 private:
  template <bool kLargest, class T>
  static void Fill(RuntimeContext& context, int64_t outer, int64_t extent, int64_t inner, int64_t k, const Tensor& x,
                   Tensor& values, Tensor& indices) {
    // Each task has scratch of its own.
    const int64_t lines = outer * inner, tasks = std::min<int64_t>(lines, 64);
    auto* scratch = Scratch<int64_t>(context, tasks * k);
    const bool by_keys = std::is_same_v<T, float> && extent <= kMostKeys;
    auto* keys = Scratch<uint64_t>(context, by_keys ? tasks * extent : 0);
    const double cost = 3 * static_cast<double>(extent) * static_cast<double>(lines / tasks + 1);
    context.ParallelFor(tasks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        int64_t* best = scratch + task * k;
        for (int64_t line = task; line < lines; line += tasks) {
          const T* from = x.Data<T>() + line / inner * extent * inner + line % inner;
          if constexpr (std::is_same_v<T, float>) {
            if (by_keys)
              SelectFloats<kLargest>(from, extent, inner, best, k, keys + task * extent);
            else
              Select<kLargest>(from, extent, inner, best, k);
          } else {
            Select<kLargest>(from, extent, inner, best, k);
          }
          const int64_t at = line / inner * k * inner + line % inner;
          for (int64_t i = 0; i < k; ++i) {
            values.Data<T>()[at + i * inner] = from[best[i] * inner];
            indices.Data<int64_t>()[at + i * inner] = best[i];
          }
        }
      }
    });
  }

  bool from_attribute_;
  int64_t k_;
  int64_t axis_;
  bool largest_;
};

}  // namespace

void RegisterTopK(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("TopK", 1, 24, {}), MakeKernel<TopK>);
}

}  // namespace light
