// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ort_host {

/// The versions of the API that a library has asked for, each once, in the order they were asked for. Holds as many as
/// it has room for: a library that tries one after another is known by then.
class AskedVersions {
 public:
  void Add(uint32_t version) noexcept;
  std::span<const uint32_t> all() const noexcept { return {versions_.data(), count_}; }

  /// Notes that this thread asks for a version.
  static void Note(uint32_t version) noexcept;

  /// While it lives, what this thread asks for is added to a list.
  class Recording {
   public:
    explicit Recording(AskedVersions& list) noexcept;
    ~Recording();
    Recording(const Recording&) = delete;

   private:
    AskedVersions* outer_;
  };

 private:
  std::array<uint32_t, 32> versions_;
  std::size_t count_ = 0;
};

}  // namespace ort_host
