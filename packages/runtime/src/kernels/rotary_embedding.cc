// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/families.h"

namespace light {
namespace {

/// Rotates pairs of elements of each head by the angle of their position.
class RotaryEmbedding final : public KernelBase {
 public:
  explicit RotaryEmbedding(const KernelInfo& info)
      : interleaved_(info.Int("interleaved", 0) != 0),
        rotary_(info.Int("rotary_embedding_dim", 0)),
        heads_(info.Int("num_heads", 0)) {
    if (rotary_ < 0 || rotary_ % 2 != 0)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute rotary_embedding_dim: must be even and not negative, got " + std::to_string(rotary_));
    if (heads_ < 0)
      info.Fail(ErrorCode::kInvalidGraph, "attribute num_heads: must not be negative, got " + std::to_string(heads_));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& cosines = Required(context, 1, "cos_cache");
    const Tensor& sines = Required(context, 2, "sin_cache");
    const Tensor* positions = context.Input(3);
    const Layout l = Split(x);
    CheckCache(l, cosines, positions != nullptr, 1, "cos_cache");
    CheckCache(l, sines, positions != nullptr, 2, "sin_cache");
    if (!cosines.dims().Equals(sines.dims()))
      FailArgument(InputLabel(2, "sin_cache") + ": must have the extents of cos_cache, got " + Describe(sines) +
                   " and " + Describe(cosines));
    if (positions) CheckPositions(l, *positions, cosines.dim(0));
    Tensor& y = context.Output(0, x.dims());
    if (y.element_count() == 0) return;
    WithType(TypeList<float, Float16, Bfloat16>{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto* position = positions ? positions->Data<int64_t>() : nullptr;
      const auto body = [&](int64_t begin, int64_t end) {
        for (int64_t unit = begin; unit < end; ++unit) {
          // In the order of the memory: [batch, heads, steps] of matrices, else [batch, steps, heads].
          const int64_t step = l.heads_first ? unit % l.steps : unit / l.heads % l.steps;
          const int64_t token = unit / (l.heads * l.steps) * l.steps + step;
          const int64_t row = (position ? position[token] : token) * (l.rotary / 2);
          const auto rotate = interleaved_ ? Rotate<true, T> : Rotate<false, T>;
          rotate(x.Data<T>() + unit * l.head, cosines.Data<T>() + row, sines.Data<T>() + row, l,
                 y.Data<T>() + unit * l.head);
        }
      };
      context.ParallelFor(l.batch * l.heads * l.steps, static_cast<double>(l.head), body);
    });
  }

 private:
  struct Layout {
    int64_t batch, heads, steps, head, rotary;
    bool heads_first;
  };

  Layout Split(const Tensor& x) const {
    Layout l{};
    if (x.rank() == 4) {
      l = {x.dim(0), x.dim(1), x.dim(2), x.dim(3), 0, true};
    } else if (x.rank() == 3) {
      if (heads_ == 0 || x.dim(2) % heads_ != 0)
        FailArgument(InputLabel(0, "X") + ": must have a multiple of num_heads columns, got " + Describe(x) +
                     " with num_heads = " + std::to_string(heads_));
      l = {x.dim(0), heads_, x.dim(1), x.dim(2) / heads_, 0, false};
    } else {
      FailArgument(InputLabel(0, "X") + ": must have rank 3 or 4, got " + Describe(x));
    }
    l.rotary = rotary_ > 0 ? rotary_ : l.head;
    if (l.rotary > l.head || l.rotary % 2 != 0)
      FailArgument(InputLabel(0, "X") + ": must have heads of an even size of at least rotary_embedding_dim, got " +
                   std::to_string(l.head) + " and " + std::to_string(rotary_));
    return l;
  }

  static void CheckCache(const Layout& l, const Tensor& cache, bool indexed, std::size_t i, const char* name) {
    const int64_t half = l.rotary / 2;
    if (indexed) {
      if (cache.rank() == 2 && cache.dim(1) == half) return;
      FailArgument(InputLabel(i, name) + ": must be [positions, " + std::to_string(half) +
                   "] when there are position_ids, got " + Describe(cache));
    }
    const int64_t extents[] = {l.batch, l.steps, half};
    if (!cache.dims().Equals(extents))
      FailArgument(InputLabel(i, name) + ": must be [" + std::to_string(l.batch) + ", " + std::to_string(l.steps) +
                   ", " + std::to_string(half) + "] without position_ids, got " + Describe(cache));
  }

  static void CheckPositions(const Layout& l, const Tensor& positions, int64_t count) {
    const int64_t extents[] = {l.batch, l.steps};
    if (!positions.dims().Equals(extents))
      FailArgument(InputLabel(3, "position_ids") + ": must be [" + std::to_string(l.batch) + ", " +
                   std::to_string(l.steps) + "], got " + Describe(positions));
    for (const int64_t position : positions.Span<int64_t>())
      if (position < 0 || position >= count)
        FailArgument(InputLabel(3, "position_ids") + ": must be in [0, " + std::to_string(count - 1) + "], got " +
                     std::to_string(position));
  }

  template <bool kInterleaved, class T>
  static void Rotate(const T* x, const T* cosines, const T* sines, const Layout& l, T* y) {
    const int64_t half = l.rotary / 2, partner = kInterleaved ? 1 : half;
    constexpr int64_t pitch = kInterleaved ? 2 : 1;
    for (int64_t i = 0; i < half; ++i) {
      const auto real = static_cast<float>(x[i * pitch]), imaginary = static_cast<float>(x[i * pitch + partner]);
      const auto cosine = static_cast<float>(cosines[i]), sine = static_cast<float>(sines[i]);
      y[i * pitch] = T(cosine * real - sine * imaginary);
      y[i * pitch + partner] = T(sine * real + cosine * imaginary);
    }
    std::copy(x + l.rotary, x + l.head, y + l.rotary);
  }

  bool interleaved_;
  int64_t rotary_, heads_;
};

}  // namespace

void RegisterRotaryEmbedding(KernelRegistry& registry) {
  registry.RegisterKernelFn(
      Registration("RotaryEmbedding", 23, 23, {{"T", SetOf(TypeList<float, Float16, Bfloat16>{})}}),
      MakeKernel<RotaryEmbedding>);
}

}  // namespace light
