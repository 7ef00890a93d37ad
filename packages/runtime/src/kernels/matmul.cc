// SPDX-License-Identifier: Apache-2.0
#include "exec/growing_buffer.h"
#include "kernels/arguments.h"
#include "kernels/epilogue.h"
#include "kernels/families.h"
#include "kernels/matmul_shapes.h"
#include "kernels/packed_product.h"
#include "kernels/scratch.h"

namespace light {
namespace {

class MatMul final : public PackedProduct {
 public:
  explicit MatMul(const KernelInfo& info) : epilogue_(info.epilogue()) {
    const Tensor* b = info.ConstantInput(1);
    if (!b || b->rank() == 0 || b->element_count() == 0) return;
    const bool vector = b->rank() == 1;
    const int64_t k = b->dim(vector ? 0 : b->rank() - 2), n = vector ? 1 : b->dim(b->rank() - 1);
    if (b->type() != ElementType::kFloat && b->type() != ElementType::kFloat16 && b->type() != ElementType::kBfloat16)
      return;
    MemoryBudget* const budget = BudgetOfMapped(info, 1);
    const auto pack = [this, b = *b, k, n, budget] {
      GrowingBuffer wide;
      const float* data = b.Data<float>();
      if (b.type() != ElementType::kFloat) {
        wide.Reserve(static_cast<std::size_t>(b.element_count()) * sizeof(float), budget, "widened weights");
        auto* to = static_cast<float*>(wide.data());
        if (b.type() == ElementType::kFloat16) {
          WidenElements(b.Data<Float16>(), b.element_count(), to);
        } else {
          WidenElements(b.Data<Bfloat16>(), b.element_count(), to);
        }
        data = to;
      }
      packed_.Pack({data, n, 1}, k * n, b.element_count() / (k * n), k, n);
    };
    packed_.Prepare(info, 1, pack);
  }

  void Run(RuntimeContext& context) override {
    const Tensor& a = Required(context, 0, "A");
    const Tensor& b = Required(context, 1, "B");
    MatMulShapes shapes(a, b);
    Tensor& y = context.Output(0, shapes.out);
    if (y.element_count() == 0) return;
    if (a.type() == ElementType::kFloat)
      return Float(context, shapes, a.Data<float>(), packed_.empty() ? b.Data<float>() : nullptr,
                   Resolve(epilogue_, context), y.Data<float>());
    WithType(MatrixTypes{}, a.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kIsSmallFloat<T>) {
        const float* left = WidenForRun(context, a.Data<T>(), a.element_count());
        const float* right = packed_.empty() ? WidenForRun(context, b.Data<T>(), b.element_count()) : nullptr;
        auto* wide = Scratch<float>(context, y.element_count());
        Float(context, shapes, left, right, {}, wide);
        NarrowTo(context, wide, y.element_count(), y.Data<T>());
      } else if constexpr (!std::is_same_v<T, float>) {
        Plain(context, shapes, a.Data<T>(), b.Data<T>(), y.Data<T>());
      }
    });
  }

 private:
  // `b` is null when the constant was packed.
  void Float(RuntimeContext& context, MatMulShapes& s, const float* a, const float* b,
             const EpilogueArguments& epilogue, float* y) const {
    const int64_t b_count = s.b_count();
    int64_t count = s.count();
    if (b_count == 1 && count == s.a_count()) {
      s.m *= count;  // one right side for all: a single tall product
      count = 1;
    }
    const int64_t* pairs = count > 1 ? s.Pairs(context) : nullptr;
    const auto left = [&](int64_t i) { return a + (pairs ? pairs[2 * i] : 0) * s.m * s.k; };
    const auto right = [&](int64_t i) { return pairs ? pairs[2 * i + 1] : 0; };
    if (b && s.m <= 2) {
      return ByRows(context, s, count, left, [&](int64_t i) { return b + right(i) * s.k * s.n; }, epilogue, y);
    }
    const float* packed = b ? PackForRun(context, {b, s.n, 1}, s.k * s.n, b_count, s.k, s.n) : packed_.matrix(0);
    const int64_t size = PackedSize(s.k, s.n);
    const bool reversed = !b && packed_.WalkBack(context, s.m);
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
                            epilogue.bias,
                            nullptr,
                            false,
                            epilogue.relu,
                            epilogue.residual ? epilogue.residual + i * s.m * s.n : nullptr,
                            reversed};
    });
  }

  // A right side that is used for a row or two is not worth packing: its rows are added up, scaled.
  template <class Left, class Right>
  static void ByRows(RuntimeContext& context, const MatMulShapes& s, int64_t count, Left left, Right right,
                     const EpilogueArguments& epilogue, float* y) {
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
        const int64_t at = (i * s.m + row) * s.n + first;
        float* out = y + at;
        std::fill_n(out, width, 0.f);
        for (int64_t k = 0; k < s.k; ++k) simd.axpy(factors[k], lines + k * s.n, out, width);
        if (epilogue.bias) simd.add(out, epilogue.bias + first, out, width);
        if (epilogue.residual) simd.add(out, epilogue.residual + at, out, width);
        if (epilogue.relu) simd.relu(out, out, width);
      }
    });
  }

  template <class T>
  static void Plain(RuntimeContext& context, const MatMulShapes& s, const T* a, const T* b, T* y) {
    const int64_t count = s.count();
    const int64_t* pairs = s.Pairs(context);
    for (int64_t i = 0; i < count; ++i)
      MultiplyPlain<T>(context, {a + pairs[2 * i] * s.m * s.k, s.k, 1}, {b + pairs[2 * i + 1] * s.k * s.n, s.n, 1}, s.m,
                       s.n, s.k, y + i * s.m * s.n);
  }

  Epilogue epilogue_;
};

}  // namespace

void RegisterMatMul(KernelRegistry& registry) {
  KernelRegistration registration = Registration("MatMul", 1, 13, {{"T", SetOf(MatrixTypes{})}});
  registration.epilogue = {.bias = true, .residual = true, .relu = true, .siblings = true};
  registry.RegisterKernelFn(registration, MakeKernel<MatMul>);
}

}  // namespace light
