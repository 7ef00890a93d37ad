// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "exec/text_meter.h"
#include "kernels/element.h"

namespace light {

// For kernels that move elements without looking at them: one instance per element size, whatever the type.

/// An element of N bytes; any address is good enough for it.
template <std::size_t N>
struct Bytes {
  unsigned char bytes[N];
};

/// Every type whose elements fill whole bytes.
inline TypeSet WholeByteTensors() {
  TypeSet set = TypeSet::AllTensors();
  for (int32_t number = 0; number < conversions::kElementTypeCount; ++number)
    if (conversions::IsSubByte(static_cast<ElementType>(number))) set.tensors &= ~(uint32_t{1} << number);
  return set;
}

/// Calls `body(TypeTag<T>{})` with the T to move elements of `type` as: Bytes<N> or std::string.
template <class F>
void WithMoved(ElementType type, F&& body) {
  if (type == ElementType::kString) return body(TypeTag<std::string>{});
  switch (conversions::Info(type).bits) {
    case 8:
      return body(TypeTag<Bytes<1>>{});
    case 16:
      return body(TypeTag<Bytes<2>>{});
    case 32:
      return body(TypeTag<Bytes<4>>{});
    case 64:
      return body(TypeTag<Bytes<8>>{});
    case 128:
      return body(TypeTag<Bytes<16>>{});
    default:
      throw Error(ErrorCode::kNotImplemented, std::string("no kernel for elements of type ") + conversions::Name(type));
  }
}

/// Copies `n` elements that lie together.
template <class T>
void CopyRun(const T* from, int64_t n, T* to) {
  if constexpr (std::is_same_v<T, std::string>) {
    CopyStrings(from, n, to);
  } else if (n > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  }
}

/// Copies one element.
template <class T>
void CopyOne(const T& from, T& to) {
  if constexpr (std::is_same_v<T, std::string>) {
    CopyString(from, to);
  } else {
    to = from;
  }
}

/// Writes `n` copies of an element that lie together.
template <class T>
void FillRun(T* to, int64_t n, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    FillStrings(to, n, value);
  } else {
    std::fill_n(to, n, value);
  }
}

/// Nanoseconds to move one element.
template <class T>
inline constexpr double kMoveCost = std::is_same_v<T, std::string> ? 20 : 0.05 * sizeof(T);

}  // namespace light
