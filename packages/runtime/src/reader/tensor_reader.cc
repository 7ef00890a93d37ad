// SPDX-License-Identifier: Apache-2.0
#include "reader/tensor_reader.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "conversions/checked_size.h"
#include "conversions/packing.h"
#include "light/error.h"

namespace light {
namespace {

// Field numbers of TensorProto (onnx.proto).
enum TensorField : uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};

using WireType = WireCursor::WireType;

/// A field with elements: which one it is, and how many entries of it were seen.
struct DataField {
  uint32_t number = 0;
  const char* name = "";
  WireType unpacked = WireType::kVarint;
  std::size_t entries = 0;
};

/// Everything about a tensor except its elements.
struct TensorHeader {
  std::string name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  std::optional<std::string_view> raw;
  DataField fields[6] = {{kFloatData, "float_data", WireType::kFixed32},   {kInt32Data, "int32_data"},
                         {kStringData, "string_data", WireType::kBytes},   {kInt64Data, "int64_data"},
                         {kDoubleData, "double_data", WireType::kFixed64}, {kUint64Data, "uint64_data"}};
  bool is_external = false;
  std::string location;
  std::optional<std::string> offset;  // numbers as they were written: the tensor's name may come behind them
  std::optional<std::string> length;

  DataField* Find(uint32_t number) {
    for (DataField& field : fields) {
      if (field.number == number) return &field;
    }
    return nullptr;
  }
};

/// Counts the entries under the cursor, a packed list or one entry, without storing them.
std::size_t CountEntries(WireCursor& cursor, const DataField& field) {
  if (field.number == kStringData) {
    cursor.Bytes(field.name);
    return 1;
  }
  if (cursor.wire_type() != WireType::kBytes) {
    switch (field.unpacked) {
      case WireType::kFixed32:
        cursor.Float(field.name);
        break;
      case WireType::kFixed64:
        cursor.Double(field.name);
        break;
      default:
        cursor.Varint(field.name);
    }
    return 1;
  }
  const std::string_view bytes = cursor.Bytes(field.name);
  if (field.unpacked == WireType::kVarint) {
    std::size_t count = 0;
    for (const char byte : bytes) count += (static_cast<uint8_t>(byte) < 0x80);
    return count;
  }
  const std::size_t width = field.unpacked == WireType::kFixed32 ? 4 : 8;
  if (bytes.size() % width != 0) {
    cursor.Fail(field.name, "a packed list of " + std::to_string(width) + "-byte values, got " +
                                std::to_string(bytes.size()) + " bytes");
  }
  return bytes.size() / width;
}

void ReadDims(WireCursor& cursor, const ReaderLimits& limits, std::vector<int64_t>& dims) {
  const auto add = [&](int64_t extent) {
    if (dims.size() >= static_cast<std::size_t>(limits.max_rank)) {
      cursor.Fail("dims", "more than " + std::to_string(limits.max_rank) + " dimensions");
    }
    if (extent < 0) cursor.Fail("dims", "an extent must not be negative, got " + std::to_string(extent));
    dims.push_back(extent);
  };
  if (cursor.wire_type() != WireType::kBytes) return add(cursor.Int64("dims"));
  WireCursor packed = cursor.Packed("dims");
  while (packed.remaining() > 0) add(static_cast<int64_t>(packed.PackedVarint()));
}

/// The message itself is whole; what it says of a file is wrong.
[[noreturn]] void FailExternal(const WireCursor& cursor, const TensorHeader& header, const std::string& what,
                               ErrorCode code = ErrorCode::kInvalidGraph) {
  throw Error(code, cursor.Path() + ": tensor '" + header.name + "': external data: " + what);
}

int64_t ParseNumber(const WireCursor& cursor, const TensorHeader& header, const char* key, const std::string& text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    FailExternal(cursor, header, std::string(key) + " must be a number of bytes, got '" + text + "'");
  }
  return value;
}

void ReadExternalEntry(WireCursor entry, TensorHeader& header) {
  std::string key;
  std::string value;
  while (entry.Next()) {
    if (entry.field() == 1) key = entry.String("key");
    if (entry.field() == 2) value = entry.String("value");
  }
  if (key == "location") header.location = value;
  if (key == "offset") header.offset = value;
  if (key == "length") header.length = value;
}

TensorHeader ReadHeader(WireCursor cursor, const ReaderLimits& limits) {
  TensorHeader header;
  while (cursor.Next()) {
    switch (cursor.field()) {
      case kDims:
        ReadDims(cursor, limits, header.dims);
        break;
      case kDataType:
        header.data_type = cursor.Int32("data_type");
        break;
      case kSegment:
        cursor.Fail("segment", "tensors in segments are not supported");
      case kName:
        header.name = cursor.String("name");
        break;
      case kRawData:
        header.raw = cursor.Bytes("raw_data");
        break;
      case kExternalData:
        ReadExternalEntry(cursor.Message("external_data"), header);
        break;
      case kDataLocation:
        header.is_external = cursor.Int32("data_location") == 1;
        break;
      default:
        if (DataField* field = header.Find(cursor.field())) field->entries += CountEntries(cursor, *field);
    }
  }
  return header;
}

/// The field that onnx.proto assigns to an element type, and how many entries of it `count` elements fill.
uint32_t FieldOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
    case ElementType::kComplex64:
      return kFloatData;
    case ElementType::kDouble:
    case ElementType::kComplex128:
      return kDoubleData;
    case ElementType::kInt64:
      return kInt64Data;
    case ElementType::kUint32:
    case ElementType::kUint64:
      return kUint64Data;
    case ElementType::kString:
      return kStringData;
    default:
      return kInt32Data;
  }
}

/// Types whose elements lie across bytes: packed in raw_data, and one an entry in int32_data.
bool IsSixBit(ElementType type) { return conversions::Info(type).bits == 6; }

std::size_t EntriesOf(ElementType type, std::size_t count, std::size_t bytes) {
  if (conversions::IsSubByte(type) && !IsSixBit(type)) return bytes;
  return type == ElementType::kComplex64 || type == ElementType::kComplex128 ? 2 * count : count;
}

/// Calls `store(cursor)` for every entry of `field`, whose cursor stands on it. For numbers in packed lists,
/// `packed(list)` instead.
template <class One, class Packed>
void ForEachChunk(WireCursor cursor, const DataField& field, One one, Packed packed) {
  while (cursor.Next()) {
    if (cursor.field() != field.number) continue;
    if (cursor.wire_type() == WireType::kBytes && field.number != kStringData) {
      packed(cursor);
    } else {
      one(cursor);
    }
  }
}

/// Writes varint entries to elements of type T; each must lie in [low, high].
template <class T>
void DecodeVarints(const WireCursor& cursor, const DataField& field, T* out, int64_t low, int64_t high) {
  const auto store = [&](const WireCursor& at, uint64_t entry) {
    // Entries of int32_data are 32-bit; a writer may or may not have sign-extended them.
    const int64_t value = field.number == kInt32Data ? static_cast<int32_t>(entry) : static_cast<int64_t>(entry);
    if (value < low || value > high)
      at.Fail("", "a value out of range for the element type, got " + std::to_string(value));
    *out++ = static_cast<T>(value);
  };
  ForEachChunk(
      cursor, field, [&](WireCursor& at) { store(at, at.Varint(field.name)); },
      [&](WireCursor& at) {
        WireCursor list = at.Packed(field.name);
        while (list.remaining() > 0) store(list, list.PackedVarint());
      });
}

template <class T>
void DecodeFixed(const WireCursor& cursor, const DataField& field, T* out) {
  ForEachChunk(
      cursor, field,
      [&](WireCursor& at) {
        if constexpr (sizeof(T) == 4) {
          *out++ = at.Float(field.name);
        } else {
          *out++ = at.Double(field.name);
        }
      },
      [&](WireCursor& at) {
        const std::string_view bytes = at.Bytes(field.name);
        if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
        out += bytes.size() / sizeof(T);
      });
}

template <class T>
void DecodeInts(const WireCursor& cursor, const DataField& field, Tensor& tensor) {
  DecodeVarints(cursor, field, tensor.Data<T>(), static_cast<int64_t>(std::numeric_limits<T>::min()),
                static_cast<int64_t>(std::numeric_limits<T>::max()));
}

/// Bytes other than 0 and 1 are no valid `bool` in C++.
void NormaliseBools(Tensor& tensor) {
  auto* bytes = tensor.Data<uint8_t>();
  for (int64_t i = 0; i < tensor.element_count(); ++i) bytes[i] = bytes[i] != 0;
}

void DecodeSixBit(const WireCursor& cursor, const DataField& field, Tensor& tensor) {
  std::vector<uint8_t> codes(field.entries);
  DecodeVarints(cursor, field, codes.data(), 0, 63);
  conversions::PackSubByte(tensor.type(), codes.data(), codes.size(), tensor.Data<uint8_t>());
}

void DecodeField(const WireCursor& cursor, const DataField& field, Tensor& tensor) {
  switch (tensor.type()) {
    case ElementType::kFloat:
    case ElementType::kComplex64:
      return DecodeFixed(cursor, field, tensor.Data<float>());
    case ElementType::kDouble:
    case ElementType::kComplex128:
      return DecodeFixed(cursor, field, tensor.Data<double>());
    case ElementType::kInt64:
      return DecodeInts<int64_t>(cursor, field, tensor);
    case ElementType::kUint64:  // all 64 bits are good: -1 stands for the largest number
      return DecodeVarints(cursor, field, tensor.Data<uint64_t>(), std::numeric_limits<int64_t>::min(),
                           std::numeric_limits<int64_t>::max());
    case ElementType::kUint32:
      return DecodeInts<uint32_t>(cursor, field, tensor);
    case ElementType::kInt32:
      return DecodeInts<int32_t>(cursor, field, tensor);
    case ElementType::kInt16:
      return DecodeInts<int16_t>(cursor, field, tensor);
    case ElementType::kInt8:
      return DecodeInts<int8_t>(cursor, field, tensor);
    case ElementType::kUint8:
      return DecodeInts<uint8_t>(cursor, field, tensor);
    case ElementType::kUint16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return DecodeInts<uint16_t>(cursor, field, tensor);
    case ElementType::kString: {
      auto* out = tensor.Data<std::string>();
      return ForEachChunk(cursor, field, [&](WireCursor& at) { *out++ = at.Bytes(field.name); }, [](WireCursor&) {});
    }
    case ElementType::kBool:
      DecodeVarints(cursor, field, tensor.Data<uint8_t>(), 0, 255);
      return NormaliseBools(tensor);
    case ElementType::kFloat6E2M3:
    case ElementType::kFloat6E3M2:
      return DecodeSixBit(cursor, field, tensor);
    default:  // float8 and packed types: one byte an entry, which some writers take as signed
      return DecodeVarints(cursor, field, tensor.Data<uint8_t>(), -128, 255);
  }
}

Tensor MapExternal(const WireCursor& cursor, const TensorHeader& header, ElementType type, std::size_t bytes,
                   ExternalFiles& files, std::shared_ptr<const ExternalData>& external) {
  if (type == ElementType::kString) FailExternal(cursor, header, "strings cannot lie in an external file");
  const int64_t signed_offset = header.offset ? ParseNumber(cursor, header, "offset", *header.offset) : 0;
  if (header.length && static_cast<uint64_t>(ParseNumber(cursor, header, "length", *header.length)) != bytes) {
    FailExternal(cursor, header,
                 std::string(conversions::Name(type)) + conversions::FormatExtents(header.dims) + " needs " +
                     std::to_string(bytes) + " bytes, got length " + *header.length);
  }
  if (header.location.empty()) FailExternal(cursor, header, "location is missing");
  std::shared_ptr<const MappedFile> file;
  try {
    file = files.Open(header.location);
  } catch (const Error& error) {
    FailExternal(cursor, header, error.what(), error.code());
  }
  const auto offset = static_cast<uint64_t>(signed_offset);
  if (offset > file->size() || bytes > file->size() - offset) {
    FailExternal(cursor, header,
                 "offset " + std::to_string(offset) + " and " + std::to_string(bytes) + " bytes lie past the end of '" +
                     header.location + "', which has " + std::to_string(file->size()));
  }
  external = std::make_shared<ExternalData>(ExternalData{header.location, signed_offset, bytes});
  std::byte* data = file->data() + offset;
  const bool copies = bytes == 0 || type == ElementType::kBool || !conversions::IsAlignedFor(type, data);
  if (!copies) {
    auto owner = std::const_pointer_cast<MappedFile>(file);
    return Tensor::Borrow(type, header.dims, data, std::shared_ptr<void>(std::move(owner)));
  }
  Tensor tensor = Tensor::Allocate(type, header.dims);
  if (bytes > 0) std::memcpy(tensor.data(), data, bytes);
  if (type == ElementType::kBool) NormaliseBools(tensor);
  return tensor;
}

}  // namespace

NamedTensor ReadTensor(WireCursor cursor, const ReaderLimits& limits, ExternalFiles& files) {
  TensorHeader header = ReadHeader(cursor, limits);
  NamedTensor out;
  out.name = header.name;
  const std::string label = "tensor '" + out.name + "': ";

  const auto type = conversions::FromOnnx(header.data_type);
  if (!type) {
    throw Error(ErrorCode::kNotImplemented, cursor.Path() + ": " + label + "no such element type is known, got " +
                                                std::to_string(header.data_type));
  }
  if (*type == ElementType::kUndefined) cursor.Fail("data_type", label + "the element type is missing");
  const auto count = conversions::CheckedElementCount(header.dims);
  const auto bytes = conversions::CheckedByteSize(*type, header.dims);
  if (!count || !bytes || *bytes > limits.max_tensor_bytes) {
    cursor.Fail("dims", label + "too large, got " + conversions::FormatExtents(header.dims));
  }
  if (header.is_external) {
    out.tensor = MapExternal(cursor, header, *type, *bytes, files, out.external);
    return out;
  }

  DataField& expected = *header.Find(FieldOf(*type));
  for (const DataField& field : header.fields) {
    if (field.entries > 0 && field.number != expected.number) {
      cursor.Fail(field.name, label + "elements of type " + conversions::Name(*type) + " belong into " + expected.name);
    }
  }
  const bool is_raw = header.raw && (expected.entries == 0 || !header.raw->empty());
  if (is_raw && expected.entries > 0)
    cursor.Fail("raw_data", label + "raw_data and " + expected.name + " are both set");
  if (is_raw) {
    if (*type == ElementType::kString) cursor.Fail("raw_data", label + "strings belong into string_data");
    if (header.raw->size() != *bytes) {
      cursor.Fail("raw_data", label + std::string(conversions::Name(*type)) + conversions::FormatExtents(header.dims) +
                                  " needs " + std::to_string(*bytes) + " bytes, got " +
                                  std::to_string(header.raw->size()));
    }
  } else {
    const std::size_t entries = EntriesOf(*type, static_cast<std::size_t>(*count), *bytes);
    if (expected.entries != entries) {
      cursor.Fail(expected.name, label + std::string(conversions::Name(*type)) +
                                     conversions::FormatExtents(header.dims) + " needs " + std::to_string(entries) +
                                     " entries, got " + std::to_string(expected.entries));
    }
  }

  out.tensor = Tensor::Allocate(*type, header.dims);
  if (!is_raw) {
    if (expected.entries > 0) DecodeField(cursor, expected, out.tensor);
    return out;
  }
  if (*bytes > 0) std::memcpy(out.tensor.data(), header.raw->data(), *bytes);
  if (*type == ElementType::kBool) NormaliseBools(out.tensor);
  return out;
}

}  // namespace light
