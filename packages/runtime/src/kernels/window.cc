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
Dims Window::OutputDims(int64_t batch, int64_t planes) const {
  Dims dims;
  dims.Resize(output.rank() + 2);
  dims[0] = batch;
  dims[1] = planes;
  std::copy_n(output.data(), output.rank(), dims.data() + 2);
  return dims;
}

int64_t Window::output_size() const noexcept { return Product(output, 0, output.rank()); }
int64_t Window::output_rows() const noexcept { return Product(output, 0, last()); }
int64_t Window::kernel_rows() const noexcept { return Product(kernel, 0, last()); }

bool Window::is_identity() const noexcept {
  for (std::size_t d = 0; d < input.rank(); ++d)
    if (kernel[d] != 1 || output[d] != input[d] || pads[d] != 0 || (strides[d] != 1 && output[d] > 1)) return false;
  return true;
}

int64_t Window::InputRow(int64_t o, int64_t k) const noexcept {
  if (last() == 1) {  // without divisions
    const int64_t at = o * strides[0] - pads[0] + k * dilations[0];
    return at < 0 || at >= input[0] ? -1 : at;
  }
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
  if (stride == 1) {
    begin = std::clamp<int64_t>(shift, 0, width);
    end = std::clamp<int64_t>(input[last()] + shift, begin, width);
    return;
  }
  begin = std::clamp<int64_t>(CeilDivide(shift, stride), 0, width);
  end = std::clamp<int64_t>(FloorDivide(input[last()] - 1 + shift, stride) + 1, begin, width);
}

int64_t Window::Covered(std::size_t d, int64_t o, bool padded) const noexcept {
  const int64_t start = o * strides[d] - pads[d];
  const int64_t low = padded ? -pads[d] : 0, high = input[d] + (padded ? pads_end[d] : 0);
  const int64_t first = std::clamp<int64_t>(CeilDivide(low - start, dilations[d]), 0, kernel[d]);
  return std::clamp<int64_t>(FloorDivide(high - 1 - start, dilations[d]) + 1, first, kernel[d]) - first;
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

WindowAttributes WindowAttributes::ForPooling(const KernelInfo& info) {
  WindowAttributes attributes(info);
  const std::vector<int64_t>&kernel = attributes.kernel_, &pads = attributes.pads_;
  if (kernel.empty()) info.Fail(ErrorCode::kInvalidGraph, "attribute kernel_shape is required, got none");
  if (attributes.auto_pad_ != AutoPad::kNotSet) return attributes;
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (pads[i] >= kernel[i % kernel.size()])
      info.Fail(ErrorCode::kInvalidGraph, "attribute pads: each must be smaller than the kernel " +
                                              conversions::FormatExtents(kernel) + ", got " +
                                              conversions::FormatExtents(pads));
  return attributes;
}

bool WindowAttributes::is_dense() const noexcept {
  const auto is_one = [](int64_t value) { return value == 1; };
  return std::all_of(strides_.begin(), strides_.end(), is_one) &&
         std::all_of(dilations_.begin(), dilations_.end(), is_one);
}

Window WindowAttributes::Start(const Tensor& x, std::span<const int64_t> kernel) const {
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
  for (Dims* dims : {&w.input, &w.output, &w.kernel, &w.strides, &w.dilations, &w.pads, &w.pads_end})
    dims->Resize(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    w.strides[d] = strides_.empty() ? 1 : strides_[d];
    w.dilations[d] = dilations_.empty() ? 1 : dilations_[d];
    w.kernel[d] = kernel[d];
    const bool padded = auto_pad_ == AutoPad::kNotSet && !pads_.empty();
    w.pads[d] = padded ? pads_[d] : 0;
    w.pads_end[d] = padded ? pads_[d + rank] : 0;
    if (x.dim(d + 2) >= kLargest || kernel[d] >= kLargest)
      FailArgument("input 0 (X): spatial extents must be less than 2^31, got " + Describe(x));
  }
  return w;
}

Window WindowAttributes::Resolve(const Tensor& x, std::span<const int64_t> kernel) const {
  return Resolve(x, kernel, false);
}

Window WindowAttributes::ResolvePooling(const Tensor& x) const { return Resolve(x, kernel_, true); }

Window WindowAttributes::Resolve(const Tensor& x, std::span<const int64_t> kernel, bool may_be_empty) const {
  Window w = Start(x, kernel);
  for (std::size_t d = 0; d < w.input.rank(); ++d) {
    const int64_t input = w.input[d] = x.dim(d + 2), stride = w.strides[d];
    const int64_t reach = (kernel[d] - 1) * w.dilations[d] + 1;
    if (auto_pad_ == AutoPad::kSameUpper || auto_pad_ == AutoPad::kSameLower) {
      w.output[d] = CeilDivide(input, stride);
      const int64_t total = std::max<int64_t>((w.output[d] - 1) * stride + reach - input, 0);
      w.pads[d] = auto_pad_ == AutoPad::kSameUpper ? total / 2 : total - total / 2;
      w.pads_end[d] = total - w.pads[d];
      continue;
    }
    const int64_t room = input + w.pads[d] + w.pads_end[d] - reach;
    if (kernel[d] < 1 || (room < 0 && !(may_be_empty && room > -2 * stride)))
      FailArgument("input 0 (X): the window reaches over " + std::to_string(reach) + " elements of spatial axis " +
                   std::to_string(d) + ", more than there are with padding, got " + Describe(x));
    // Without padding ONNX defines one size, whatever the rounding.
    const bool up = ceil_mode_ && auto_pad_ == AutoPad::kNotSet;
    w.output[d] = std::max<int64_t>((up ? CeilDivide(room, stride) : FloorDivide(room, stride)) + 1, 0);
    // Rounding up must not make a window that starts in the padding behind.
    if (up && w.output[d] > 0 && (w.output[d] - 1) * stride >= input + w.pads[d]) --w.output[d];
  }
  return w;
}

Window WindowAttributes::ResolveTransposed(const Tensor& x, std::span<const int64_t> kernel,
                                           std::span<const int64_t> output_shape,
                                           std::span<const int64_t> output_padding) const {
  Window w = Start(x, kernel);
  const bool same = auto_pad_ == AutoPad::kSameUpper || auto_pad_ == AutoPad::kSameLower;
  for (std::size_t d = 0; d < w.input.rank(); ++d) {
    const int64_t from = w.output[d] = x.dim(d + 2), stride = w.strides[d];
    if (kernel[d] < 1)
      FailArgument("input 1 (W): must have kernel extents of at least 1, got " + std::to_string(kernel[d]));
    const int64_t full =
        stride * (from - 1) + (output_padding.empty() ? 0 : output_padding[d]) + (kernel[d] - 1) * w.dilations[d] + 1;
    if (output_shape.empty() && !same) {
      w.input[d] = full - w.pads[d] - w.pads_end[d];
      if (w.input[d] < 0)
        FailArgument("input 0 (X): the padding takes more than the " + std::to_string(full) +
                     " elements of spatial axis " + std::to_string(d) + " of the result, got " + Describe(x));
      continue;
    }
    w.input[d] = output_shape.empty() ? from * stride : output_shape[d];
    const int64_t total = std::max<int64_t>(full - w.input[d], 0);  // nothing is cut off where the result is larger
    w.pads[d] = auto_pad_ == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    w.pads_end[d] = total - w.pads[d];
  }
  return w;
}

}  // namespace light
