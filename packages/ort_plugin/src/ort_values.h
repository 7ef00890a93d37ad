// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <ort_abi/handle.h>

#include "light/tensor.h"
#include "light/value_type.h"

namespace ort_plugin {

/// What the host knows of a value ahead of a run; an unknown type for anything but a tensor, and for null.
light::ValueType TypeOf(const OrtApi& api, const OrtTypeInfo* info);
light::ValueType TypeOf(const OrtApi& api, const OrtTensorTypeAndShapeInfo* info);

/// Makes `tensor` a view of the value's elements, which must not be strings. Nothing is allocated for usual ranks.
void View(const OrtApi& api, const OrtValue* value, light::Tensor& tensor);

/// The value as a tensor: a view, or a copy if its elements are not aligned for their type, or are strings, whose
/// layout is the host's affair. Nothing if the value is no tensor or its element type is unknown here.
std::optional<light::Tensor> ReadTensor(const OrtApi& api, const OrtValue* value);

/// As ReadTensor, and keeps the value as long as the tensor.
std::optional<light::Tensor> TakeTensor(const OrtApi& api, ort_abi::OwnedHandle<OrtValue> value);

/// Writes the elements of a string tensor into a value of as many strings.
void WriteStrings(const OrtApi& api, const light::Tensor& from, OrtValue* to);

}  // namespace ort_plugin
