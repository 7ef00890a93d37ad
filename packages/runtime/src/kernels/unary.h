// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/elementwise.h"
#include "kernels/simd_dispatch.h"
#include "kernels/small_floats.h"

namespace light {

/// A node that computes every element of its output from the same one of its input: y = Op::Apply(x), in float for
/// 16-bit floats. An Op with attributes is made from the KernelInfo; an Op that names a function of the vector library
/// (kSimd), or maps at most kFloatBlock floats with several of them (MapFloats), does so wherever it computes in float.
/// kCost is in nanoseconds per element.
template <class Op, class T>
class UnaryKernel final : public std::conditional_t<std::is_same_v<T, float>, ElementwiseKernel, KernelBase> {
 public:
  explicit UnaryKernel(const KernelInfo& info) : op_(MakeOp(info)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& input = Required(context, 0, "X");
    const T* x = input.Data<T>();
    R* y = context.Output(0, input.dims()).template Data<R>();
    context.ParallelFor(input.element_count(), kCost,
                        [&](int64_t begin, int64_t end) { Loop(x + begin, y + begin, end - begin); });
  }

  // ElementwiseKernel, where it is the base. Of another result than floats there is no tile.
  void MapTile(const TileOperand* operands, float* y, int64_t n) const {
    if constexpr (kIsTiled) Loop(operands[0].data, y, n);
  }
  std::size_t tile_inputs() const noexcept { return kIsTiled ? 1 : 0; }
  double tile_cost() const noexcept { return kCost; }

 private:
  using C = ComputeType<T>;
  using Applied = decltype(std::declval<const Op&>().Apply(C{}));
  using R = std::conditional_t<std::is_same_v<Applied, C>, T, Applied>;
  static constexpr bool kIsTiled = std::is_same_v<T, float> && std::is_same_v<R, float>;
  static constexpr bool kHasSimd = requires { Op::kSimd; } || requires(const Op& op, const float* x, float* y) {
    op.MapFloats(x, y, std::size_t{});
  };
  // The C library's functions are slower than the vector library's.
  static constexpr double kCost = kHasSimd && !std::is_same_v<C, float> && Op::kCost >= 1 ? 8 * Op::kCost : Op::kCost;

  static Op MakeOp([[maybe_unused]] const KernelInfo& info) {
    if constexpr (std::is_constructible_v<Op, const KernelInfo&>) {
      return Op(info);
    } else {
      return Op();
    }
  }

  void MapFloats(const float* x, float* y, int64_t n) const {
    if constexpr (requires { Op::kSimd; }) {
      (Simd().*Op::kSimd)(x, y, static_cast<std::size_t>(n));
    } else {
      for (int64_t i = 0; i < n; i += kFloatBlock)
        op_.MapFloats(x + i, y + i, static_cast<std::size_t>(std::min(kFloatBlock, n - i)));
    }
  }

  void Loop(const T* x, R* y, int64_t n) const {
    if constexpr (kIsSmallFloat<T>) {
      // Blocks of floats on the stack, so that these types get the vector functions too.
      float block[kFloatBlock];
      for (int64_t i = 0; i < n; i += kFloatBlock) {
        const int64_t length = std::min(kFloatBlock, n - i);
        WidenElements(x + i, length, block);
        if constexpr (std::is_same_v<R, T>) {
          ComputeLoop(block, block, length);
          NarrowElements(block, length, y + i);
        } else {
          ComputeLoop(block, y + i, length);
        }
      }
    } else {
      ComputeLoop(x, y, n);
    }
  }

  template <class To>
  void ComputeLoop(const C* x, To* y, int64_t n) const {
    if constexpr (kHasSimd && std::is_same_v<C, float>) {
      MapFloats(x, y, n);
    } else {
      const Op op = op_;  // which y cannot overlap
      for (int64_t i = 0; i < n; ++i) y[i] = To(op.Apply(x[i]));
    }
  }

  [[no_unique_address]] Op op_;
};

/// Registers UnaryKernel<Op, T> for the T in `types`; `input` is the schema's name of the input.
template <class Op, class Types>
void RegisterUnaryKernel(KernelRegistry& registry, const char* op_type, const char* input, int since, int until,
                         Types types) {
  KernelRegistration registration = Registration(op_type, since, until, {{input, SetOf(types)}});
  registration.may_inplace = {{0, 0}};
  registration.is_elementwise = true;
  registry.RegisterKernelFn(registration, [types](const KernelInfo& info) {
    return WithType(types, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
      return std::make_unique<UnaryKernel<Op, typename decltype(tag)::type>>(info);
    });
  });
}

}  // namespace light
