// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/arguments.h"
#include "kernels/element.h"

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

/// A node with two inputs that broadcast against each other; also with the `broadcast` and `axis` attributes of the
/// versions before 7, where only the second input broadcasts.
class BinaryKernel final : public KernelBase {
 public:
  BinaryKernel(const KernelInfo& info, const BinaryLoops& loops);
  void Run(RuntimeContext& context) override;

 private:
  Dims LegacyExtents(const Dims& a, const Dims& b) const;

  BinaryLoops loops_;
  bool legacy_;
  bool legacy_broadcast_ = false;
  bool has_axis_ = false;
  int64_t axis_ = 0;
};

}  // namespace light
