// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <span>
#include <string_view>

#include "light/inference.h"

namespace light {

/// What infers an operator beyond the generic rule, for the versions of its schema in [since, until].
struct InferenceHook {
  std::string_view name;
  void (*infer)(InferenceContext&);
  int since = 1;
  int until = INT_MAX;
  std::string_view domain = "";
};

// One list per family of operators.
std::span<const InferenceHook> ElementwiseHooks();
std::span<const InferenceHook> ShapeHooks();
std::span<const InferenceHook> IndexHooks();
std::span<const InferenceHook> ReductionHooks();
std::span<const InferenceHook> LinearHooks();
std::span<const InferenceHook> EinsumHooks();
std::span<const InferenceHook> GeneratorHooks();
std::span<const InferenceHook> ControlFlowHooks();
std::span<const InferenceHook> SequenceHooks();
std::span<const InferenceHook> MlHooks();

std::span<const std::span<const InferenceHook>> AllInferenceHooks();

// Helpers of the hooks.

/// The shape of argument `i`; unranked if it is omitted, no tensor or not known.
const Shape& InputShape(const InferenceContext& context, std::size_t i);
/// The element type of argument `i`; kUndefined if it is omitted or no tensor.
ElementType InputElement(const InferenceContext& context, std::size_t i);
/// The tensor in attribute `name`, or nullptr.
const Tensor* TensorAttribute(const InferenceContext& context, std::string_view name);
std::string StringAttribute(const InferenceContext& context, std::string_view name);
bool HasAttribute(const InferenceContext& context, std::string_view name);
/// Throws Error (kInvalidGraph), prefixed by the node.
[[noreturn]] void FailInference(const InferenceContext& context, const std::string& what);
/// For messages: `input 1 (axes)`, or the attribute `attribute` where the input is omitted.
std::string ArgumentLabel(const InferenceContext& context, std::size_t input, std::string_view attribute = "");
/// Counts a negative axis from the end. Throws Error (kInvalidGraph) if it is outside [-rank, rank).
/// @param what  what gave the axis, for the message
std::size_t NormaliseAxis(const InferenceContext& context, int64_t axis, std::size_t rank,
                          std::string_view what = "attribute axis");
/// The axes in input `input` (if constant) or, without one, in attribute `axes`. Nothing if they are not known.
/// `given` tells whether there are any at all.
std::optional<std::vector<int64_t>> Axes(const InferenceContext& context, std::size_t input, bool* given);
/// An entry per axis: whether it is among `axes`, which input `input` or the attribute `axes` gave. Throws Error
/// (kInvalidGraph) if one is out of range or given twice.
std::vector<bool> MarkAxes(const InferenceContext& context, const std::vector<int64_t>& axes, std::size_t rank,
                           std::size_t input);
/// Result of multidirectional (numpy) broadcasting of what other inputs broadcast to with the shape `b` of input
/// `input`; unknown where it is not known. Throws Error (kInvalidGraph), naming the input, if they do not fit.
Shape BroadcastShapes(const InferenceContext& context, const Shape& a, const Shape& b, std::size_t input);
/// Output 0 takes the shape of input 0.
void KeepShape(InferenceContext& context);
/// The element type in the attribute `name`, a TensorProto.DataType; kUndefined if there is none.
ElementType ElementAttribute(const InferenceContext& context, std::string_view name);
// Product and sum of two extents, unknown if either is. Throw Error (kInvalidGraph) on overflow.
Dim Multiply(const InferenceContext& context, const Dim& a, const Dim& b);
Dim Sum(const InferenceContext& context, const Dim& a, const Dim& b);

}  // namespace light
