// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "light/graph.h"

namespace light {

/// One node's view for type and shape inference.
class InferenceContext {
 public:
  virtual ~InferenceContext() = default;
  virtual const Node& node() const = 0;
  std::size_t input_count() const { return node().inputs.size(); }
  std::size_t output_count() const { return node().outputs.size(); }
  /// The type of argument `i`; nullptr if it is omitted or beyond the node's arguments.
  virtual const ValueType* Input(std::size_t i) const = 0;
  /// The value of argument `i` if it is a constant, else nullptr.
  virtual const Tensor* ConstantInput(std::size_t i) const = 0;
  /// The attribute written on the node, else the schema's default, else nullptr.
  virtual const Attribute* FindAttribute(std::string_view name) const = 0;
  /// What is known of output `i` so far.
  virtual const ValueType& Output(std::size_t i) const = 0;
  virtual void SetOutputType(std::size_t i, ValueType type) = 0;
  virtual void SetOutputElement(std::size_t i, ElementType element) = 0;
  virtual void SetOutputShape(std::size_t i, Shape shape) = 0;
  /// Infers the body in the graph attribute `attribute` with these input types; returns its output types.
  virtual std::vector<ValueType> InferSubgraph(std::string_view attribute, std::span<const ValueType> inputs) = 0;

  int64_t Int(std::string_view name, int64_t fallback) const;
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> fallback = {}) const;
  /// The values of a constant int64 or int32 argument, or nothing.
  std::optional<std::vector<int64_t>> ConstantInts(std::size_t i) const;
};

/// The inference hook of an ONNX operator, or an empty function when the generic rule is all there is.
InferenceFn FindInferenceFn(std::string_view domain, std::string_view name, int since_version);

}  // namespace light
