// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "infer/hooks.h"

namespace light {
namespace {

// MatMul and its relatives.

/// The shape of a matrix product of arguments `a` and `b`, as numpy.matmul has it.
void InferMatMulOf(InferenceContext& context, std::size_t a, std::size_t b) {
  Shape left = InputShape(context, a);
  Shape right = InputShape(context, b);
  if (!left.has_rank() || !right.has_rank()) return;
  if (left.rank() == 0 || right.rank() == 0) {
    FailInference(context,
                  ArgumentLabel(context, left.rank() == 0 ? a : b) + ": must have at least rank 1, got a scalar");
  }
  const bool row = left.rank() == 1;
  const bool column = right.rank() == 1;
  std::vector<Dim> x = left.dims();
  std::vector<Dim> y = right.dims();
  if (row) x.insert(x.begin(), Dim(1));
  if (column) y.emplace_back(1);
  const Dim& inner_left = x[x.size() - 1];
  const Dim& inner_right = y[y.size() - 2];
  if (inner_left.is_known() && inner_right.is_known() && !(inner_left == inner_right)) {
    FailInference(context, ArgumentLabel(context, b) + ": must have as many rows as " + ArgumentLabel(context, a) +
                               " has columns, " + left.ToString() + ", got " + right.ToString());
  }
  const Shape batch = BroadcastShapes(context, Shape({x.begin(), x.end() - 2}), Shape({y.begin(), y.end() - 2}), b);
  std::vector<Dim> dims = batch.dims();
  if (!row) dims.push_back(x[x.size() - 2]);
  if (!column) dims.push_back(y[y.size() - 1]);
  context.SetOutputShape(0, Shape(std::move(dims)));
}

void InferMatMul(InferenceContext& context) { InferMatMulOf(context, 0, 1); }
void InferQLinearMatMul(InferenceContext& context) { InferMatMulOf(context, 0, 3); }

void InferGemm(InferenceContext& context) {
  const Shape& a = InputShape(context, 0);
  const Shape& b = InputShape(context, 1);
  Shape out = Shape::OfRank(2);
  const bool trans_a = context.Int("transA", 0) != 0;
  const bool trans_b = context.Int("transB", 0) != 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape& shape = InputShape(context, i);
    if (shape.has_rank() && shape.rank() != 2)
      FailInference(context, ArgumentLabel(context, i) + ": must have rank 2, got " + shape.ToString());
  }
  if (a.has_rank()) out[0] = a[trans_a ? 1 : 0];
  if (b.has_rank()) out[1] = b[trans_b ? 0 : 1];
  if (a.has_rank() && b.has_rank()) {
    const Dim& inner_a = a[trans_a ? 0 : 1];
    const Dim& inner_b = b[trans_b ? 1 : 0];
    if (inner_a.is_known() && inner_b.is_known() && !(inner_a == inner_b)) {
      FailInference(context, ArgumentLabel(context, 1) + ": must have as many rows" + (trans_b ? ", transposed," : "") +
                                 " as " + ArgumentLabel(context, 0) + " has columns" +
                                 (trans_a ? ", transposed, " : ", ") + a.ToString() + ", got " + b.ToString());
    }
  }
  context.SetOutputShape(0, std::move(out));
}

// Windows that slide over the spatial dimensions.

struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> pads;
  std::vector<int64_t> dilations;
  std::string auto_pad;
  bool ceil = false;
};

/// The window's attributes; lists that are missing are filled in. False if any number is out of bounds.
bool ReadWindow(const InferenceContext& context, std::size_t spatial, Window& window) {
  window.strides = context.Ints("strides");
  window.pads = context.Ints("pads");
  window.dilations = context.Ints("dilations");
  window.auto_pad = StringAttribute(context, "auto_pad");
  window.ceil = context.Int("ceil_mode", 0) != 0 && window.auto_pad != "VALID";
  if (window.strides.empty()) window.strides.assign(spatial, 1);
  if (window.pads.empty()) window.pads.assign(2 * spatial, 0);
  if (window.dilations.empty()) window.dilations.assign(spatial, 1);
  const auto bounded = [](const std::vector<int64_t>& list, int64_t low) {
    return std::all_of(list.begin(), list.end(), [&](int64_t n) { return n >= low && n < int64_t{1} << 30; });
  };
  return window.kernel.size() == spatial && window.strides.size() == spatial && window.pads.size() == 2 * spatial &&
         window.dilations.size() == spatial && bounded(window.kernel, 1) && bounded(window.strides, 1) &&
         bounded(window.pads, 0) && bounded(window.dilations, 1);
}

Dim SlideExtent(const Dim& input, const Window& window, std::size_t i, std::size_t spatial) {
  if (!input.is_known() || input.extent() >= int64_t{1} << 60) return {};
  const int64_t stride = window.strides[i];
  if (window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER")
    return Dim((input.extent() + stride - 1) / stride);
  const int64_t before = window.auto_pad == "VALID" ? 0 : window.pads[i];
  const int64_t after = window.auto_pad == "VALID" ? 0 : window.pads[i + spatial];
  const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
  const int64_t room = input.extent() + before + after - reach;
  if (room < 0) return {};
  int64_t out = (window.ceil ? (room + stride - 1) / stride : room / stride) + 1;
  // A window that would start in the padding behind the input is left out.
  if (window.ceil && (out - 1) * stride >= input.extent() + before) --out;
  return Dim(out);
}

void InferPoolOf(InferenceContext& context, const Dim& channels, std::vector<int64_t> kernel) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  if (input.rank() < 2)
    FailInference(context,
                  ArgumentLabel(context, 0) + ": must have a batch and a channel axis, got " + input.ToString());
  const std::size_t spatial = input.rank() - 2;
  Shape out = Shape::OfRank(input.rank());
  out[0] = input[0];
  out[1] = channels;
  Window window;
  window.kernel = std::move(kernel);
  if (ReadWindow(context, spatial, window)) {
    for (std::size_t i = 0; i < spatial; ++i) out[i + 2] = SlideExtent(input[i + 2], window, i, spatial);
  }
  for (std::size_t i = 0; i < context.output_count(); ++i) context.SetOutputShape(i, out);
}

void InferPool(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  InferPoolOf(context, input.rank() >= 2 ? input[1] : Dim(), context.Ints("kernel_shape"));
}

void InferConvOf(InferenceContext& context, std::size_t weight) {
  const Shape& w = InputShape(context, weight);
  std::vector<int64_t> kernel = context.Ints("kernel_shape");
  if (kernel.empty()) {
    for (std::size_t i = 2; i < w.rank(); ++i) kernel.push_back(w[i].extent());
  }
  InferPoolOf(context, w.rank() >= 1 ? w[0] : Dim(), std::move(kernel));
}

void InferConv(InferenceContext& context) { InferConvOf(context, 1); }
void InferQLinearConv(InferenceContext& context) { InferConvOf(context, 3); }

/// The extent that a window of this kind came from, less what is ambiguous about it.
Dim UnslideExtent(const Dim& input, const Window& window, std::size_t i, std::size_t spatial) {
  if (!input.is_known() || input.extent() <= 0 || input.extent() >= int64_t{1} << 30) return {};
  if (window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER")
    return Dim(input.extent() * window.strides[i]);
  const int64_t pads = window.auto_pad == "VALID" ? 0 : window.pads[i] + window.pads[i + spatial];
  const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
  return Dim(window.strides[i] * (input.extent() - 1) + reach - pads);
}

void InferConvTranspose(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  const Shape& w = InputShape(context, 1);
  if (input.rank() < 2) return;
  const std::size_t spatial = input.rank() - 2;
  Shape out = Shape::OfRank(input.rank());
  out[0] = input[0];
  if (w.rank() >= 2) out[1] = Multiply(context, w[1], Dim(std::max<int64_t>(context.Int("group", 1), 0)));
  const std::vector<int64_t> given = context.Ints("output_shape");
  std::vector<int64_t> extra = context.Ints("output_padding");
  if (extra.empty()) extra.assign(spatial, 0);
  Window window;
  window.kernel = context.Ints("kernel_shape");
  if (window.kernel.empty()) {
    for (std::size_t i = 2; i < w.rank(); ++i) window.kernel.push_back(w[i].extent());
  }
  const bool readable = ReadWindow(context, spatial, window) && extra.size() == spatial;
  const bool same = window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER";
  for (std::size_t i = 0; i < spatial; ++i) {
    if (given.size() == spatial) {
      out[i + 2] = Dim(given[i]);
    } else if (readable && extra[i] >= 0 && extra[i] < int64_t{1} << 30) {
      const Dim extent = UnslideExtent(input[i + 2], window, i, spatial);
      out[i + 2] = extent.is_known() && !same ? Dim(extent.extent() + extra[i]) : extent;
    }
  }
  context.SetOutputShape(0, std::move(out));
}

void InferMaxUnpool(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (input.rank() < 2) return;
  Shape out = Shape::OfRank(input.rank());
  if (context.Input(2) != nullptr) {
    const auto given = context.ConstantInts(2);
    if (given && given->size() == input.rank()) {
      for (std::size_t i = 0; i < out.rank(); ++i) out[i] = Dim((*given)[i]);
    }
    return context.SetOutputShape(0, std::move(out));
  }
  const std::size_t spatial = input.rank() - 2;
  out[0] = input[0];
  out[1] = input[1];
  Window window;
  window.kernel = context.Ints("kernel_shape");
  if (ReadWindow(context, spatial, window)) {
    for (std::size_t i = 0; i < spatial; ++i) out[i + 2] = UnslideExtent(input[i + 2], window, i, spatial);
  }
  context.SetOutputShape(0, std::move(out));
}

void InferDet(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  const std::size_t rank = input.rank();
  const bool square =
      rank >= 2 && (!input[rank - 1].is_known() || !input[rank - 2].is_known() || input[rank - 1] == input[rank - 2]);
  if (!square)
    FailInference(context, ArgumentLabel(context, 0) + ": must have square matrices in its last two axes, got " +
                               input.ToString());
  context.SetOutputShape(0, Shape({input.dims().begin(), input.dims().end() - 2}));
}

void InferGlobalPool(InferenceContext& context) {
  Shape out = InputShape(context, 0);
  if (!out.has_rank()) return;
  for (std::size_t i = 2; i < out.rank(); ++i) out[i] = Dim(1);
  context.SetOutputShape(0, std::move(out));
}

// Normalisation.

void InferBatchNormalization(InferenceContext& context) {
  KeepShape(context);
  for (std::size_t i = 1; i < context.output_count(); ++i) {
    const Shape& channels = InputShape(context, context.node().since_version >= 14 ? i + 2 : 1);
    context.SetOutputShape(i, channels);
  }
}

void InferLayerNormalization(InferenceContext& context) {
  KeepShape(context);
  const ElementType stash = ElementAttribute(context, "stash_type");
  Shape reduced = InputShape(context, 0);
  if (reduced.has_rank()) {
    for (std::size_t i = NormaliseAxis(context, context.Int("axis", -1), reduced.rank()); i < reduced.rank(); ++i) {
      reduced[i] = Dim(1);
    }
  }
  for (std::size_t i = 1; i < 3; ++i) {
    context.SetOutputElement(i, stash == ElementType::kUndefined ? ElementType::kFloat : stash);
    context.SetOutputShape(i, reduced);
  }
}

// Attention.

Dim Quotient(const Dim& extent, int64_t divisor) {
  return extent.is_known() && divisor > 0 && extent.extent() % divisor == 0 ? Dim(extent.extent() / divisor) : Dim();
}

void InferAttention(InferenceContext& context) {
  const Shape &q = InputShape(context, 0), &k = InputShape(context, 1), &v = InputShape(context, 2);
  if ((q.rank() != 3 && q.rank() != 4) || k.rank() != q.rank() || v.rank() != q.rank()) return;
  const bool flat = q.rank() == 3;
  const int64_t heads = context.Int("q_num_heads", 0), key_heads = context.Int("kv_num_heads", 0);
  const Dim rows = q[flat ? 1 : 2], size = flat ? Quotient(v[2], key_heads) : v[3];
  context.SetOutputShape(0, flat ? Shape({q[0], rows, size.is_known() ? Dim(size.extent() * heads) : Dim()})
                                 : Shape({q[0], q[1], rows, size}));
  Dim keys = k[flat ? 1 : 2];
  if (context.Input(4) != nullptr) {
    const Shape& past = InputShape(context, 4);
    keys = past.rank() == 4 ? Sum(context, past[2], keys) : Dim();
  }
  const Dim of_keys = flat ? (key_heads > 0 ? Dim(key_heads) : Dim()) : k[1];
  context.SetOutputShape(1, Shape({q[0], of_keys, keys, flat ? Quotient(k[2], key_heads) : k[3]}));
  context.SetOutputShape(2, Shape({q[0], of_keys, keys, size}));
  context.SetOutputShape(3, Shape({q[0], flat ? (heads > 0 ? Dim(heads) : Dim()) : q[1], rows, keys}));
}

constexpr InferenceHook kHooks[] = {
    {"Attention", InferAttention},
    {"AveragePool", InferPool},
    {"BatchNormalization", InferBatchNormalization},
    {"Conv", InferConv},
    {"ConvInteger", InferConv},
    {"ConvTranspose", InferConvTranspose},
    {"Det", InferDet},
    {"Gemm", InferGemm},
    {"GlobalAveragePool", InferGlobalPool},
    {"GlobalLpPool", InferGlobalPool},
    {"GlobalMaxPool", InferGlobalPool},
    {"GroupNormalization", KeepShape},
    {"InstanceNormalization", KeepShape},
    {"LRN", KeepShape},
    {"LayerNormalization", InferLayerNormalization},
    {"LpNormalization", KeepShape},
    {"LpPool", InferPool},
    {"MatMul", InferMatMul},
    {"MatMulInteger", InferMatMul},
    {"MaxPool", InferPool},
    {"MaxUnpool", InferMaxUnpool},
    {"MeanVarianceNormalization", KeepShape},
    {"QLinearConv", InferQLinearConv},
    {"QLinearMatMul", InferQLinearMatMul},
    {"RMSNormalization", KeepShape},
    {"RotaryEmbedding", KeepShape},
};

}  // namespace

std::span<const InferenceHook> LinearHooks() { return kHooks; }

}  // namespace light
