// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace light {

/// Writes one message of the protobuf wire format, field by field.
class WireWriter {
 public:
  void Varint(uint32_t field, int64_t value);
  void Float(uint32_t field, float value);
  /// Bytes, a string or a packed list.
  void Bytes(uint32_t field, std::string_view bytes);
  /// As Bytes, but leaves out an empty one, which is what readers take a missing one for.
  void Text(uint32_t field, std::string_view text) {
    if (!text.empty()) Bytes(field, text);
  }
  /// A nested message, whose fields `write(WireWriter&)` writes.
  template <class Write>
  void Message(uint32_t field, Write&& write) {
    WireWriter message;
    write(message);
    Bytes(field, message.bytes_);
  }

  std::string Take() noexcept { return std::move(bytes_); }

 private:
  void Tag(uint32_t field, uint32_t wire_type) { RawVarint(uint64_t{field} << 3 | wire_type); }
  void RawVarint(uint64_t value);

  std::string bytes_;
};

}  // namespace light
