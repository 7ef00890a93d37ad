// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "infer/einsum_equation.h"
#include "infer/hooks.h"
#include "light/error.h"

namespace light {
namespace {

EinsumEquation ReadEquation(const InferenceContext& context) {
  try {
    return EinsumEquation(StringAttribute(context, "equation"), context.input_count());
  } catch (const Error& error) {
    FailInference(context, error.what());
  }
}

/// What the terms say of each letter, and of the axes that the ellipsis stands for. Extents of 1 broadcast.
class Letters {
 public:
  Letters(const InferenceContext& context, const EinsumEquation& equation)
      : extents_(Shape(std::vector<Dim>(equation.letters.size(), Dim(1)))), ellipsis_(Shape::Scalar()) {
    for (std::size_t k = 0; k < equation.terms.size(); ++k) {
      const std::vector<int>& term = equation.terms[k];
      const Shape& shape = InputShape(context, k);
      if (shape.has_rank()) {
        Read(context, term, shape, k);
        continue;
      }
      for (const int label : term) {
        if (label == EinsumEquation::kEllipsis)
          ellipsis_ = Shape();
        else
          Meet(context, label, Dim(), k);
      }
    }
  }

  const Dim& extent(int letter) const { return extents_[static_cast<std::size_t>(letter)]; }
  /// Unranked if an input of unknown rank has an ellipsis in its term.
  const Shape& ellipsis() const { return ellipsis_; }

 private:
  void Read(const InferenceContext& context, const std::vector<int>& term, const Shape& shape, std::size_t k) {
    const bool has_ellipsis = std::find(term.begin(), term.end(), EinsumEquation::kEllipsis) != term.end();
    const std::size_t letters = term.size() - (has_ellipsis ? 1 : 0);
    if (has_ellipsis ? shape.rank() < letters : shape.rank() != letters) {
      FailInference(context, "input " + std::to_string(k) + ": must have " + (has_ellipsis ? "at least " : "") +
                                 std::to_string(letters) + " axes for its term of the equation, got " +
                                 shape.ToString());
    }
    auto dim = shape.dims().begin();
    for (const int label : term) {
      if (label != EinsumEquation::kEllipsis) {
        Meet(context, label, *dim++, k);
        continue;
      }
      const auto end = dim + static_cast<std::ptrdiff_t>(shape.rank() - letters);
      ellipsis_ = BroadcastShapes(context, ellipsis_, Shape(std::vector<Dim>(dim, end)), k);
      dim = end;
    }
  }

  void Meet(const InferenceContext& context, int letter, const Dim& dim, std::size_t k) {
    Dim& extent = extents_[static_cast<std::size_t>(letter)];
    extent = BroadcastShapes(context, Shape({extent}), Shape({dim}), k)[0];
  }

  Shape extents_;
  Shape ellipsis_;
};

void InferEinsum(InferenceContext& context) {
  const EinsumEquation equation = ReadEquation(context);
  const Letters letters(context, equation);
  std::vector<Dim> dims;
  for (const int label : equation.output) {
    if (label != EinsumEquation::kEllipsis) {
      dims.push_back(letters.extent(label));
      continue;
    }
    if (!letters.ellipsis().has_rank()) return;
    dims.insert(dims.end(), letters.ellipsis().dims().begin(), letters.ellipsis().dims().end());
  }
  context.SetOutputShape(0, Shape(std::move(dims)));
}

constexpr InferenceHook kHooks[] = {{"Einsum", InferEinsum}};

}  // namespace

std::span<const InferenceHook> EinsumHooks() { return kHooks; }

}  // namespace light
