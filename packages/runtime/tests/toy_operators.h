// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <climits>
#include <functional>
#include <string>
#include <vector>

#include "light/graph_builder.h"
#include "light/inference.h"
#include "light/session.h"

// A domain of toy operators, so that the executor is tested without any real kernel.

namespace toy {

using namespace light;  // NOLINT: a test

using RunFn = std::function<void(RuntimeContext&)>;

class FunctionKernel final : public KernelBase {
 public:
  explicit FunctionKernel(RunFn run) : run_(std::move(run)) {}
  void Run(RuntimeContext& context) override { run_(context); }

 private:
  RunFn run_;
};

/// float32 operators of domain `toy`: all inputs and outputs share the type parameter T.
struct Operators {
  SchemaSet schemas{&OnnxSchemas()};
  KernelRegistry kernels;

  void Add(const std::string& name, int inputs, int outputs, RunFn run, KernelRegistration extra = {},
           InferenceFn infer = {}) {
    OperatorSchema schema;
    schema.domain = "toy";
    schema.name = name;
    schema.min_inputs = schema.max_inputs = inputs;
    schema.min_outputs = std::min(outputs, 1);
    schema.max_outputs = outputs;
    schema.type_parameters = {{"T", TypeSet::Tensors({ElementType::kFloat})}};
    for (int i = 0; i < inputs; ++i) schema.inputs.push_back({"X" + std::to_string(i), 0});
    for (int i = 0; i < outputs; ++i) {
      schema.outputs.push_back(
          {"Y" + std::to_string(i), 0, i == 0 ? FormalParameter::Option::kSingle : FormalParameter::Option::kOptional});
    }
    schema.infer = std::move(infer);
    schemas.Add(std::move(schema));
    extra.domain = "toy";
    extra.op_type = name;
    extra.kernel_name = "toy::" + name;
    kernels.RegisterKernelFn(std::move(extra),
                             [run](const KernelInfo&) { return std::make_unique<FunctionKernel>(run); });
  }
};

inline void SameShape(InferenceContext& context) {
  if (context.Input(0) != nullptr) context.SetOutputShape(0, context.Input(0)->shape);
}

/// y = x + 1
inline void Increment(RuntimeContext& context) {
  const Tensor& x = *context.Input(0);
  Tensor& y = context.Output(0, x.dims());
  for (int64_t i = 0; i < x.element_count(); ++i) y.Data<float>()[i] = x.Data<float>()[i] + 1.0f;
}

/// y = a + b, equal extents
inline void Sum(RuntimeContext& context) {
  const Tensor& a = *context.Input(0);
  const Tensor& b = *context.Input(1);
  Tensor& y = context.Output(0, a.dims());
  for (int64_t i = 0; i < a.element_count(); ++i) y.Data<float>()[i] = a.Data<float>()[i] + b.Data<float>()[i];
}

/// A model with float32 inputs and outputs of the given shape.
class ModelWriter {
 public:
  explicit ModelWriter(Shape shape = Shape::OfRank(1)) : shape_(std::move(shape)) {
    model_.ir_version = 8;
    model_.opset_imports = {{"", 17}, {"toy", 1}};
    model_.graph.name = "toy";
  }
  ModelWriter& Input(const std::string& name) {
    model_.graph.inputs.push_back({name, ValueType::Tensor(ElementType::kFloat, shape_)});
    return *this;
  }
  ModelWriter& Node(const std::string& op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    NodeDef node;
    node.name = "n" + std::to_string(model_.graph.nodes.size());
    node.op_type = op;
    node.domain = "toy";
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    model_.graph.nodes.push_back(std::move(node));
    return *this;
  }
  ModelWriter& Initializer(const std::string& name, Tensor tensor) {
    model_.graph.initializers.push_back({name, std::move(tensor), nullptr});
    return *this;
  }
  ModelWriter& Output(const std::string& name) {
    model_.graph.outputs.push_back({name, ValueType::Tensor(ElementType::kFloat, shape_)});
    return *this;
  }
  ModelDef Take() { return std::move(model_); }

 private:
  Shape shape_;
  ModelDef model_;
};

inline Tensor Floats(const std::vector<float>& values) {
  const int64_t extent = static_cast<int64_t>(values.size());
  Tensor tensor = Tensor::Allocate(ElementType::kFloat, {&extent, 1});
  std::copy(values.begin(), values.end(), tensor.Data<float>());
  return tensor;
}

inline std::vector<float> Read(const Value& value) {
  const auto span = value.tensor().Span<float>();
  return {span.begin(), span.end()};
}

}  // namespace toy
