// SPDX-License-Identifier: Apache-2.0
#include "conversions/dims.h"

#include <numeric>
#include <utility>
#include <vector>

#include "check.h"

using conversions::Dims;

static std::vector<int64_t> Iota(std::size_t rank) {
  std::vector<int64_t> extents(rank);
  std::iota(extents.begin(), extents.end(), 1);
  return extents;
}

// Ranks on both sides of the inline capacity.
static void CopiesAndMoves() {
  for (const std::size_t rank : {0u, 1u, 8u, 9u, 20u}) {
    const auto extents = Iota(rank);
    const Dims dims{extents};
    CHECK(dims.rank() == rank && dims.Equals(extents));
    Dims copy = dims;
    CHECK(copy.Equals(extents) && (rank == 0 || copy.data() != dims.data()));
    Dims moved = std::move(copy);
    CHECK(moved.Equals(extents));
    CHECK(copy.rank() == 0);  // NOLINT: a moved-from Dims is empty, and usable
    copy.Assign(Iota(10));
    CHECK(copy.Equals(Iota(10)));
    Dims assigned{Iota(12)};
    assigned = dims;
    CHECK(assigned.Equals(extents));
    assigned = std::move(moved);
    CHECK(assigned.Equals(extents) && moved.rank() == 0);  // NOLINT: as above
    const Dims& self = assigned;
    assigned = self;
    CHECK(assigned.Equals(extents));
  }
}

static void GrowsAndShrinks() {
  Dims dims{Iota(3)};
  dims.Resize(9);
  CHECK(dims.rank() == 9 && dims[0] == 1 && dims[2] == 3);
  const int64_t* heap = dims.data();
  dims.Resize(2);
  CHECK(dims.data() == heap && dims.Equals(Iota(2)));
  dims.Assign(Iota(9));
  CHECK(dims.data() == heap && dims.Equals(Iota(9)));
  Dims moved = std::move(dims);
  dims.Assign(Iota(8));
  CHECK(moved.Equals(Iota(9)) && dims.Equals(Iota(8)));
}

static void Comparisons() {
  const Dims dims{std::vector<int64_t>{2, 0}};
  CHECK(!dims.Equals(std::vector<int64_t>{2}) && !dims.Equals(std::vector<int64_t>{2, 1}));
  CHECK(!dims.Equals(std::vector<int64_t>{2, 0, 0}) && Dims().Equals({}));
}

int main() {
  CopiesAndMoves();
  GrowsAndShrinks();
  Comparisons();
}
