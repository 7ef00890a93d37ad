// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors. Elements have storage of their own, so sequences share them: copying one costs no tensor.
#include <algorithm>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/body.h"
#include "kernels/concat.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

/// Input `i`, the position, counted from the front. Throws Error if it is not in [-count, count - 1 + `beyond`].
std::size_t ReadPosition(const Tensor& tensor, std::size_t i, std::size_t count, int64_t beyond) {
  const std::string label = InputLabel(i, "position");
  const Dims given = ReadIntegers(tensor, i, "position");
  if (given.rank() != 1) FailArgument(label + ": must be one integer, got " + Describe(tensor));
  const auto n = static_cast<int64_t>(count);
  const int64_t position = given[0] < 0 ? given[0] + n : given[0];
  if (n + beyond == 0) FailArgument(label + ": there is none in an empty sequence, got " + std::to_string(given[0]));
  if (position < 0 || position >= n + beyond) {
    FailArgument(label + ": must be in [" + std::to_string(-n) + ", " + std::to_string(n - 1 + beyond) +
                 "] for a sequence of " + std::to_string(n) + ", got " + std::to_string(given[0]));
  }
  return static_cast<std::size_t>(position);
}

/// All elements of a sequence have one type: kernels that read them rely on it.
void CheckElement(ElementType expected, const Tensor& tensor, std::size_t input) {
  if (expected == ElementType::kUndefined || tensor.type() == expected) return;
  FailArgument("input " + std::to_string(input) + ": elements must be of type " + conversions::Name(expected) +
               ", got " + Describe(tensor));
}

class SequenceConstruct final : public KernelBase {
 public:
  explicit SequenceConstruct(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    Sequence result;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      result.elements.push_back(Required(context, i, "inputs").Clone());
    }
    result.element_type = ValueType::Tensor(result.elements[0].tensor().type(), Shape());
    context.SetOutputValue(0, Value(std::move(result)));
  }
};

class SequenceEmpty final : public KernelBase {
 public:
  explicit SequenceEmpty(const KernelInfo& info) : element_(*info.OutputType(0)->inner) {}
  void Run(RuntimeContext& context) override { context.SetOutputValue(0, Value(Sequence{element_, {}})); }

 private:
  ValueType element_;
};

class SequenceLength final : public KernelBase {
 public:
  explicit SequenceLength(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    *context.Output(0, {}).Data<int64_t>() = static_cast<int64_t>(context.InputValue(0).sequence().elements.size());
  }
};

class SequenceAt final : public KernelBase {
 public:
  explicit SequenceAt(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    const auto& elements = context.InputValue(0).sequence().elements;
    const Tensor& element = elements[ReadPosition(Required(context, 1, "position"), 1, elements.size(), 0)].tensor();
    CopyElements(element, context.Output(0, element.dims()));
  }
};

class SequenceInsert final : public KernelBase {
 public:
  explicit SequenceInsert(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    const Sequence& sequence = context.InputValue(0).sequence();
    const Tensor& tensor = Required(context, 1, "tensor");
    CheckElement(sequence.element_type.element, tensor, 1);
    const Tensor* position = context.Input(2);
    const std::size_t count = sequence.elements.size();
    const std::size_t at = position == nullptr ? count : ReadPosition(*position, 2, count, 1);
    Sequence result = sequence;
    if (at < count) {
      result.elements = {};
      result.elements.reserve(count + 1);
      for (std::size_t i = 0; i < at; ++i) result.elements.push_back(sequence.elements[i]);
    }
    result.elements.push_back(tensor.Clone());
    for (std::size_t i = at; i < count; ++i) result.elements.push_back(sequence.elements[i]);
    context.SetOutputValue(0, Value(std::move(result)));
  }
};

class SequenceErase final : public KernelBase {
 public:
  explicit SequenceErase(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    const Sequence& sequence = context.InputValue(0).sequence();
    const std::size_t count = sequence.elements.size();
    const Tensor* position = context.Input(1);
    if (count == 0) FailArgument(InputLabel(0, "input_sequence") + ": must have an element to erase, got none");
    const std::size_t at = position == nullptr ? count - 1 : ReadPosition(*position, 1, count, 0);
    Sequence result{sequence.element_type, {}};
    result.elements.reserve(count - 1);
    for (std::size_t i = 0; i < count; ++i) {
      if (i != at) result.elements.push_back(sequence.elements[i]);
    }
    context.SetOutputValue(0, Value(std::move(result)));
  }
};

class SplitToSequence final : public KernelBase {
 public:
  explicit SplitToSequence(const KernelInfo& info)
      : axis_(info.Int("axis", 0)), keeps_axis_(info.Int("keepdims", 1) != 0 || info.HasInput(1)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& input = Required(context, 0, "input");
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, input.rank()));
    const int64_t extent = input.dim(axis);
    Sequence result{ValueType::Tensor(input.type(), Shape()), {}};
    int64_t first = 0;
    for (const int64_t length : Lengths(context, extent, input.element_count() > 0)) {
      Dims dims = input.dims();
      dims[axis] = length;
      Tensor part = Tensor::Allocate(input.type(), dims);
      CopyPart(input, axis, first, part);
      if (!keeps_axis_) {
        for (std::size_t d = axis; d + 1 < dims.rank(); ++d) dims[d] = dims[d + 1];
        dims.Resize(dims.rank() - 1);
        part.Reshape(input.type(), dims);
      }
      result.elements.push_back(std::move(part));
      first += length;
    }
    context.SetOutputValue(0, Value(std::move(result)));
  }

 private:
  static constexpr int64_t kMostEmptyParts = int64_t{1} << 20;

  static std::vector<int64_t> Lengths(RuntimeContext& context, int64_t extent, bool has_elements) {
    const Tensor* split = context.Input(1);
    // Of a tensor without elements there could be any number of parts, far more than fit in memory.
    const auto check_parts = [&](int64_t length) {
      if (has_elements || extent / length <= kMostEmptyParts) return;
      FailArgument(InputLabel(0, "input") + ": must be split into at most " + std::to_string(kMostEmptyParts) +
                   " parts if it has no elements, got an extent of " + std::to_string(extent) + " and parts of " +
                   std::to_string(length));
    };
    if (split == nullptr) {
      check_parts(1);
      return std::vector<int64_t>(static_cast<std::size_t>(extent), 1);
    }
    const Dims given = ReadIntegers(*split, 1, "split");
    std::vector<int64_t> lengths;
    if (split->rank() == 0) {
      if (given[0] < 1) FailArgument(InputLabel(1, "split") + ": must be positive, got " + std::to_string(given[0]));
      check_parts(given[0]);
      for (int64_t at = 0; at < extent; at += given[0]) lengths.push_back(std::min(given[0], extent - at));
      return lengths;
    }
    int64_t total = 0;
    for (const int64_t length : given.span()) {
      if (length < 0 || length > extent - total) {
        total = -1;
        break;
      }
      total += length;
    }
    if (total != extent) {
      FailArgument(InputLabel(1, "split") + ": lengths must not be negative and must add up to " +
                   std::to_string(extent) + ", got " + conversions::FormatExtents(given));
    }
    lengths.assign(given.span().begin(), given.span().end());
    return lengths;
  }

  static void CopyPart(const Tensor& whole, std::size_t axis, int64_t first, Tensor& part) {
    if (part.element_count() == 0) return;
    const int64_t blocks = Product(whole.dims(), 0, axis), inner = Product(whole.dims(), axis + 1, whole.rank());
    WithMoved(whole.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const int64_t length = part.dim(axis) * inner, pitch = whole.dim(axis) * inner;
      for (int64_t b = 0; b < blocks; ++b)
        CopyRun(whole.Data<T>() + b * pitch + first * inner, length, part.Data<T>() + b * length);
    });
  }

  int64_t axis_;
  bool keeps_axis_;
};

class ConcatFromSequence final : public KernelBase {
 public:
  explicit ConcatFromSequence(const KernelInfo& info)
      : element_(info.OutputElement(0)), axis_(info.Int("axis", 0)), new_axis_(info.Int("new_axis", 0) != 0) {}

  void Run(RuntimeContext& context) override {
    const auto& elements = context.InputValue(0).sequence().elements;
    if (elements.empty()) FailArgument(InputLabel(0, "input_sequence") + ": must have elements, got none");
    CheckShapes(elements);
    std::vector<Tensor> views;
    std::vector<const Tensor*> inputs;
    for (const Value& element : elements) {
      CheckElement(element_, element.tensor(), 0);
      views.push_back(element.tensor());
    }
    for (Tensor& view : views) {
      if (new_axis_) {
        Dims dims = view.dims();
        const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, dims.rank() + 1));
        dims.Resize(dims.rank() + 1);
        for (std::size_t d = dims.rank() - 1; d > axis; --d) dims[d] = dims[d - 1];
        dims[axis] = 1;
        view.Reshape(view.type(), dims);
      }
      inputs.push_back(&view);
    }
    ConcatTensors(context, inputs, axis_);
  }

 private:
  /// Here, since of what is joined below nobody knows that it was an element, and which extents it had.
  void CheckShapes(const ValueList& elements) const {
    const Dims& first = elements[0].tensor().dims();
    const std::size_t rank = first.rank();
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, rank + (new_axis_ ? 1 : 0)));
    for (std::size_t i = 1; i < elements.size(); ++i) {
      const Dims& dims = elements[i].tensor().dims();
      bool fits = dims.rank() == rank;
      for (std::size_t d = 0; fits && d < rank; ++d) fits = (!new_axis_ && d == axis) || dims[d] == first[d];
      if (fits) continue;
      FailArgument(InputLabel(0, "input_sequence") + ": element " + std::to_string(i) + " must have the extents of " +
                   "element 0, " + conversions::FormatExtents(first) +
                   (new_axis_ ? "" : ", in every axis but " + std::to_string(axis)) + ", got " +
                   conversions::FormatExtents(dims));
    }
  }

  ElementType element_;
  int64_t axis_;
  bool new_axis_;
};

template <class Kernel>
void Register(KernelRegistry& registry, const char* op_type, std::vector<TypeConstraint> constraints = {}) {
  registry.RegisterKernelFn(Registration(op_type, 11, 24, std::move(constraints)), MakeKernel<Kernel>);
}

}  // namespace

void RegisterSequence(KernelRegistry& registry) {
  Register<ConcatFromSequence>(registry, "ConcatFromSequence");
  Register<SequenceAt>(registry, "SequenceAt");
  Register<SequenceConstruct>(registry, "SequenceConstruct");
  Register<SequenceEmpty>(registry, "SequenceEmpty");
  Register<SequenceErase>(registry, "SequenceErase");
  Register<SequenceInsert>(registry, "SequenceInsert");
  Register<SequenceLength>(registry, "SequenceLength");
  Register<SplitToSequence>(registry, "SplitToSequence", {{"T", WholeByteTensors()}});
}

}  // namespace light
