// SPDX-License-Identifier: Apache-2.0
#include "kernels/window.h"

#include <algorithm>

#include "conversions/shape.h"
#include "kernels/arguments.h"

namespace light {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t CeilDivide(int64_t a, int64_t b) { return -FloorDivide(-a, b); }

// Extents and pads that stay far from overflow whatever they are multiplied with here.
constexpr int64_t kLargest = int64_t{1} << 31;

}  // namespace

int64_t Window::input_size() const noexcept { return Product(input, 0, input.rank()); }
int64_t Window::output_size() const noexcept { return Product(output, 0, output.rank()); }
int64_t Window::output_rows() const noexcept { return Product(output, 0, last()); }
int64_t Window::kernel_rows() const noexcept { return Product(kernel, 0, last()); }

int64_t Window::InputRow(int64_t o, int64_t k) const noexcept {
  int64_t row = 0, pitch = 1;
  for (std::size_t d = last(); d-- > 0;) {
    const int64_t at = o % output[d] * strides[d] - pads[d] + k % kernel[d] * dilations[d];
    if (at < 0 || at >= input[d]) return -1;
    row += at * pitch;
    pitch *= input[d];
    o /= output[d];
    k /= kernel[d];
  }
  return row;
}

void Window::OutputColumns(int64_t k, int64_t& begin, int64_t& end) const noexcept {
  const int64_t shift = pads[last()] - k * dilations[last()], stride = strides[last()], width = output[last()];
  begin = std::clamp<int64_t>(CeilDivide(shift, stride), 0, width);
  end = std::clamp<int64_t>(FloorDivide(input[last()] - 1 + shift, stride) + 1, begin, width);
}

WindowAttributes::WindowAttributes(const KernelInfo& info)
    : kernel_(info.Ints("kernel_shape")),
      strides_(info.Ints("strides")),
      dilations_(info.Ints("dilations")),
      pads_(info.Ints("pads")),
      ceil_mode_(info.Int("ceil_mode", 0) != 0) {
  const std::string auto_pad = info.String("auto_pad", "NOTSET");
  if (auto_pad == "VALID")
    auto_pad_ = AutoPad::kValid;
  else if (auto_pad == "SAME_UPPER")
    auto_pad_ = AutoPad::kSameUpper;
  else if (auto_pad == "SAME_LOWER")
    auto_pad_ = AutoPad::kSameLower;
  else if (auto_pad != "NOTSET")
    info.Fail(ErrorCode::kInvalidGraph,
              "attribute auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, got '" + auto_pad + "'");
  const auto check = [&](const char* name, const std::vector<int64_t>& values, int64_t least) {
    for (const int64_t value : values)
      if (value < least || value >= kLargest)
        info.Fail(ErrorCode::kInvalidGraph, "attribute " + std::string(name) + ": must be at least " +
                                                std::to_string(least) + " and less than 2^31, got " +
                                                conversions::FormatExtents(values));
  };
  check("kernel_shape", kernel_, 1);
  check("strides", strides_, 1);
  check("dilations", dilations_, 1);
  check("pads", pads_, 0);
}

Window WindowAttributes::Resolve(const Tensor& x, std::span<const int64_t> kernel) const {
  if (x.rank() < 3)
    FailArgument("input 0 (X): must have batch, channels and at least one spatial axis, got " + Describe(x));
  const std::size_t rank = x.rank() - 2;
  const auto check = [&](const char* name, std::span<const int64_t> values, std::size_t length) {
    if (!values.empty() && values.size() != length)
      FailArgument("attribute " + std::string(name) + ": must have " + std::to_string(length) + " entries for " +
                   Describe(x) + ", got " + conversions::FormatExtents(values));
  };
  if (kernel.size() != rank) check("kernel_shape", kernel, rank);
  check("strides", strides_, rank);
  check("dilations", dilations_, rank);
  check("pads", pads_, 2 * rank);
  Window w;
  for (Dims* dims : {&w.input, &w.output, &w.kernel, &w.strides, &w.dilations, &w.pads}) dims->Resize(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const int64_t input = w.input[d] = x.dim(d + 2);
    const int64_t stride = w.strides[d] = strides_.empty() ? 1 : strides_[d];
    w.kernel[d] = kernel[d];
    w.dilations[d] = dilations_.empty() ? 1 : dilations_[d];
    if (input >= kLargest || kernel[d] >= kLargest)
      FailArgument("input 0 (X): spatial extents must be less than 2^31, got " + Describe(x));
    const int64_t reach = (kernel[d] - 1) * w.dilations[d] + 1;
    if (auto_pad_ == AutoPad::kSameUpper || auto_pad_ == AutoPad::kSameLower) {
      w.output[d] = CeilDivide(input, stride);
      const int64_t total = std::max<int64_t>((w.output[d] - 1) * stride + reach - input, 0);
      w.pads[d] = auto_pad_ == AutoPad::kSameUpper ? total / 2 : total - total / 2;
      continue;
    }
    const bool padded = auto_pad_ == AutoPad::kNotSet && !pads_.empty();
    w.pads[d] = padded ? pads_[d] : 0;
    const int64_t room = input + w.pads[d] + (padded ? pads_[d + rank] : 0) - reach;
    if (kernel[d] < 1 || room < 0)
      FailArgument("input 0 (X): the window reaches over " + std::to_string(reach) + " elements of spatial axis " +
                   std::to_string(d) + ", more than there are with padding, got " + Describe(x));
    w.output[d] = (ceil_mode_ ? CeilDivide(room, stride) : room / stride) + 1;
    // Rounding up must not make a window that starts in the padding behind.
    if (ceil_mode_ && (w.output[d] - 1) * stride >= input + w.pads[d]) --w.output[d];
  }
  return w;
}

}  // namespace light
