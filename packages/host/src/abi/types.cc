// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "abi/sections.h"
#include "adapters/type_info.h"
#include "adapters/value.h"

namespace ort_host::abi {
namespace {

// --- OrtTensorTypeAndShapeInfo

OrtStatus* ORT_API_CALL CreateTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo** out) noexcept {
  return Guard("CreateTensorTypeAndShapeInfo", [&] { Out(out) = TensorTypeAndShapeAdapter::Make(); });
}

OrtStatus* ORT_API_CALL SetTensorElementType(OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType type) noexcept {
  return Guard("SetTensorElementType", [&] { Borrow(info).set_element(type); });
}

OrtStatus* ORT_API_CALL SetDimensions(OrtTensorTypeAndShapeInfo* info, const int64_t* dim_values,
                                      size_t dim_count) noexcept {
  return Guard("SetDimensions", [&](Slot slot) -> OrtStatus* {
    TensorTypeAndShapeAdapter& adapter = Borrow(info);
    if (dim_count > 0) Require(dim_values, "dim_values");
    CheckRank("dim_count", dim_count);
    for (size_t i = 0; i < dim_count; ++i) {
      if (dim_values[i] < -1) {
        return slot.Fail(ORT_INVALID_ARGUMENT, "dim_values[%zu]: an extent is -1 or more, got %lld", i,
                         static_cast<long long>(dim_values[i]));
      }
    }
    adapter.SetDims({dim_values, dim_count});
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL SetSymbolicDimensions(OrtTensorTypeAndShapeInfo* info, const char* dim_params[],
                                              size_t dim_params_length) noexcept {
  return Guard("SetSymbolicDimensions", [&] {
    TensorTypeAndShapeAdapter& adapter = Borrow(info);
    if (dim_params_length > 0) Require(dim_params, "dim_params");
    CheckRank("dim_params_length", dim_params_length);
    adapter.SetSymbols({dim_params, dim_params_length});
  });
}

[[gnu::flatten]] OrtStatus* ORT_API_CALL GetTensorElementType(const OrtTensorTypeAndShapeInfo* info,
                                                              ONNXTensorElementDataType* out) noexcept {
  return Guard("GetTensorElementType",
               [&] { Out(out) = static_cast<ONNXTensorElementDataType>(Borrow(info).element()); });
}

[[gnu::flatten]] OrtStatus* ORT_API_CALL GetDimensionsCount(const OrtTensorTypeAndShapeInfo* info,
                                                            size_t* out) noexcept {
  return Guard("GetDimensionsCount", [&] { Out(out) = Borrow(info).rank(); });
}

[[gnu::flatten]] OrtStatus* ORT_API_CALL GetDimensions(const OrtTensorTypeAndShapeInfo* info, int64_t* dim_values,
                                                       size_t dim_values_length) noexcept {
  return Guard("GetDimensions", [&] {
    const auto dims = Borrow(info).dims();
    const size_t count = std::min(dims.size(), dim_values_length);
    // An empty vector's data pointer may be null.
    if (dim_values_length > 0) Require(dim_values, "dim_values");
    for (size_t i = 0; i < count; ++i) dim_values[i] = dims[i];
  });
}

OrtStatus* ORT_API_CALL GetSymbolicDimensions(const OrtTensorTypeAndShapeInfo* info, const char* dim_params[],
                                              size_t dim_params_length) noexcept {
  return Guard("GetSymbolicDimensions", [&] {
    const TensorTypeAndShapeAdapter& adapter = Borrow(info);
    if (dim_params_length > 0) Require(dim_params, "dim_params");
    const size_t count = std::min(adapter.rank(), dim_params_length);
    for (size_t i = 0; i < count; ++i) dim_params[i] = adapter.symbol(i);
  });
}

[[gnu::flatten]] OrtStatus* ORT_API_CALL GetTensorShapeElementCount(const OrtTensorTypeAndShapeInfo* info,
                                                                    size_t* out) noexcept {
  return Guard("GetTensorShapeElementCount", [&](Slot slot) -> OrtStatus* {
    const TensorTypeAndShapeAdapter& adapter = Borrow(info);
    const auto destination = Out(out);
    size_t count = adapter.has_shape() ? 1 : 0;
    for (const int64_t dim : adapter.dims()) {
      if (dim < 0)
        return slot.Fail(ORT_FAIL, "shape: every extent must be known, got %lld", static_cast<long long>(dim));
    }
    for (const int64_t dim : adapter.dims()) {
      if (__builtin_mul_overflow(count, static_cast<size_t>(dim), &count)) {
        return slot.Fail(ORT_FAIL, "shape: the element count overflows, got a factor of %lld",
                         static_cast<long long>(dim));
      }
    }
    destination = count;
    return nullptr;
  });
}

bool ORT_API_CALL TensorTypeAndShape_HasShape(const OrtTensorTypeAndShapeInfo* info) noexcept {
  bool has_shape = false;
  ReleaseStatusHandle(Guard("TensorTypeAndShape_HasShape", [&] { has_shape = Borrow(info).has_shape(); }));
  return has_shape;
}

void ORT_API_CALL ReleaseTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo* info) noexcept {
  auto adapter = TakeIn("ReleaseTensorTypeAndShapeInfo", info);
  if (adapter == nullptr || adapter->is_owned()) [[likely]]
    return;
  checked::Report("release_of_borrowed", "ReleaseTensorTypeAndShapeInfo",
                  "infos of a type info and of shape inference are borrowed");
  adapter.release();
}

// --- OrtTypeInfo

OrtStatus* ORT_API_CALL GetTypeInfo(const OrtValue* value, OrtTypeInfo** out) noexcept {
  return Guard("GetTypeInfo", [&](Slot slot) -> OrtStatus* {
    const ValueAdapter& adapter = Borrow(value);
    const auto destination = Out(out);
    if (adapter.tensor() != nullptr) {
      destination = std::make_unique<TypeInfoAdapter>(*adapter.tensor());
    } else if (adapter.is_empty()) {
      destination = static_cast<OrtTypeInfo*>(nullptr);
    } else {
      return slot.Fail(ORT_NOT_IMPLEMENTED, "value: only dense tensors are described, got another value");
    }
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL GetValueType(const OrtValue* value, ONNXType* out) noexcept {
  return Guard("GetValueType", [&] {
    const ValueAdapter& adapter = Borrow(value);
    const auto destination = Out(out);
    ONNXType type = ONNX_TYPE_UNKNOWN;
    if (adapter.tensor() != nullptr) {
      type = ONNX_TYPE_TENSOR;
    } else if (!adapter.is_empty()) {
      type = adapter.value()->kind() == light::Value::Kind::kSequence ? ONNX_TYPE_SEQUENCE : ONNX_TYPE_OPTIONAL;
    }
    destination = type;
  });
}

OrtStatus* ORT_API_CALL GetOnnxTypeFromTypeInfo(const OrtTypeInfo* info, ONNXType* out) noexcept {
  return Guard("GetOnnxTypeFromTypeInfo", [&] { Out(out) = Borrow(info).type(); });
}

OrtStatus* ORT_API_CALL CastTypeInfoToTensorInfo(const OrtTypeInfo* info,
                                                 const OrtTensorTypeAndShapeInfo** out) noexcept {
  return Guard("CastTypeInfoToTensorInfo", [&] {
    const TensorTypeAndShapeAdapter* tensor = Borrow(info).tensor();
    Out(out) = tensor != nullptr ? Lend<OrtTensorTypeAndShapeInfo>(*tensor) : nullptr;
  });
}

OrtStatus* ORT_API_CALL CastTypeInfoToMapTypeInfo(const OrtTypeInfo* info, const OrtMapTypeInfo** out) noexcept {
  return Guard("CastTypeInfoToMapTypeInfo", [&] {
    Borrow(info);
    Out(out) = nullptr;
  });
}

OrtStatus* ORT_API_CALL CastTypeInfoToSequenceTypeInfo(const OrtTypeInfo* info,
                                                       const OrtSequenceTypeInfo** out) noexcept {
  return Guard("CastTypeInfoToSequenceTypeInfo", [&] {
    Borrow(info);
    Out(out) = nullptr;
  });
}

OrtStatus* ORT_API_CALL CastTypeInfoToOptionalTypeInfo(const OrtTypeInfo* info,
                                                       const OrtOptionalTypeInfo** out) noexcept {
  return Guard("CastTypeInfoToOptionalTypeInfo", [&] {
    Borrow(info);
    Out(out) = nullptr;
  });
}

void ORT_API_CALL ReleaseTypeInfo(OrtTypeInfo* info) noexcept {
  auto adapter = TakeIn("ReleaseTypeInfo", info);
  if (adapter != nullptr && !adapter->is_owned()) {
    checked::Report("release_of_borrowed", "ReleaseTypeInfo", "the type of a value of a graph is borrowed");
    adapter.release();
  }
}

}  // namespace

void FillTypes(OrtApi& table) noexcept {
  table.CreateTensorTypeAndShapeInfo = CreateTensorTypeAndShapeInfo;
  table.SetTensorElementType = SetTensorElementType;
  table.SetDimensions = SetDimensions;
  table.SetSymbolicDimensions = SetSymbolicDimensions;
  table.GetTensorElementType = GetTensorElementType;
  table.GetDimensionsCount = GetDimensionsCount;
  table.GetDimensions = GetDimensions;
  table.GetSymbolicDimensions = GetSymbolicDimensions;
  table.GetTensorShapeElementCount = GetTensorShapeElementCount;
  table.TensorTypeAndShape_HasShape = TensorTypeAndShape_HasShape;
  table.ReleaseTensorTypeAndShapeInfo = ReleaseTensorTypeAndShapeInfo;
  table.GetTypeInfo = GetTypeInfo;
  table.GetValueType = GetValueType;
  table.GetOnnxTypeFromTypeInfo = GetOnnxTypeFromTypeInfo;
  table.CastTypeInfoToTensorInfo = CastTypeInfoToTensorInfo;
  table.CastTypeInfoToMapTypeInfo = CastTypeInfoToMapTypeInfo;
  table.CastTypeInfoToSequenceTypeInfo = CastTypeInfoToSequenceTypeInfo;
  table.CastTypeInfoToOptionalTypeInfo = CastTypeInfoToOptionalTypeInfo;
  table.ReleaseTypeInfo = ReleaseTypeInfo;
}

}  // namespace ort_host::abi
