// SPDX-License-Identifier: Apache-2.0
// MatMulInteger and QLinearMatMul: sums of products of 8-bit integers, exact in 32 bits.
#include "conversions/shape.h"
#include "kernels/broadcast.h"
#include "kernels/families.h"
#include "kernels/integer_product.h"
#include "kernels/matmul_shapes.h"
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

/// Packs input `i` of the node if it is constant.
void PackConstant(const KernelInfo& info, std::size_t i, ConstantBytes& packed) {
  const Tensor* b = info.ConstantInput(i);
  if (!b || b->rank() == 0 || b->element_count() == 0) return;
  const int64_t k = b->dim(b->rank() == 1 ? 0 : b->rank() - 2), n = b->rank() == 1 ? 1 : b->dim(b->rank() - 1);
  packed.Pack(info, i, b->element_count() / (k * n), k, n);
}

/// Zero points as the product holds its sides: the left one as int8, the right one as uint8.
const int32_t* HeldZeros(RuntimeContext& context, const int32_t* zeros, int64_t n, int32_t moved) {
  auto* held = Scratch<int32_t>(context, n);
  for (int64_t i = 0; i < n; ++i) held[i] = zeros[i] + moved;
  return held;
}

// Product `i` of the matrices less their zero points for every i, dense in `y`.
void Multiply(RuntimeContext& context, const MatMulShapes& s, const Tensor& a, const Tensor& b,
              const ConstantBytes& constant, const int32_t* a_zero, const int32_t* b_zero, const int64_t* pairs,
              int32_t* y) {
  const bool a_signed = a.type() == ElementType::kInt8, b_signed = b.type() == ElementType::kInt8;
  const int64_t a_count = s.a_count(), b_count = s.b_count(), pitch = RowPitch(s.k);
  const ByteRows rows = HoldRows(context, a.data(), a_signed, MultiplyExtents(a_count, s.m), s.k);
  const int32_t* row_zero = HeldZeros(context, a_zero, a_count * s.m, a_signed ? 0 : -128);
  const int32_t* column_zero = HeldZeros(context, b_zero, b_count * s.n, b_signed ? 128 : 0);
  auto* right = Scratch<PackedBytes>(context, b_count);
  for (int64_t i = 0; i < b_count; ++i)
    right[i] = constant.empty()
                   ? PackBytesForRun(context, static_cast<const uint8_t*>(b.data()) + i * s.k * s.n, b_signed, s.k, s.n)
                   : constant.matrix(i);
  const int64_t count = s.count();
  if (b_count == 1 && count == a_count)  // one right side for all: a single tall product
    return MultiplyBytes(context, rows, row_zero, right[0], column_zero, s.m * count, s.n, s.k, y);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t left = pairs[2 * i] * s.m, column = pairs[2 * i + 1];
    MultiplyBytes(context, {rows.rows + left * pitch, rows.sums + left}, row_zero + left, right[column],
                  column_zero + column * s.n, s.m, s.n, s.k, y + i * s.m * s.n);
  }
}

class MatMulInteger final : public KernelBase {
 public:
  explicit MatMulInteger(const KernelInfo& info) { PackConstant(info, 1, packed_); }

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
    Multiply(context, s, a, b, packed_, a_zero, b_zero, s.Pairs(context), y.Data<int32_t>());
  }

 private:
  ConstantBytes packed_;
};

class QLinearMatMul final : public KernelBase {
 public:
  explicit QLinearMatMul(const KernelInfo& info) { PackConstant(info, 3, packed_); }

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
    auto* sums = Scratch<int32_t>(context, y.element_count());
    Multiply(context, s, a, b, packed_, a_zero, b_zero, pairs, sums);
    const double divisor = ElementAsDouble(y_scale, 0);
    const simd::QuantizedRange range = ByteRange(y_zero);
    auto* out = static_cast<uint8_t*>(y.data());
    context.ParallelFor(s.count() * s.m, 0.5 * static_cast<double>(s.n) + 5, [&](int64_t begin, int64_t end) {
      constexpr int64_t kBlock = 256;
      double factors[kBlock];
      for (int64_t row = begin; row < end; ++row) {
        const int64_t i = row / s.m;
        const double factor = a_scale[pairs[2 * i] * s.m + row % s.m] / divisor;
        const double* columns = b_scale + pairs[2 * i + 1] * s.n;
        for (int64_t j = 0; j < s.n; j += kBlock) {
          const int64_t n = std::min(kBlock, s.n - j);
          for (int64_t c = 0; c < n; ++c) factors[c] = factor * columns[j + c];
          Simd().requantize(sums + row * s.n + j, factors, false, &range, out + row * s.n + j,
                            static_cast<std::size_t>(n));
        }
      }
    });
  }

 private:
  ConstantBytes packed_;
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
