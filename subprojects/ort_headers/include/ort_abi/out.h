// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <ort_abi/handle.h>

namespace ort_abi {

/// Writes one out-parameter of a C function; nothing else does.
template <class T>
class OutRef {
 public:
  OutRef(T* pointer, const char* name) : pointer_(Require(pointer, name)) {}

  template <class U>
    requires std::is_convertible_v<U&&, T>
  void operator=(U&& value) const {
    *pointer_ = std::forward<U>(value);
  }

  /// Gives the adapter away through the out-parameter.
  template <class Adapter>
  void operator=(std::unique_ptr<Adapter> adapter) const noexcept {
    *pointer_ = Give<std::remove_pointer_t<T>>(std::move(adapter));
  }

  /// Hands an owned handle on; the receiver releases it.
  template <class OrtTag>
  void operator=(OwnedHandle<OrtTag> handle) const noexcept {
    *pointer_ = handle.release();
  }

 private:
  T* pointer_;
};

/// The destination of `Out(out) = expression`. Throws ORT_INVALID_ARGUMENT "<name> is null".
///
/// The expression is evaluated before anything is written, so that a failure leaves the
/// out-parameter as it was; it is also evaluated before the null test, so a new object is assigned
/// as a `unique_ptr`, which cannot leak. A function with several out-parameters makes all its
/// `OutRef`s first.
template <class T>
OutRef<T> Out(T* pointer, const char* name = "out") {
  return OutRef<T>(pointer, name);
}

}  // namespace ort_abi
