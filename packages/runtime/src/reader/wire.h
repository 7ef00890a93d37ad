// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace light {

/// Reads one message of the protobuf wire format, field by field, without copying. Knows its place in the file and
/// the field path that led there; both go into every error. Takes no memory.
/// Every member throws Error (kInvalidProtobuf) when the bytes do not follow the format.
class WireCursor {
 public:
  enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  /// The outermost message. `max_depth` bounds how deeply messages nest.
  WireCursor(const void* bytes, std::size_t size, int max_depth);

  /// Reads the next tag. Returns false at the end of the message. A value that was not read is skipped.
  bool Next();
  uint32_t field() const noexcept { return field_; }
  WireType wire_type() const noexcept { return wire_type_; }
  /// Bytes of this message that are still to be read.
  std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - next_); }

  // The value of the current field. `name` is the field's name, for errors.
  uint64_t Varint(const char* name);
  int64_t Int64(const char* name) { return static_cast<int64_t>(Varint(name)); }
  int32_t Int32(const char* name) { return static_cast<int32_t>(Varint(name)); }
  float Float(const char* name);
  double Double(const char* name);
  /// A length-delimited value: bytes, a string or a packed list. Points into the file.
  std::string_view Bytes(const char* name);
  /// A string that names something: an embedded NUL is an error, as it would cut the name short for C callers.
  std::string String(const char* name);
  /// A nested message; `index` counts a repeated field, -1 if it is not repeated.
  WireCursor Message(const char* name, int64_t index = -1);
  /// A packed list of varints, as a message without tags: read it with PackedVarint while remaining() > 0.
  WireCursor Packed(const char* name);
  uint64_t PackedVarint();

  /// As `graph.node[3].attribute[0]`.
  std::string Path() const;
  /// Throws Error (kInvalidProtobuf): `<path>.<name> at byte <n>: <what>`. The place is where the field starts.
  [[noreturn]] void Fail(const char* name, const std::string& what) const;

 private:
  WireCursor() = default;
  uint64_t ReadVarint(const char* name);
  void Expect(WireType type, const char* name);
  const uint8_t* Take(std::size_t size, const char* name);
  WireCursor Inside(const char* name, int64_t index);
  void Skip();

  const uint8_t* file_ = nullptr;
  const uint8_t* next_ = nullptr;
  const uint8_t* end_ = nullptr;
  const uint8_t* tag_ = nullptr;  // where the current field starts
  uint32_t field_ = 0;
  WireType wire_type_ = WireType::kVarint;
  bool pending_ = false;  // the current field's value was not read yet
  int depth_left_ = 0;
  const WireCursor* parent_ = nullptr;
  const char* name_ = nullptr;
  int64_t index_ = -1;
};

}  // namespace light
