// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "conversions/element_type.h"
#include "conversions/tensor_spec.h"

struct _object;  // a Python object; this header needs no Python

namespace conversions {

/// A dense row-major tensor that a Python object lends. Sub-byte types are packed, strings are std::string.
struct ArrayView {
  ElementType type = ElementType::kUndefined;
  const void* data = nullptr;
  const int64_t* dims = nullptr;
  std::size_t rank = 0;
  _object* keep = nullptr;  ///< an owned reference, which keeps `data` and `dims` valid
};

/// What the Cython module `_conversions` offers to other extension modules, through the capsule that it exports as
/// `array_interface`: no module has to link with it or see numpy. Call with the GIL held.
struct ArrayInterface {
  /// Takes a numpy array, an object with `__dlpack__` in CPU memory, or a list as a tensor, without a copy where the
  /// elements are contiguous, aligned and in native byte order.
  /// Returns 0, or -1 with a Python exception set: `ConversionError` if the object does not fit the spec.
  int (*borrow)(_object* object, const TensorSpec* spec, ArrayView* view);

  /// Makes a numpy array. Its memory is `data`, kept alive by `owner` (which is moved from), except that the elements
  /// are copied when `owner` is empty and for strings and sub-byte types. `where` is for messages.
  /// Returns a new reference, or null with a Python exception set.
  _object* (*wrap)(ElementType type, const int64_t* dims, std::size_t rank, void* data, std::shared_ptr<void>* owner,
                   const char* where);
};

/// Name of the capsule, which changes whenever the structs above do.
inline constexpr const char* kArrayInterfaceCapsule = "conversions.ArrayInterface.1";

}  // namespace conversions
