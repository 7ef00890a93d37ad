// SPDX-License-Identifier: Apache-2.0
// MatMulInteger and QLinearMatMul: sums of products of 8-bit integers, exact in 32 bits.
#include "conversions/shape.h"
#include "kernels/broadcast.h"
#include "kernels/families.h"
#include "kernels/matmul_shapes.h"
#include "kernels/matrix_product.h"
#include "kernels/moments.h"
#include "kernels/quantization.h"
#include "kernels/scratch.h"

namespace light {
namespace {

/// A scale or zero point as one number per row of A or per column of B: [matrices, rows] or [matrices, columns].
template <class T, class Types>
const T* PerLine(RuntimeContext& context, Types types, std::size_t i, const char* name, const Tensor* tensor,
                 const Dims& batch, int64_t lines, bool rows) {
  Dims target = batch;
  target.Resize(batch.rank() + 2);
  target[batch.rank()] = rows ? lines : 1;
  target[batch.rank() + 1] = rows ? 1 : lines;
  const int64_t total = Product(target, 0, target.rank());
  auto* numbers = Scratch<T>(context, total);
  if (!tensor) {
    std::fill_n(numbers, total, T{0});
    return numbers;
  }
  Dims own = tensor->dims();
  if (tensor->element_count() == 1) {
    own.Resize(0);
  } else if (rows && own.rank() == 1) {  // one per row
    own.Resize(2);
    own[1] = 1;
  }
  bool fits = own.rank() <= target.rank();
  for (std::size_t d = 0; fits && d < own.rank(); ++d) {
    const int64_t extent = target[target.rank() - own.rank() + d];
    fits = own[d] == extent || own[d] == 1;
  }
  if (!fits)
    FailArgument(InputLabel(i, name) + ": must be a scalar or one per " + (rows ? "row, " : "column, ") +
                 conversions::FormatExtents(target) + ", got " + Describe(*tensor));
  const Dims* inputs[] = {&target, &own};
  const BroadcastPlan plan(inputs);
  WithType(types, tensor->type(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    ForEachRun(plan, 0, total, [&](int64_t position, int64_t length, const auto& offsets) {
      for (int64_t k = 0; k < length; ++k)
        numbers[position + k] =
            static_cast<T>(static_cast<ComputeType<S>>(tensor->Data<S>()[offsets[1] + (plan.advances(1) ? k : 0)]));
    });
  });
  return numbers;
}

// Matrices [rows, columns] less their zero points, of which there is one per row or per column.
const uint32_t* Centered(RuntimeContext& context, const Tensor& tensor, int64_t rows, int64_t columns,
                         const int32_t* zeros, bool per_row) {
  auto* centered = Scratch<uint32_t>(context, tensor.element_count());
  if (tensor.element_count() == 0) return centered;
  WithType(ByteTypes{}, tensor.type(), [&](auto tag) {
    const auto* from = tensor.Data<typename decltype(tag)::type>();
    context.ParallelFor(
        tensor.element_count() / columns, static_cast<double>(columns), [&](int64_t begin, int64_t end) {
          for (int64_t line = begin; line < end; ++line) {
            const int32_t* zero = per_row ? zeros + line : zeros + line / rows * columns;
            for (int64_t j = 0; j < columns; ++j)
              centered[line * columns + j] = static_cast<uint32_t>(from[line * columns + j] - zero[per_row ? 0 : j]);
          }
        });
  });
  return centered;
}

// Product `i` of the centered matrices for every i, dense in `y`.
void Multiply(RuntimeContext& context, const MatMulShapes& s, const Tensor& a, const Tensor& b, const int32_t* a_zero,
              const int32_t* b_zero, const int64_t* pairs, uint32_t* y) {
  const uint32_t* left = Centered(context, a, s.m, s.k, a_zero, true);
  const uint32_t* right = Centered(context, b, s.k, s.n, b_zero, false);
  for (int64_t i = 0; i < s.count(); ++i)
    MultiplyPlain<uint32_t>(context, {left + pairs[2 * i] * s.m * s.k, s.k, 1},
                            {right + pairs[2 * i + 1] * s.k * s.n, s.n, 1}, s.m, s.n, s.k, y + i * s.m * s.n);
}

class MatMulInteger final : public KernelBase {
 public:
  explicit MatMulInteger(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const Tensor& a = Required(context, 0, "A");
    const Tensor& b = Required(context, 1, "B");
    const MatMulShapes s(a, b);
    Tensor& y = context.Output(0, s.out);
    if (y.element_count() == 0) return;
    const auto* a_zero =
        PerLine<int32_t>(context, ByteTypes{}, 2, "a_zero_point", context.Input(2), s.a_batch, s.m, true);
    const auto* b_zero =
        PerLine<int32_t>(context, ByteTypes{}, 3, "b_zero_point", context.Input(3), s.b_batch, s.n, false);
    Multiply(context, s, a, b, a_zero, b_zero, s.Pairs(context), y.Data<uint32_t>());
  }
};

class QLinearMatMul final : public KernelBase {
 public:
  explicit QLinearMatMul(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const Tensor& a = Required(context, 0, "a");
    const Tensor& b = Required(context, 3, "b");
    const MatMulShapes s(a, b, 3);
    Tensor& y = context.Output(0, s.out);
    if (y.element_count() == 0) return;
    const auto real = [&](std::size_t i, const char* name, bool rows) {
      return PerLine<double>(context, FloatTypes{}, i, name, &Required(context, i, name), rows ? s.a_batch : s.b_batch,
                             rows ? s.m : s.n, rows);
    };
    const auto whole = [&](std::size_t i, const char* name, bool rows) {
      return PerLine<int32_t>(context, ByteTypes{}, i, name, &Required(context, i, name), rows ? s.a_batch : s.b_batch,
                              rows ? s.m : s.n, rows);
    };
    const double *a_scale = real(1, "a_scale", true), *b_scale = real(4, "b_scale", false);
    const int32_t *a_zero = whole(2, "a_zero_point", true), *b_zero = whole(5, "b_zero_point", false);
    const Tensor& y_scale = SingleElement(context, 6, "y_scale");
    const Tensor& y_zero = SingleElement(context, 7, "y_zero_point");
    const int64_t* pairs = s.Pairs(context);
    auto* sums = Scratch<uint32_t>(context, y.element_count());
    Multiply(context, s, a, b, a_zero, b_zero, pairs, sums);
    const double divisor = ElementAsDouble(y_scale, 0);
    WithType(ByteTypes{}, y.type(), [&](auto tag) {
      using Q = typename decltype(tag)::type;
      const int32_t zero = y_zero.Data<Q>()[0];
      context.ParallelFor(s.count() * s.m, 2 * static_cast<double>(s.n), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t i = row / s.m;
          const double factor = a_scale[pairs[2 * i] * s.m + row % s.m] / divisor;
          const double* columns = b_scale + pairs[2 * i + 1] * s.n;
          for (int64_t j = row * s.n; j < (row + 1) * s.n; ++j)
            y.Data<Q>()[j] =
                RoundToQuantized<Q>(static_cast<int32_t>(sums[j]) * (factor * columns[j - row * s.n]), zero);
        }
      });
    });
  }
};

}  // namespace

void RegisterIntegerMatMul(KernelRegistry& registry) {
  const TypeSet bytes = SetOf(ByteTypes{}), floats = SetOf(FloatTypes{});
  registry.RegisterKernelFn(Registration("MatMulInteger", 10, 10, {{"T1", bytes}, {"T2", bytes}}),
                            MakeKernel<MatMulInteger>);
  registry.RegisterKernelFn(
      Registration("QLinearMatMul", 10, 21, {{"T1", bytes}, {"T2", bytes}, {"T3", bytes}, {"TS", floats}}),
      MakeKernel<QLinearMatMul>);
}

}  // namespace light
