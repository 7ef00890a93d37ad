// SPDX-License-Identifier: Apache-2.0
#include "light/session.h"

#include "light/error.h"
#include "light/graph_builder.h"

namespace light {
namespace {

/// Keeps what a run makes, for callers that have no boundary of their own.
class CollectingBoundary final : public BoundaryIo {
 public:
  CollectingBoundary(const std::vector<Value>& inputs, std::size_t output_count)
      : inputs_(inputs), outputs(output_count) {}

  const Value& Input(std::size_t i) override { return inputs_[i]; }
  Tensor& CreateOutput(std::size_t i, ElementType type, std::span<const int64_t> dims) override {
    outputs[i] = Value(Tensor::Allocate(type, dims));
    return outputs[i].tensor();
  }
  void SetOutput(std::size_t i, Value value) override { outputs[i] = std::move(value); }

 private:
  const std::vector<Value>& inputs_;

 public:
  std::vector<Value> outputs;
};

std::string DescribeExpected(const ValueType& type) {
  return type.is_tensor() ? type.ToString() + " " + type.shape.ToString() : type.ToString();
}

std::string DescribeGiven(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNone:
      return "nothing";
    case Value::Kind::kTensor:
      return std::string("tensor(") + conversions::Name(value.tensor().type()) + ") " +
             conversions::FormatExtents(value.tensor().dims());
    case Value::Kind::kSequence:
      return "a sequence";
    case Value::Kind::kOptional:
      return "an optional";
  }
  return "something unknown";
}

bool Fits(const ValueType& type, const Value& value) {
  switch (type.kind) {
    case ValueType::Kind::kTensor:
      return value.is_tensor() && value.tensor().type() == type.element && type.shape.Admits(value.tensor().dims());
    case ValueType::Kind::kSequence: {
      if (value.kind() != Value::Kind::kSequence) return false;
      for (const Value& element : value.sequence().elements) {
        if (type.inner != nullptr && !Fits(*type.inner, element)) return false;
      }
      return true;
    }
    case ValueType::Kind::kOptional:
      if (value.is_none()) return true;
      if (value.kind() != Value::Kind::kOptional) return type.inner != nullptr && Fits(*type.inner, value);
      return value.content().is_none() || (type.inner != nullptr && Fits(*type.inner, value.content()));
    default:
      return false;
  }
}

}  // namespace

Session::Session(ModelDef model, const SessionConfig& config) : budget_(config.memory_limit_bytes) {
  const SchemaSet& schemas = config.schemas != nullptr ? *config.schemas : OnnxSchemas();
  auto graph = GraphBuilder(schemas, {config.warn}).Build(std::move(model));
  AssignmentSources sources = config.sources;
  if (sources.native == nullptr) sources.native = &NativeKernels();
  if (!sources.warn) sources.warn = config.warn;
  Assignment assignment = AssignNodes(*graph, sources);
  ProgramOptions options;
  options.budget = &budget_;
  options.fuse = config.fuse;
  options.kernels = config.kernels;
  pool_ = AcquirePool(config.intra_op_threads);
  options.parallel = pool_.get();
  program_ = Program::Lower(std::move(graph), std::move(assignment), options);
}

Session::~Session() = default;

const Graph& Session::graph() const noexcept { return program_->graph(); }

std::string Session::CheckInput(std::size_t i, const Value& value) const {
  const GraphValue& input = graph().value(graph().inputs().at(i));
  if (value.is_none() && (input.is_overridable || input.type.kind == ValueType::Kind::kOptional)) return "";
  if (Fits(input.type, value)) return "";
  return "input '" + input.name + "': expected " + DescribeExpected(input.type) + ", got " + DescribeGiven(value);
}

std::string Session::CheckOutput(std::size_t i, const Value& value) const {
  const GraphValue& output = graph().value(graph().outputs()[i]);
  if (!value.is_tensor() || output.type.shape.Admits(value.tensor().dims())) return "";
  return "output '" + output.name + "': the model declares " + DescribeExpected(output.type) + ", the run gave " +
         DescribeGiven(value);
}

void Session::Run(BoundaryIo& boundary) { program_->Run(boundary, *pool_); }

std::vector<Value> Session::Run(const std::vector<Value>& inputs) {
  if (inputs.size() != graph().inputs().size()) {
    throw Error(ErrorCode::kInvalidArgument, "run: expected " + std::to_string(graph().inputs().size()) +
                                                 " inputs, got " + std::to_string(inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string problem = CheckInput(i, inputs[i]);
    if (!problem.empty()) throw Error(ErrorCode::kInvalidArgument, problem);
  }
  CollectingBoundary boundary(inputs, graph().outputs().size());
  Run(boundary);
  return std::move(boundary.outputs);
}

}  // namespace light
