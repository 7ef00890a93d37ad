// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/elementwise.h"
#include "kernels/simd_dispatch.h"

namespace light {

/// An elementwise operation of two inputs on `n` contiguous elements, where either may be one element for all.
struct BinaryLoops {
  using Fn = void (*)(const void* a, const void* b, void* y, int64_t n);
  Fn both;          ///< both advance
  Fn scalar_right;  ///< b is one element
  Fn scalar_left;   ///< a is one element
  std::size_t a_size;
  std::size_t b_size;
  std::size_t y_size;
  double cost;  ///< nanoseconds per element
};

/// The loops of Op::Apply(A, B) -> R, computed in float for 16-bit floats.
template <class Op, class A, class B, class R>
struct GenericLoops {
  static R One(const A& a, const B& b) { return R(Op::Apply(Widen(a), Widen(b))); }
  static void Both(const void* a, const void* b, void* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      static_cast<R*>(y)[i] = One(static_cast<const A*>(a)[i], static_cast<const B*>(b)[i]);
  }
  static void ScalarRight(const void* a, const void* b, void* y, int64_t n) {
    const B& scalar = *static_cast<const B*>(b);
    if constexpr (std::is_arithmetic_v<B>) {
      const B copy = scalar;  // y may be b
      for (int64_t i = 0; i < n; ++i) static_cast<R*>(y)[i] = One(static_cast<const A*>(a)[i], copy);
    } else {
      for (int64_t i = 0; i < n; ++i) static_cast<R*>(y)[i] = One(static_cast<const A*>(a)[i], scalar);
    }
  }
  static void ScalarLeft(const void* a, const void* b, void* y, int64_t n) {
    const A& scalar = *static_cast<const A*>(a);
    if constexpr (std::is_arithmetic_v<A>) {
      const A copy = scalar;
      for (int64_t i = 0; i < n; ++i) static_cast<R*>(y)[i] = One(copy, static_cast<const B*>(b)[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) static_cast<R*>(y)[i] = One(scalar, static_cast<const B*>(b)[i]);
    }
  }
  static BinaryLoops Get(double cost) { return {Both, ScalarRight, ScalarLeft, sizeof(A), sizeof(B), sizeof(R), cost}; }

 private:
  template <class T>
  static decltype(auto) Widen(const T& value) {
    if constexpr (kIsSmallFloat<T>) {
      return static_cast<float>(value);
    } else {
      return (value);
    }
  }
};

template <simd::BinaryFn simd::SimdTable::* kFunction, bool kSwap = false>
void SimdLoop(const void* a, const void* b, void* y, int64_t n) {
  (Simd().*kFunction)(static_cast<const float*>(kSwap ? b : a), static_cast<const float*>(kSwap ? a : b),
                      static_cast<float*>(y), static_cast<std::size_t>(n));
}

/// The loops of Op::Apply(A, B) -> R. For floats those of the vector library that the Op names: kBoth, kScalarRight,
/// and kScalarLeft unless it commutes (kCommutes). `cost` is that of the others, in nanoseconds per element.
template <class Op, class A, class B, class R>
BinaryLoops LoopsFor(double cost) {
  BinaryLoops loops = GenericLoops<Op, A, B, R>::Get(cost);
  if constexpr (requires { Op::kBoth; } && std::is_same_v<A, float> && std::is_same_v<B, float> &&
                std::is_same_v<R, float>) {
    loops.cost = 0.4;
    loops.both = SimdLoop<Op::kBoth>;
    loops.scalar_right = SimdLoop<Op::kScalarRight>;
    if constexpr (requires { Op::kScalarLeft; }) {
      loops.scalar_left = SimdLoop<Op::kScalarLeft>;
    } else if constexpr (requires { Op::kCommutes; }) {
      loops.scalar_left = SimdLoop<Op::kScalarRight, true>;
    }
  }
  return loops;
}

/// How the extents of the second input meet those of the first.
enum class BinaryAlignment : uint8_t {
  kMutual,      ///< either broadcasts to the other
  kAttributes,  ///< before version 7: only the second broadcasts, as the attributes `broadcast` and `axis` say
  kChannels,    ///< only the second broadcasts, and a vector lies along axis 1
};

/// A node with two inputs that broadcast.
class BinaryKernel final : public ElementwiseKernel {
 public:
  BinaryKernel(const KernelInfo& info, const BinaryLoops& loops, BinaryAlignment alignment);
  /// With the usual alignment of the node's version.
  BinaryKernel(const KernelInfo& info, const BinaryLoops& loops)
      : BinaryKernel(info, loops, info.since_version() < 7 ? BinaryAlignment::kAttributes : BinaryAlignment::kMutual) {}
  void Run(RuntimeContext& context) override;
  void MapTile(const TileOperand* operands, float* y, int64_t n) const override {
    (!operands[0].advances  ? loops_.scalar_left
     : operands[1].advances ? loops_.both
                            : loops_.scalar_right)(operands[0].data, operands[1].data, y, n);
  }
  std::size_t tile_inputs() const noexcept override { return alignment_ == BinaryAlignment::kMutual ? 2 : 0; }
  double tile_cost() const noexcept override { return loops_.cost; }

 private:
  Dims Aligned(const Dims& a, const Dims& b) const;
  Dims AlignedByAttributes(const Dims& a, const Dims& b) const;

  BinaryLoops loops_;
  BinaryAlignment alignment_;
  std::string a_name_;
  std::string b_name_;
  bool legacy_broadcast_ = false;
  bool has_axis_ = false;
  int64_t axis_ = 0;
};

/// The kernel of Op::Apply(T, T) -> T for the T in `types` that the inputs have.
template <class Op, class Types>
std::unique_ptr<KernelBase> MakeBinaryKernel(const KernelInfo& info, Types types, double cost,
                                             BinaryAlignment alignment = BinaryAlignment::kMutual) {
  return WithType(types, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
    using T = typename decltype(tag)::type;
    const BinaryLoops loops = LoopsFor<Op, T, T, T>(kIsSmallFloat<T> ? cost + 2 : cost);
    return std::make_unique<BinaryKernel>(info, loops, alignment);
  });
}

}  // namespace light
