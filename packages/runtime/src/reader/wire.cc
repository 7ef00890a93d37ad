// SPDX-License-Identifier: Apache-2.0
#include "reader/wire.h"

#include <bit>
#include <cstring>

#include "light/error.h"

static_assert(std::endian::native == std::endian::little, "the wire format and raw tensors are little-endian");

namespace light {

WireCursor::WireCursor(const void* bytes, std::size_t size, int max_depth)
    : file_(static_cast<const uint8_t*>(bytes)),
      next_(file_),
      end_(file_ + size),
      tag_(file_),
      depth_left_(max_depth) {}

bool WireCursor::Next() {
  if (pending_) Skip();
  if (next_ == end_) return false;
  tag_ = next_;
  const uint64_t tag = ReadVarint("tag");
  const uint64_t number = tag >> 3;
  if (number == 0 || number > 0x1fffffff) Fail("tag", "no field has that number, got " + std::to_string(number));
  switch (tag & 7u) {
    case 0:
    case 1:
    case 2:
    case 5:
      break;
    case 3:
    case 4:
      Fail("tag", "groups are not part of the format, got wire type " + std::to_string(tag & 7u));
    default:
      Fail("tag", "no such wire type, got " + std::to_string(tag & 7u));
  }
  field_ = static_cast<uint32_t>(number);
  wire_type_ = static_cast<WireType>(tag & 7u);
  pending_ = true;
  return true;
}

void WireCursor::Skip() {
  const std::string name = "field " + std::to_string(field_);
  switch (wire_type_) {
    case WireType::kVarint:
      Varint(name.c_str());
      break;
    case WireType::kFixed64:
      Double(name.c_str());
      break;
    case WireType::kBytes:
      Bytes(name.c_str());
      break;
    case WireType::kFixed32:
      Float(name.c_str());
      break;
  }
}

uint64_t WireCursor::ReadVarint(const char* name) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (next_ == end_) Fail(name, "the message ends inside a number");
    const uint8_t byte = *next_++;
    if (shift == 63 && byte > 1) break;
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  Fail(name, "a number does not fit 64 bits");
}

void WireCursor::Expect(WireType type, const char* name) {
  if (wire_type_ != type) {
    Fail(name, "wire type " + std::to_string(static_cast<int>(type)) + " expected, got " +
                   std::to_string(static_cast<int>(wire_type_)));
  }
  pending_ = false;
}

const uint8_t* WireCursor::Take(std::size_t size, const char* name) {
  if (remaining() < size) {
    Fail(name,
         "the message ends inside a value of " + std::to_string(size) + " bytes, got " + std::to_string(remaining()));
  }
  const uint8_t* taken = next_;
  next_ += size;
  return taken;
}

uint64_t WireCursor::Varint(const char* name) {
  Expect(WireType::kVarint, name);
  return ReadVarint(name);
}

float WireCursor::Float(const char* name) {
  Expect(WireType::kFixed32, name);
  float value;
  std::memcpy(&value, Take(sizeof(value), name), sizeof(value));
  return value;
}

double WireCursor::Double(const char* name) {
  Expect(WireType::kFixed64, name);
  double value;
  std::memcpy(&value, Take(sizeof(value), name), sizeof(value));
  return value;
}

std::string_view WireCursor::Bytes(const char* name) {
  Expect(WireType::kBytes, name);
  const uint64_t size = ReadVarint(name);
  if (size > remaining()) {
    Fail(name, "the length runs past the end of the message, got " + std::to_string(size) + " with " +
                   std::to_string(remaining()) + " bytes left");
  }
  return {reinterpret_cast<const char*>(Take(static_cast<std::size_t>(size), name)), static_cast<std::size_t>(size)};
}

std::string WireCursor::String(const char* name) {
  const std::string_view bytes = Bytes(name);
  if (bytes.find('\0') != std::string_view::npos) Fail(name, "a NUL byte inside a name");
  return std::string(bytes);
}

WireCursor WireCursor::Inside(const char* name, int64_t index) {
  const std::string_view bytes = Bytes(name);
  WireCursor inside;
  inside.file_ = file_;
  inside.next_ = inside.tag_ = reinterpret_cast<const uint8_t*>(bytes.data());
  inside.end_ = inside.next_ + bytes.size();
  inside.parent_ = this;
  inside.name_ = name;
  inside.index_ = index;
  inside.depth_left_ = depth_left_ - 1;
  return inside;
}

WireCursor WireCursor::Message(const char* name, int64_t index) {
  if (depth_left_ <= 0) Fail(name, "messages nest too deeply");
  return Inside(name, index);
}

WireCursor WireCursor::Packed(const char* name) { return Inside(name, -1); }

uint64_t WireCursor::PackedVarint() {
  tag_ = next_;
  return ReadVarint("");
}

std::string WireCursor::Path() const {
  if (parent_ == nullptr) return "";
  std::string path = parent_->Path();
  if (!path.empty()) path += '.';
  path += name_;
  if (index_ >= 0) path += "[" + std::to_string(index_) + "]";
  return path;
}

void WireCursor::Fail(const char* name, const std::string& what) const {
  std::string where = Path();
  if (!where.empty() && *name != '\0') where += '.';
  where += name;
  throw Error(ErrorCode::kInvalidProtobuf, where + " at byte " + std::to_string(tag_ - file_) + ": " + what);
}

}  // namespace light
