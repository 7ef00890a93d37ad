// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace conversions {

/// The extents of a tensor at run time. Up to 8 dimensions are stored inline, so that a run of a usual model
/// allocates nothing for shapes.
class Dims {
 public:
  static constexpr std::size_t kInline = 8;

  Dims() = default;
  explicit Dims(std::span<const int64_t> extents) { Assign(extents); }
  Dims(const Dims& other) { Assign(other.span()); }
  Dims(Dims&& other) noexcept : rank_(other.rank_), capacity_(other.capacity_), heap_(std::move(other.heap_)) {
    std::memcpy(inline_, other.inline_, sizeof(inline_));
    other.rank_ = 0;
    other.capacity_ = kInline;
  }
  Dims& operator=(const Dims& other) {
    if (this != &other) Assign(other.span());
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    rank_ = other.rank_;
    capacity_ = other.capacity_;
    heap_ = std::move(other.heap_);
    std::memcpy(inline_, other.inline_, sizeof(inline_));
    other.rank_ = 0;
    other.capacity_ = kInline;
    return *this;
  }

  /// Replaces the extents. `extents` may not point into this object.
  void Assign(std::span<const int64_t> extents) {
    Resize(extents.size());
    if (!extents.empty()) std::memcpy(data(), extents.data(), extents.size() * sizeof(int64_t));
  }
  /// Changes the rank. Extents beyond the old rank are not set.
  void Resize(std::size_t rank) {
    if (rank > capacity_) {
      auto grown = std::make_unique<int64_t[]>(rank);
      std::memcpy(grown.get(), data(), rank_ * sizeof(int64_t));
      heap_ = std::move(grown);
      capacity_ = rank;
    }
    rank_ = rank;
  }

  std::size_t rank() const noexcept { return rank_; }
  std::size_t size() const noexcept { return rank_; }
  const int64_t* data() const noexcept { return heap_ ? heap_.get() : inline_; }
  int64_t* data() noexcept { return heap_ ? heap_.get() : inline_; }
  int64_t operator[](std::size_t i) const noexcept { return data()[i]; }
  int64_t& operator[](std::size_t i) noexcept { return data()[i]; }
  std::span<const int64_t> span() const noexcept { return {data(), rank_}; }
  operator std::span<const int64_t>() const noexcept { return span(); }  // NOLINT: the same thing

  bool Equals(std::span<const int64_t> other) const noexcept {
    if (other.size() != rank_) return false;
    // Not std::equal, which calls memcmp: its wide load waits for narrow stores of extents that were just written.
    const int64_t* own = data();
    for (std::size_t i = 0; i < rank_; ++i) {
      if (own[i] != other[i]) return false;
    }
    return true;
  }

 private:
  std::size_t rank_ = 0;
  std::size_t capacity_ = kInline;
  int64_t inline_[kInline] = {};
  std::unique_ptr<int64_t[]> heap_;
};

}  // namespace conversions
