// SPDX-License-Identifier: Apache-2.0
#include "ort_values.h"

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "conversions/buffer.h"
#include "conversions/tensor_spec.h"
#include "light/error.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

light::ElementType ToElement(ONNXTensorElementDataType type) {
  return conversions::FromOrt(type).value_or(light::ElementType::kUndefined);
}

struct Layout {
  light::ElementType element;
  std::span<const int64_t> dims;
};

Layout LayoutOf(const OrtApi& api, const OrtValue* value) {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const int64_t* dims = nullptr;
  std::size_t rank = 0;
  ThrowIfError(api, api.GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
  return {ToElement(type), {dims, rank}};
}

light::Tensor ReadStrings(const OrtApi& api, const OrtValue* value, std::span<const int64_t> dims) {
  light::Tensor tensor = light::Tensor::Allocate(light::ElementType::kString, dims);
  const auto count = static_cast<std::size_t>(tensor.element_count());
  if (count == 0) return tensor;
  std::size_t length = 0;
  ThrowIfError(api, api.GetStringTensorDataLength(value, &length));
  std::string text(length, '\0');
  std::vector<std::size_t> offsets(count + 1, length);
  ThrowIfError(api, api.GetStringTensorContent(value, text.data(), length, offsets.data(), count));
  for (std::size_t i = 0; i < count; ++i) {
    tensor.Data<std::string>()[i].assign(text, offsets[i], offsets[i + 1] - offsets[i]);
  }
  return tensor;
}

}  // namespace

light::ValueType TypeOf(const OrtApi& api, const OrtTensorTypeAndShapeInfo* info) {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  ThrowIfError(api, api.GetTensorElementType(info, &type));
  const light::ElementType element = ToElement(type);
  if (element == light::ElementType::kUndefined) return {};
  std::size_t rank = 0;
  ThrowIfError(api, api.GetDimensionsCount(info, &rank));
  std::vector<int64_t> dims(rank);
  std::vector<const char*> names(rank, nullptr);
  if (rank > 0) {
    ThrowIfError(api, api.GetDimensions(info, dims.data(), rank));
    ThrowIfError(api, api.GetSymbolicDimensions(info, names.data(), rank));
  }
  std::vector<std::string> symbols(rank);
  for (std::size_t i = 0; i < rank; ++i) symbols[i] = names[i] != nullptr ? names[i] : "";
  return light::ValueType::Tensor(element,
                                  conversions::ShapeFromParts(api.TensorTypeAndShape_HasShape(info), dims, symbols));
}

light::ValueType TypeOf(const OrtApi& api, const OrtTypeInfo* info) {
  if (info == nullptr) return {};
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  ThrowIfError(api, api.GetOnnxTypeFromTypeInfo(info, &kind));
  if (kind != ONNX_TYPE_TENSOR) return {};
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  ThrowIfError(api, api.CastTypeInfoToTensorInfo(info, &tensor));
  return tensor != nullptr ? TypeOf(api, tensor) : light::ValueType();
}

void View(const OrtApi& api, const OrtValue* value, light::Tensor& tensor) {
  const Layout layout = LayoutOf(api, value);
  tensor.Reshape(layout.element, layout.dims);
  const void* data = nullptr;
  ThrowIfError(api, api.GetTensorData(value, &data));
  tensor.set_data(const_cast<void*>(data));
}

std::optional<light::Tensor> ReadTensor(const OrtApi& api, const OrtValue* value) {
  int is_tensor = 0;
  if (value != nullptr) ThrowIfError(api, api.IsTensor(value, &is_tensor));
  if (is_tensor == 0) return std::nullopt;
  const Layout layout = LayoutOf(api, value);
  if (layout.element == light::ElementType::kUndefined) return std::nullopt;
  if (layout.element == light::ElementType::kString) return ReadStrings(api, value, layout.dims);
  light::Tensor tensor;
  View(api, value, tensor);
  if (conversions::IsAlignedFor(tensor.type(), tensor.data())) return tensor;
  light::Tensor aligned = light::Tensor::Allocate(tensor.type(), tensor.dims());
  std::memcpy(aligned.data(), tensor.data(), tensor.byte_size());
  return aligned;
}

std::optional<light::Tensor> TakeTensor(const OrtApi& api, ort_abi::OwnedHandle<OrtValue> value) {
  std::optional<light::Tensor> tensor = ReadTensor(api, value.get());
  if (tensor.has_value() && tensor->owner() == nullptr) tensor->set_owner(std::shared_ptr<OrtValue>(std::move(value)));
  return tensor;
}

void WriteStrings(const OrtApi& api, const light::Tensor& from, OrtValue* to) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(from.element_count()); ++i) {
    const std::string& text = from.Data<std::string>()[i];
    char* buffer = nullptr;
    ThrowIfError(api, api.GetResizedStringTensorElementBuffer(to, i, text.size(), &buffer));
    if (!text.empty()) std::memcpy(buffer, text.data(), text.size());
  }
}

}  // namespace ort_plugin
