// SPDX-License-Identifier: Apache-2.0
#include "conversions/shape.h"

#include <string>
#include <vector>

#include "check.h"
#include "conversions/tensor_spec.h"

using namespace conversions;
using Extents = std::vector<int64_t>;

static void UnrankedScalarAndZeroExtentAreThreeThings() {
  const Shape unranked;
  const Shape scalar = Shape::Scalar();
  const Shape empty = Shape::FromExtents(Extents{0});
  CHECK(!(unranked == scalar) && !(scalar == empty) && !(unranked == empty));
  CHECK(!unranked.has_rank() && !unranked.is_scalar() && !unranked.is_static() && !unranked.extents());
  CHECK(scalar.has_rank() && scalar.is_scalar() && scalar.is_static() && scalar.extents() == Extents{});
  CHECK(empty.rank() == 1 && !empty.is_scalar() && empty.is_static() && empty.extents() == Extents{0});
  CHECK(unranked.ToString() == "unranked" && scalar.ToString() == "[]" && empty.ToString() == "[0]");
  CHECK(unranked.Admits(Extents{}) && unranked.Admits(Extents{0, 5}));
  CHECK(scalar.Admits(Extents{}) && !scalar.Admits(Extents{1}));
  CHECK(empty.Admits(Extents{0}) && !empty.Admits(Extents{1}) && !empty.Admits(Extents{}));
}

static void KnownSymbolicAndUnknownDimensions() {
  const Shape shape({2, Dim::Symbolic("n"), Dim()});
  CHECK(shape[0].is_known() && !shape[0].is_symbolic() && shape[0].extent() == 2);
  CHECK(!shape[1].is_known() && shape[1].is_symbolic() && shape[1].symbol() == "n" && shape[1].extent() == -1);
  CHECK(!shape[2].is_known() && !shape[2].is_symbolic());
  CHECK(!(shape[1] == shape[2]) && !(Dim::Symbolic("n") == Dim::Symbolic("m")));
  CHECK(Dim(-7) == Dim() && Dim::Symbolic("") == Dim());
  CHECK(!shape.is_static() && !shape.extents());
  CHECK(shape.ToString() == "[2, n, ?]");
  CHECK(shape.Admits(Extents{2, 0, 9}) && !shape.Admits(Extents{3, 0, 9}) && !shape.Admits(Extents{2, 0}));
  CHECK(Shape::OfRank(2).ToString() == "[?, ?]");
  CHECK(FormatExtents(Extents{}) == "[]" && FormatExtents(Extents{2, 0}) == "[2, 0]");
}

static void ShapesFromParts() {
  const std::vector<std::string> symbols = {"ignored", "n"};
  const Shape shape = ShapeFromParts(true, Extents{4, -1, -1}, symbols);
  CHECK(shape == Shape({4, Dim::Symbolic("n"), Dim()}));
  CHECK(ShapeFromParts(true, {}, {}) == Shape::Scalar());
  CHECK(ShapeFromParts(false, Extents{4}, {}) == Shape());
}

static void MessagesNameWhatWasExpectedAndGiven() {
  TensorSpec spec{"input 'x'", ElementType::kFloat, Shape({2, Dim::Symbolic("n")})};
  CHECK(Mismatch(spec, "float64", Extents{2, 3}) == "input 'x': expected float32 [2, n], got float64 [2, 3]");
  spec.type = ElementType::kString;
  spec.shape = Shape();
  CHECK(Mismatch(spec, "int8", Extents{}) == "input 'x': expected string, got int8 []");
  CHECK(std::string(DisplayName(ElementType::kUndefined)) == "undefined");
}

int main() {
  UnrankedScalarAndZeroExtentAreThreeThings();
  KnownSymbolicAndUnknownDimensions();
  ShapesFromParts();
  MessagesNameWhatWasExpectedAndGiven();
}
