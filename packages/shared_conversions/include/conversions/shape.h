// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace conversions {

/// One dimension of a shape known ahead of a run: known, symbolic (a name shared by equal extents) or unknown.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t extent) : extent_(extent < 0 ? -1 : extent) {}  // NOLINT: an extent is a dimension
  static Dim Symbolic(std::string name) {
    Dim dim;
    dim.symbol_ = std::move(name);
    return dim;
  }

  bool is_known() const noexcept { return extent_ >= 0; }
  bool is_symbolic() const noexcept { return extent_ < 0 && !symbol_.empty(); }
  /// The extent, or -1 if it is not known.
  int64_t extent() const noexcept { return extent_; }
  /// The name of a symbolic dimension, else "".
  const std::string& symbol() const noexcept { return symbol_; }

  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  int64_t extent_ = -1;
  std::string symbol_;
};

/// A shape known ahead of a run. Three states that are never mixed up: unranked (nothing is known), scalar
/// (rank 0) and ranked, whose extents may be zero.
class Shape {
 public:
  /// The unranked shape.
  Shape() = default;
  explicit Shape(std::vector<Dim> dims) : has_rank_(true), dims_(std::move(dims)) {}
  static Shape Scalar() { return Shape(std::vector<Dim>{}); }
  static Shape OfRank(std::size_t rank) { return Shape(std::vector<Dim>(rank)); }
  static Shape FromExtents(std::span<const int64_t> extents) {
    return Shape(std::vector<Dim>(extents.begin(), extents.end()));
  }

  bool has_rank() const noexcept { return has_rank_; }
  bool is_scalar() const noexcept { return has_rank_ && dims_.empty(); }
  /// Number of dimensions; 0 for a scalar and for an unranked shape.
  std::size_t rank() const noexcept { return dims_.size(); }
  const std::vector<Dim>& dims() const noexcept { return dims_; }
  const Dim& operator[](std::size_t i) const noexcept { return dims_[i]; }
  Dim& operator[](std::size_t i) noexcept { return dims_[i]; }

  /// True if the rank and every extent are known.
  bool is_static() const noexcept;
  /// The extents of a static shape, else nothing.
  std::optional<std::vector<int64_t>> extents() const;
  /// True if a tensor with these run-time extents fits: equal rank, and equal extent wherever one is known.
  bool Admits(std::span<const int64_t> extents) const noexcept;
  /// As `[2, n, ?]`, `[]` or `unranked`.
  std::string ToString() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  bool has_rank_ = false;
  std::vector<Dim> dims_;
};

/// Formats run-time extents as `[2, 3]`.
std::string FormatExtents(std::span<const int64_t> extents);

}  // namespace conversions
