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
  double cost;              ///< nanoseconds per element
  bool is_blocked = false;  ///< a and b are 16-bit floats, which a call for a few of them is dear for
};

/// The loops of Op::Apply(A, B) -> R.
template <class Op, class A, class B, class R>
struct GenericLoops {
  static void Both(const void* a, const void* b, void* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      static_cast<R*>(y)[i] = R(Op::Apply(static_cast<const A*>(a)[i], static_cast<const B*>(b)[i]));
  }
  static void ScalarRight(const void* a, const void* b, void* y, int64_t n) {
    const B& scalar = *static_cast<const B*>(b);
    if constexpr (std::is_arithmetic_v<B>) {
      const B copy = scalar;  // y may be b
      for (int64_t i = 0; i < n; ++i) static_cast<R*>(y)[i] = R(Op::Apply(static_cast<const A*>(a)[i], copy));
    } else {
      for (int64_t i = 0; i < n; ++i) static_cast<R*>(y)[i] = R(Op::Apply(static_cast<const A*>(a)[i], scalar));
    }
  }
  static void ScalarLeft(const void* a, const void* b, void* y, int64_t n) {
    const A& scalar = *static_cast<const A*>(a);
    if constexpr (std::is_arithmetic_v<A>) {
      const A copy = scalar;
      for (int64_t i = 0; i < n; ++i) static_cast<R*>(y)[i] = R(Op::Apply(copy, static_cast<const B*>(b)[i]));
    } else {
      for (int64_t i = 0; i < n; ++i) static_cast<R*>(y)[i] = R(Op::Apply(scalar, static_cast<const B*>(b)[i]));
    }
  }
};

template <simd::BinaryFn simd::SimdTable::* kFunction, bool kSwap = false>
void SimdLoop(const void* a, const void* b, void* y, int64_t n) {
  (Simd().*kFunction)(static_cast<const float*>(kSwap ? b : a), static_cast<const float*>(kSwap ? a : b),
                      static_cast<float*>(y), static_cast<std::size_t>(n));
}

/// What a loop over blocks reads or writes: 16-bit floats of the type given, or elements that its loop takes as they
/// are.
struct BlockOperand {
  ElementType small = ElementType::kUndefined;  ///< kFloat16, kBfloat16 or none of them
  std::size_t size;
  bool advances = true;
};

template <class T>
constexpr BlockOperand BlockOperandOf(bool advances = true) {
  return {kIsSmallFloat<T> ? kElementOf<T> : ElementType::kUndefined, sizeof(T), advances};
}

/// Runs `loop`, which has floats where the operands are 16-bit floats, over blocks of `n` elements. Kept out of the
/// templates, as it is the same code for all of them.
void RunBlocks(BinaryLoops::Fn loop, const BlockOperand* operands, const void* a, const void* b, void* y, int64_t n);

/// A loop of 16-bit floats by one of floats.
template <BinaryLoops::Fn kLoop, class A, class B, class R, bool kAdvancesA, bool kAdvancesB>
void BlockLoop(const void* a, const void* b, void* y, int64_t n) {
  static constexpr BlockOperand kOperands[] = {BlockOperandOf<A>(kAdvancesA), BlockOperandOf<B>(kAdvancesB),
                                               BlockOperandOf<R>()};
  RunBlocks(kLoop, kOperands, a, b, y, n);
}

/// The loops of Op::Apply(A, B) -> R. For floats those of the vector library that the Op names: kBoth, kScalarRight,
/// and kScalarLeft unless it commutes (kCommutes). `cost` is that of the others, in nanoseconds per element. 16-bit
/// floats go through the loops of floats, and what those return is rounded once.
template <class Op, class A, class B, class R>
constexpr BinaryLoops LoopsFor(double cost) {
  if constexpr (kIsSmallFloat<A> || kIsSmallFloat<B> || kIsSmallFloat<R>) {
    constexpr BinaryLoops kFloats = LoopsFor<Op, ComputeType<A>, ComputeType<B>, ComputeType<R>>(0);
    return {BlockLoop<kFloats.both, A, B, R, true, true>,
            BlockLoop<kFloats.scalar_right, A, B, R, true, false>,
            BlockLoop<kFloats.scalar_left, A, B, R, false, true>,
            sizeof(A),
            sizeof(B),
            sizeof(R),
            kFloats.cost > 0 ? kFloats.cost : cost,
            sizeof(A) == 2 && sizeof(B) == 2};
  } else {
    using Loops = GenericLoops<Op, A, B, R>;
    BinaryLoops loops = {Loops::Both, Loops::ScalarRight, Loops::ScalarLeft, sizeof(A), sizeof(B), sizeof(R), cost};
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
    return std::make_unique<BinaryKernel>(info, LoopsFor<Op, T, T, T>(cost), alignment);
  });
}

}  // namespace light
