// SPDX-License-Identifier: Apache-2.0
#include "reader/type_reader.h"

#include "light/error.h"

namespace light {
namespace {

ElementType ReadElementType(WireCursor& cursor, const char* name) {
  const int32_t number = cursor.Int32(name);
  const auto type = conversions::FromOnnx(number);
  if (!type) {
    throw Error(ErrorCode::kNotImplemented,
                cursor.Path() + "." + name + ": no such element type is known, got " + std::to_string(number));
  }
  return *type;
}

Dim ReadDim(WireCursor cursor) {
  Dim dim;
  while (cursor.Next()) {
    if (cursor.field() == 1) dim = Dim(cursor.Int64("dim_value"));
    if (cursor.field() == 2) dim = Dim::Symbolic(cursor.String("dim_param"));
  }
  return dim;
}

Shape ReadShape(WireCursor cursor, const ReaderLimits& limits) {
  std::vector<Dim> dims;
  while (cursor.Next()) {
    if (cursor.field() != 1) continue;
    if (dims.size() >= static_cast<std::size_t>(limits.max_rank)) {
      cursor.Fail("dim", "more than " + std::to_string(limits.max_rank) + " dimensions");
    }
    dims.push_back(ReadDim(cursor.Message("dim", static_cast<int64_t>(dims.size()))));
  }
  return Shape(std::move(dims));
}

ValueType ReadTensorType(WireCursor cursor, const ReaderLimits& limits, ValueType::Kind kind) {
  ValueType type;
  type.kind = kind;
  while (cursor.Next()) {
    if (cursor.field() == 1) type.element = ReadElementType(cursor, "elem_type");
    if (cursor.field() == 2) type.shape = ReadShape(cursor.Message("shape"), limits);
  }
  return type;
}

/// Sequence, Optional and Map: an element type in a field, and for a map a key type before it.
ValueType ReadContainerType(WireCursor cursor, const ReaderLimits& limits, ValueType::Kind kind) {
  const bool is_map = kind == ValueType::Kind::kMap;
  ValueType type;
  type.kind = kind;
  while (cursor.Next()) {
    if (is_map && cursor.field() == 1) {
      type.element = ReadElementType(cursor, "key_type");
    } else if (cursor.field() == (is_map ? 2u : 1u)) {
      const char* name = is_map ? "value_type" : "elem_type";
      type.inner = std::make_shared<ValueType>(ReadType(cursor.Message(name), limits));
    }
  }
  return type;
}

}  // namespace

ValueType ReadType(WireCursor cursor, const ReaderLimits& limits) {
  using Kind = ValueType::Kind;
  ValueType type;
  while (cursor.Next()) {
    switch (cursor.field()) {
      case 1:
        type = ReadTensorType(cursor.Message("tensor_type"), limits, Kind::kTensor);
        break;
      case 4:
        type = ReadContainerType(cursor.Message("sequence_type"), limits, Kind::kSequence);
        break;
      case 5:
        type = ReadContainerType(cursor.Message("map_type"), limits, Kind::kMap);
        break;
      case 7:
        type = ValueType();
        type.kind = Kind::kOpaque;
        break;
      case 8:
        type = ReadTensorType(cursor.Message("sparse_tensor_type"), limits, Kind::kSparseTensor);
        break;
      case 9:
        type = ReadContainerType(cursor.Message("optional_type"), limits, Kind::kOptional);
        break;
      default:
        break;
    }
  }
  return type;
}

}  // namespace light
