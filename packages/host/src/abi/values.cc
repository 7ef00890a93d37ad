// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"
#include "adapters/allocator.h"
#include "adapters/type_and_shape.h"
#include "adapters/value.h"

namespace ort_host::abi {
namespace {

std::span<const int64_t> Extents(const int64_t* shape, size_t count) {
  CheckRank("shape_len", count);
  return {count > 0 ? Require(shape, "shape") : shape, count};
}

/// The tensor of a value, or a status in `failure`.
light::Tensor* DenseTensor(Slot slot, const ValueAdapter& value, OrtErrorCode code, OrtStatus** failure) {
  light::Tensor* tensor = value.tensor();
  if (tensor == nullptr) [[unlikely]]
    *failure = slot.Fail(code, "value: a dense tensor is expected, got another value");
  return tensor;
}

OrtStatus* ORT_API_CALL CreateTensorAsOrtValue(OrtAllocator* allocator, const int64_t* shape, size_t shape_len,
                                               ONNXTensorElementDataType type, OrtValue** out) noexcept {
  return Guard("CreateTensorAsOrtValue", [&] {
    const auto destination = Out(out);
    destination = ValueAdapter::Allocate(BorrowAllocator(allocator), Extents(shape, shape_len), type);
  });
}

OrtStatus* ORT_API_CALL CreateTensorWithDataAsOrtValue(const OrtMemoryInfo* info, void* data, size_t data_len,
                                                       const int64_t* shape, size_t shape_len,
                                                       ONNXTensorElementDataType type, OrtValue** out) noexcept {
  return Guard("CreateTensorWithDataAsOrtValue", [&] {
    const auto destination = Out(out);
    const MemoryDescription& memory = Borrow(info).description();
    destination = ValueAdapter::Wrap(memory, data, data_len, Extents(shape, shape_len), type);
  });
}

OrtStatus* ORT_API_CALL CreateTensorWithDataAndDeleterAsOrtValue(OrtAllocator* deleter, void* p_data, size_t p_data_len,
                                                                 const int64_t* shape, size_t shape_len,
                                                                 ONNXTensorElementDataType type,
                                                                 OrtValue** out) noexcept {
  return Guard("CreateTensorWithDataAndDeleterAsOrtValue", [&] {
    const auto destination = Out(out);
    destination =
        ValueAdapter::Adopt(BorrowAllocator(deleter, "deleter"), p_data, p_data_len, Extents(shape, shape_len), type);
  });
}

OrtStatus* ORT_API_CALL IsTensor(const OrtValue* value, int* out) noexcept {
  return Guard("IsTensor", [&] { Out(out) = Borrow(value).tensor() != nullptr ? 1 : 0; });
}

OrtStatus* ORT_API_CALL HasValue(const OrtValue* value, int* out) noexcept {
  // Real libraries ask this of the null that stands for an omitted input.
  return Guard("HasValue", [&] { Out(out) = value != nullptr && !Borrow(value).is_empty() ? 1 : 0; });
}

[[gnu::flatten]] OrtStatus* ORT_API_CALL GetTensorMutableData(OrtValue* value, void** out) noexcept {
  return Guard("GetTensorMutableData", [&](Slot slot) -> OrtStatus* {
    OrtStatus* failure = nullptr;
    if (light::Tensor* tensor = DenseTensor(slot, Borrow(value), ORT_FAIL, &failure)) Out(out) = tensor->data();
    return failure;
  });
}

[[gnu::flatten]] OrtStatus* ORT_API_CALL GetTensorData(const OrtValue* value, const void** out) noexcept {
  return Guard("GetTensorData", [&](Slot slot) -> OrtStatus* {
    OrtStatus* failure = nullptr;
    if (const light::Tensor* tensor = DenseTensor(slot, Borrow(value), ORT_FAIL, &failure)) Out(out) = tensor->data();
    return failure;
  });
}

/// The index of the element at `location`, or -1 if there is none.
int64_t IndexAt(std::span<const int64_t> location, std::span<const int64_t> dims) noexcept {
  if (location.size() != dims.size()) return -1;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (location[axis] < 0 || location[axis] >= dims[axis]) return -1;
  }
  // Below the element count now, so that no product overflows: extents beside a zero may be of any size.
  int64_t index = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis) index = index * dims[axis] + location[axis];
  return index;
}

OrtStatus* ORT_API_CALL TensorAt(OrtValue* value, const int64_t* location_values, size_t location_values_count,
                                 void** out) noexcept {
  return Guard("TensorAt", [&](Slot slot) -> OrtStatus* {
    OrtStatus* failure = nullptr;
    light::Tensor* tensor = DenseTensor(slot, Borrow(value), ORT_INVALID_ARGUMENT, &failure);
    if (tensor == nullptr) return failure;
    const auto destination = Out(out);
    const auto location = Extents(location_values, location_values_count);
    const std::size_t bits = static_cast<std::size_t>(conversions::Info(tensor->type()).bits);
    if (bits == 0 || bits % 8 != 0) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "value: an element of type %s has no address of its own",
                       std::string(conversions::Name(tensor->type())).c_str());
    }
    const int64_t index = IndexAt(location, tensor->dims());
    if (index < 0) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "location_values: a tensor of extents %s has no element %s",
                       conversions::FormatExtents(tensor->dims()).c_str(),
                       conversions::FormatExtents(location).c_str());
    }
    destination = static_cast<char*>(tensor->data()) + static_cast<size_t>(index) * (bits / 8);
    return nullptr;
  });
}

[[gnu::flatten]] OrtStatus* ORT_API_CALL GetTensorTypeAndShape(const OrtValue* value,
                                                               OrtTensorTypeAndShapeInfo** out) noexcept {
  return Guard("GetTensorTypeAndShape", [&](Slot slot) -> OrtStatus* {
    const ValueAdapter& adapter = Borrow(value);
    const auto destination = Out(out);
    if (adapter.tensor() == nullptr) [[unlikely]] {
      return slot.Fail(adapter.is_empty() ? ORT_INVALID_ARGUMENT : ORT_FAIL, "value: a tensor is expected, got %s",
                       adapter.is_empty() ? "an empty value" : "another value");
    }
    destination = TensorTypeAndShapeAdapter::CopyOf(*adapter.tensor());
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL GetTensorMemoryInfo(const OrtValue* value, const OrtMemoryInfo** out) noexcept {
  return Guard("GetTensorMemoryInfo", [&](Slot slot) -> OrtStatus* {
    const ValueAdapter& adapter = Borrow(value);
    OrtStatus* failure = nullptr;
    if (DenseTensor(slot, adapter, ORT_FAIL, &failure)) Out(out) = Lend<OrtMemoryInfo>(adapter.memory());
    return failure;
  });
}

OrtStatus* ORT_API_CALL GetTensorSizeInBytes(const OrtValue* value, size_t* size) noexcept {
  return Guard("GetTensorSizeInBytes", [&](Slot slot) -> OrtStatus* {
    OrtStatus* failure = nullptr;
    const light::Tensor* tensor = DenseTensor(slot, Borrow(value), ORT_INVALID_ARGUMENT, &failure);
    if (tensor == nullptr) return failure;
    if (tensor->type() == light::ElementType::kString) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "value: strings have no size in bytes");
    }
    Out(size, "size") = tensor->byte_size();
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL GetTensorElementTypeAndShapeDataReference(const OrtValue* value,
                                                                  ONNXTensorElementDataType* elem_type,
                                                                  const int64_t** shape_data,
                                                                  size_t* shape_data_count) noexcept {
  return Guard("GetTensorElementTypeAndShapeDataReference", [&](Slot slot) -> OrtStatus* {
    OrtStatus* failure = nullptr;
    const light::Tensor* tensor = DenseTensor(slot, Borrow(value), ORT_INVALID_ARGUMENT, &failure);
    if (tensor == nullptr) return failure;
    const auto element = Out(elem_type, "elem_type");
    const auto data = Out(shape_data, "shape_data");
    const auto count = Out(shape_data_count, "shape_data_count");
    element = static_cast<ONNXTensorElementDataType>(conversions::ToOrt(tensor->type()));
    data = tensor->rank() > 0 ? tensor->dims().data() : nullptr;
    count = tensor->rank();
    return nullptr;
  });
}

void ORT_API_CALL ReleaseValue(OrtValue* value) noexcept {
  auto adapter = TakeIn("ReleaseValue", value);
  if (adapter != nullptr && !adapter->is_owned()) {
    checked::Report("release_of_borrowed", "ReleaseValue", "inputs, outputs and constants of a kernel are borrowed");
    adapter.release();
  }
}

}  // namespace

void FillValues(OrtApi& table) noexcept {
  table.CreateTensorAsOrtValue = CreateTensorAsOrtValue;
  table.CreateTensorWithDataAsOrtValue = CreateTensorWithDataAsOrtValue;
  table.CreateTensorWithDataAndDeleterAsOrtValue = CreateTensorWithDataAndDeleterAsOrtValue;
  table.IsTensor = IsTensor;
  table.HasValue = HasValue;
  table.GetTensorMutableData = GetTensorMutableData;
  table.GetTensorData = GetTensorData;
  table.TensorAt = TensorAt;
  table.GetTensorTypeAndShape = GetTensorTypeAndShape;
  table.GetTensorMemoryInfo = GetTensorMemoryInfo;
  table.GetTensorSizeInBytes = GetTensorSizeInBytes;
  table.GetTensorElementTypeAndShapeDataReference = GetTensorElementTypeAndShapeDataReference;
  table.ReleaseValue = ReleaseValue;
}

}  // namespace ort_host::abi
