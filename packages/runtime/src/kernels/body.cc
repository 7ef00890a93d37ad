// SPDX-License-Identifier: Apache-2.0
#include "kernels/body.h"

#include <algorithm>
#include <utility>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/input_axes.h"
#include "kernels/moved.h"

namespace light {
namespace {

/// Copies blocks of `length` elements: block `b` from `from + b * from_pitch` to `to + b * to_pitch`.
template <class T>
void CopyBlocks(const T* from, int64_t from_pitch, T* to, int64_t to_pitch, int64_t blocks, int64_t length) {
  for (int64_t b = 0; b < blocks; ++b) CopyRun(from + b * from_pitch, length, to + b * to_pitch);
}

}  // namespace

Body::Body(const KernelInfo& info, std::string_view attribute) : program_(info.Body(attribute)), attribute_(attribute) {
  const auto& outer = info.node().captures;
  for (const ValueId id : graph().captures()) {
    const auto found = std::find(outer.begin(), outer.end(), graph().value(id).outer);
    captures_.push_back(static_cast<std::size_t>(found - outer.begin()));
  }
}

void Body::ExpectArguments(std::size_t inputs, std::size_t outputs) const {
  if (input_count() == inputs && output_count() == outputs) return;
  throw Error(ErrorCode::kInvalidGraph, "attribute '" + attribute_ + "': must be a graph with " +
                                            std::to_string(inputs) + " inputs and " + std::to_string(outputs) +
                                            " outputs, got " + std::to_string(input_count()) + " and " +
                                            std::to_string(output_count()));
}

Tensor& CarriedValue::MakeNext(ElementType type, std::span<const int64_t> dims) {
  Tensor& tensor = next_.MakeTensor();
  if (type == ElementType::kString) return tensor = Tensor::Allocate(type, dims);
  memory_.Reserve(tensor.Reshape(type, dims), budget_, "loop-carried value");
  tensor.set_owner(nullptr);
  tensor.set_data(memory_.data());
  return tensor;
}

void CarriedValue::Advance() noexcept {
  std::swap(current_, next_);
  std::swap(memory_, read_memory_);
}

void CarriedValue::Finish(RuntimeContext& context, std::size_t i) {
  if (current_.is_tensor())
    CopyElements(current_.tensor(), context.Output(i, current_.tensor().dims()));
  else
    context.SetOutputValue(i, current_);
  Clear();
}

void CarriedValue::Clear() noexcept {
  current_.Reset();
  next_.Reset();
  KeepSmall(memory_);
  KeepSmall(read_memory_);
}

Tensor& StackedOutput::Next(ElementType type, std::span<const int64_t> dims) {
  if (count_ > 0 && (type != last_.type() || !last_.dims().Equals(dims))) {
    FailArgument(name_ + ": every run of the body must give the same type and extents, got " + Describe(last_) +
                 " and then " + conversions::FormatExtents(dims));
  }
  const std::size_t bytes = last_.Reshape(type, dims);
  ++count_;
  if (type == ElementType::kString) {
    if (budget_ != nullptr) {
      if (text_ == nullptr) text_ = std::make_unique<TextMeter>(*budget_);
      // The body's run charged the text of the one before while it lasted; from here on it is held.
      if (!strings_.empty()) text_->Charge(TextBytes(strings_.back()));
      text_->Charge(bytes);
    }
    strings_.push_back(Tensor::Allocate(type, dims));
    return strings_.back();
  }
  if (conversions::IsSubByte(type) && last_.element_count() * conversions::Info(type).bits % 8 != 0) {
    FailArgument(name_ + ": elements of type " + std::string(conversions::Name(type)) + " must fill whole bytes, got " +
                 Describe(last_));
  }
  const std::size_t before = static_cast<std::size_t>(count_ - 1) * bytes;
  if (bytes > 0 && before / bytes != static_cast<std::size_t>(count_ - 1)) throw std::bad_alloc();
  memory_.Extend(before, before + bytes, budget_, "scan output");
  last_.set_data(static_cast<char*>(memory_.data()) + before);
  return last_;
}

void StackedOutput::Finish(RuntimeContext& context, std::size_t i, const ValueType& element, int64_t axis,
                           bool backwards) {
  Join(context, i, element, axis, backwards);
  count_ = 0;
  last_ = Tensor();
  strings_.clear();
  text_.reset();
  KeepSmall(memory_);
}

void StackedOutput::Join(RuntimeContext& context, std::size_t i, const ValueType& element, int64_t signed_axis,
                         bool backwards) const {
  Dims dims = last_.dims();
  if (count_ == 0) {
    const Shape& shape = element.shape;
    dims.Resize(shape.has_rank() ? shape.rank() : 0);
    for (std::size_t d = 0; d < dims.rank(); ++d) dims[d] = std::max<int64_t>(shape[d].extent(), 0);
  }
  const std::size_t rank = dims.rank();
  const auto axis = static_cast<std::size_t>(NormalizeAxis(signed_axis, rank + 1, "attribute scan_output_axes"));
  const int64_t blocks = Product(dims, 0, axis), length = Product(dims, axis, rank);
  Dims whole;
  whole.Resize(rank + 1);
  for (std::size_t d = 0; d <= rank; ++d) whole[d] = d == axis ? count_ : dims[d - (d > axis ? 1 : 0)];
  Tensor& out = context.Output(i, whole);
  if (out.element_count() == 0) return;
  if (conversions::IsSubByte(out.type())) {
    if (axis != 0 || backwards) FailArgument(name_ + ": only forwards along axis 0 for this type, got another layout");
    std::memcpy(out.data(), memory_.data(), out.byte_size());
    return;
  }
  WithMoved(out.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t k = 0; k < count_; ++k) {
      const int64_t at = backwards ? count_ - 1 - k : k;
      const T* part;
      if constexpr (std::is_same_v<T, std::string>) {
        part = strings_[static_cast<std::size_t>(k)].template Data<T>();
      } else {
        part = static_cast<const T*>(memory_.data()) + k * blocks * length;
      }
      CopyBlocks(part, length, out.Data<T>() + at * length, count_ * length, blocks, length);
    }
  });
}

void CopySlice(const Tensor& whole, std::size_t axis, int64_t index, Tensor& part) {
  const int64_t blocks = Product(whole.dims(), 0, axis), length = Product(whole.dims(), axis + 1, whole.rank());
  WithMoved(whole.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    CopyBlocks(whole.Data<T>() + index * length, whole.dim(axis) * length, part.Data<T>(), length, blocks, length);
  });
}

}  // namespace light
