// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/families.h"
#include "kernels/matrix_product.h"

namespace light {
namespace {

/// numpy's matmul: the last two axes are matrices, the axes before them broadcast; a vector is a row on the left and a
/// column on the right, and its axis does not appear in the result.
struct Shapes {
  Dims out;
  Dims a_batch, b_batch;
  int64_t m = 1, n = 1, k = 1;

  Shapes(const Tensor& a, const Tensor& b) {
    if (a.rank() == 0 || b.rank() == 0)
      FailArgument("inputs 0 (A) and 1 (B): must have at least one axis, got " + Describe(a) + " and " + Describe(b));
    const bool a_vector = a.rank() == 1, b_vector = b.rank() == 1;
    m = a_vector ? 1 : a.dim(a.rank() - 2);
    k = a.dim(a.rank() - 1);
    n = b_vector ? 1 : b.dim(b.rank() - 1);
    if (b.dim(b_vector ? 0 : b.rank() - 2) != k)
      FailArgument("input 1 (B): must have " + std::to_string(k) + " rows, the last extent of " + Describe(a) +
                   ", got " + Describe(b));
    if (!a_vector) a_batch.Assign(a.dims().span().first(a.rank() - 2));
    if (!b_vector) b_batch.Assign(b.dims().span().first(b.rank() - 2));
    const Dims* batches[] = {&a_batch, &b_batch};
    out = BroadcastPlan(batches).out;
    if (!a_vector) Append(m);
    if (!b_vector) Append(n);
  }

 private:
  void Append(int64_t extent) {
    out.Resize(out.rank() + 1);
    out[out.rank() - 1] = extent;
  }
};

int64_t CountOf(const Dims& dims) { return Product(dims, 0, dims.rank()); }

class MatMul final : public KernelBase {
 public:
  explicit MatMul(const KernelInfo& info) {
    const Tensor* b = info.ConstantInput(1);
    if (!b || b->rank() == 0 || b->element_count() == 0) return;
    const bool vector = b->rank() == 1;
    const int64_t k = b->dim(vector ? 0 : b->rank() - 2), n = vector ? 1 : b->dim(b->rank() - 1);
    if (b->type() != ElementType::kFloat && b->type() != ElementType::kFloat16 && b->type() != ElementType::kBfloat16)
      return;
    const auto pack = [this, b = *b, k, n] {
      std::vector<float> wide;
      const float* data = b.Data<float>();
      if (b.type() != ElementType::kFloat) {
        wide.resize(static_cast<std::size_t>(b.element_count()));
        for (std::size_t i = 0; i < wide.size(); ++i)
          wide[i] = b.type() == ElementType::kFloat16 ? static_cast<float>(b.Data<Float16>()[i])
                                                      : static_cast<float>(b.Data<Bfloat16>()[i]);
        data = wide.data();
      }
      packed_.Pack({data, n, 1}, k * n, b.element_count() / (k * n), k, n);
    };
    if (IsMapped(info, 1)) {
      packed_.PackLater(pack);
    } else {
      pack();
    }
  }

  void Run(RuntimeContext& context) override {
    const Tensor& a = Required(context, 0, "A");
    const Tensor& b = Required(context, 1, "B");
    Shapes shapes(a, b);
    Tensor& y = context.Output(0, shapes.out);
    if (y.element_count() == 0) return;
    if (a.type() == ElementType::kFloat)
      return Float(context, shapes, a.Data<float>(), packed_.empty() ? b.Data<float>() : nullptr, y.Data<float>());
    WithType(MatrixTypes{}, a.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kIsSmallFloat<T>) {
        const float* left = WidenForRun(context, a.Data<T>(), a.element_count());
        const float* right = packed_.empty() ? WidenForRun(context, b.Data<T>(), b.element_count()) : nullptr;
        auto* wide =
            static_cast<float*>(context.TemporaryBuffer(sizeof(float) * static_cast<std::size_t>(y.element_count())));
        Float(context, shapes, left, right, wide);
        NarrowTo(context, wide, y.element_count(), y.Data<T>());
      } else if constexpr (!std::is_same_v<T, float>) {
        Plain(context, shapes, a.Data<T>(), b.Data<T>(), y.Data<T>());
      }
    });
  }

 private:
  /// Which matrix of A and of B product i takes.
  static const int64_t* Pairs(RuntimeContext& context, const Shapes& s) {
    const Dims* batches[] = {&s.a_batch, &s.b_batch};
    const BroadcastPlan plan(batches);
    auto* pairs =
        static_cast<int64_t*>(context.TemporaryBuffer(sizeof(int64_t) * 2 * static_cast<std::size_t>(plan.total)));
    ForEachRun(plan, 0, plan.total, [&](int64_t position, int64_t length, const auto& offsets) {
      for (int64_t i = 0; i < length; ++i) {
        pairs[2 * (position + i)] = offsets[0] + (plan.advances(0) ? i : 0);
        pairs[2 * (position + i) + 1] = offsets[1] + (plan.advances(1) ? i : 0);
      }
    });
    return pairs;
  }

  // `b` is null when the constant was packed.
  void Float(RuntimeContext& context, Shapes& s, const float* a, const float* b, float* y) const {
    const int64_t b_count = CountOf(s.b_batch);
    int64_t count = Product(s.out, 0, std::max(s.a_batch.rank(), s.b_batch.rank()));
    if (b_count == 1 && count == CountOf(s.a_batch)) {
      s.m *= count;  // one right side for all: a single tall product
      count = 1;
    }
    const int64_t* pairs = count > 1 ? Pairs(context, s) : nullptr;
    const auto left = [&](int64_t i) { return a + (pairs ? pairs[2 * i] : 0) * s.m * s.k; };
    const auto right = [&](int64_t i) { return pairs ? pairs[2 * i + 1] : 0; };
    if (b && s.m <= 2) return ByRows(context, s, count, left, [&](int64_t i) { return b + right(i) * s.k * s.n; }, y);
    const float* packed = b ? PackForRun(context, {b, s.n, 1}, s.k * s.n, b_count, s.k, s.n) : packed_.matrix(0);
    const int64_t size = PackedSize(s.k, s.n);
    RunProducts(context, count, s.m, [&](int64_t i) {
      return simd::GemmArgs{left(i),
                            s.k,
                            1,
                            packed + right(i) * size,
                            y + i * s.m * s.n,
                            s.n,
                            static_cast<std::size_t>(s.n),
                            static_cast<std::size_t>(s.k),
                            1.f,
                            nullptr,
                            nullptr,
                            false,
                            false};
    });
  }

  // A right side that is used for a row or two is not worth packing: its rows are added up, scaled.
  template <class Left, class Right>
  static void ByRows(RuntimeContext& context, const Shapes& s, int64_t count, Left left, Right right, float* y) {
    constexpr int64_t kBlock = 512;
    const simd::SimdTable& simd = Simd();
    const int64_t blocks = (s.n + kBlock - 1) / kBlock;
    const double cost =
        0.1 * static_cast<double>(s.k) * static_cast<double>(std::min(kBlock, s.n)) + 5 * static_cast<double>(s.k);
    context.ParallelFor(count * s.m * blocks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t i = unit / blocks / s.m, row = unit / blocks % s.m, first = unit % blocks * kBlock;
        const auto width = static_cast<std::size_t>(std::min(kBlock, s.n - first));
        const float* factors = left(i) + row * s.k;
        const float* lines = right(i) + first;
        float* out = y + (i * s.m + row) * s.n + first;
        std::fill_n(out, width, 0.f);
        for (int64_t k = 0; k < s.k; ++k) simd.axpy(factors[k], lines + k * s.n, out, width);
      }
    });
  }

  template <class T>
  static void Plain(RuntimeContext& context, const Shapes& s, const T* a, const T* b, T* y) {
    const int64_t count = Product(s.out, 0, std::max(s.a_batch.rank(), s.b_batch.rank()));
    const int64_t* pairs = Pairs(context, s);
    for (int64_t i = 0; i < count; ++i)
      MultiplyPlain<T>(context, {a + pairs[2 * i] * s.m * s.k, s.k, 1}, {b + pairs[2 * i + 1] * s.k * s.n, s.n, 1}, s.m,
                       s.n, s.k, y + i * s.m * s.n);
  }

  PackedMatrices packed_;
};

}  // namespace

void RegisterMatMul(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("MatMul", 1, 13, {{"T", SetOf(MatrixTypes{})}}), MakeKernel<MatMul>);
}

}  // namespace light
