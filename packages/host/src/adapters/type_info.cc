// SPDX-License-Identifier: Apache-2.0
#include "adapters/type_info.h"

namespace ort_host {

ONNXType ToOnnxType(light::ValueType::Kind kind) noexcept {
  using Kind = light::ValueType::Kind;
  switch (kind) {
    case Kind::kUnknown:
      return ONNX_TYPE_UNKNOWN;
    case Kind::kTensor:
      return ONNX_TYPE_TENSOR;
    case Kind::kSparseTensor:
      return ONNX_TYPE_SPARSETENSOR;
    case Kind::kSequence:
      return ONNX_TYPE_SEQUENCE;
    case Kind::kOptional:
      return ONNX_TYPE_OPTIONAL;
    case Kind::kMap:
      return ONNX_TYPE_MAP;
    case Kind::kOpaque:
      return ONNX_TYPE_OPAQUE;
  }
  return ONNX_TYPE_UNKNOWN;
}

TypeInfoAdapter::TypeInfoAdapter(const light::ValueType& type, Owner owner)
    : AdapterBase(kTypeInfoKind),
      type_(ToOnnxType(type.kind)),
      is_tensor_(type_ == ONNX_TYPE_TENSOR || type_ == ONNX_TYPE_SPARSETENSOR),
      owner_(owner),
      tensor_(type) {}

TypeInfoAdapter::TypeInfoAdapter(const light::Tensor& tensor)
    : AdapterBase(kTypeInfoKind), type_(ONNX_TYPE_TENSOR), is_tensor_(true), tensor_(tensor) {}

}  // namespace ort_host
