// SPDX-License-Identifier: Apache-2.0
// What the reference fallback hands to its evaluator, and what it makes of the answer. The evaluator here is no Python.
#include "bridge/reference_kernels.h"

#include <string>

#include "check.h"
#include "light/error.h"
#include "light/model_reader.h"
#include "light/session.h"

namespace {

using namespace light;

/// What the last evaluator was made from and given, and what it answers.
struct Spy {
  ModelDef model;
  std::vector<ValueType> output_types;
  std::vector<Value::Kind> input_kinds;
  std::vector<Value> answer;
  std::string refuses_to_make;
  std::string refuses_to_run;
  int alive = 0;
  int made = 0;
};
Spy spy;

const ort_host::ReferenceHooks kHooks{
    [](const std::string& model, std::string& why) -> void* {
      why = spy.refuses_to_make;
      if (!why.empty()) return nullptr;
      spy.model = ReadModel(model.data(), model.size());
      ++spy.alive;
      ++spy.made;
      return &spy;
    },
    [](void* evaluator, const std::vector<const Value*>& inputs, const std::vector<ValueType>& output_types,
       ort_host::ReferenceOutputs& outputs, std::string& why) {
      CHECK(evaluator == &spy);
      spy.input_kinds.clear();
      for (const Value* input : inputs) spy.input_kinds.push_back(input->kind());
      spy.output_types = output_types;
      why = spy.refuses_to_run;
      if (!why.empty()) return false;
      for (std::size_t k = 0; k < spy.answer.size(); ++k)
        if (!outputs.Put(k, spy.answer[k])) return false;
      return true;
    },
    [](void*) noexcept { --spy.alive; },
};

const ValueType kFloats = ValueType::Tensor(ElementType::kFloat, Shape::OfRank(1));

Value Floats(std::vector<float> values) {
  const int64_t count = static_cast<int64_t>(values.size());
  Tensor tensor = Tensor::Allocate(ElementType::kFloat, {&count, 1});
  std::copy(values.begin(), values.end(), tensor.Data<float>());
  return Value(std::move(tensor));
}

ModelDef ModelOf(NodeDef node, std::vector<ValueInfoDef> inputs, std::vector<ValueInfoDef> outputs) {
  ModelDef model;
  model.ir_version = 10;
  model.opset_imports[""] = 21;
  model.graph.name = "g";
  model.graph.nodes.push_back(std::move(node));
  model.graph.inputs = std::move(inputs);
  model.graph.outputs = std::move(outputs);
  return model;
}

/// A session without a native kernel.
std::unique_ptr<Session> Open(ModelDef model, std::size_t limit = MemoryBudget::kUnlimited) {
  static const KernelRegistry none;
  SessionConfig config;
  config.memory_limit_bytes = limit;
  config.sources.native = &none;
  config.sources.fallback = ort_host::ReferenceKernels;
  return std::make_unique<Session>(std::move(model), config);
}

ModelDef Clip() {
  NodeDef node{.name = "limit", .op_type = "Clip", .inputs = {"x", "", "max"}, .outputs = {"y"}};
  return ModelOf(std::move(node), {{"x", kFloats}, {"max", ValueType::Tensor(ElementType::kFloat, Shape::Scalar())}},
                 {{"y", kFloats}});
}

void TestTheModelHoldsTheNodeAlone() {
  spy.made = 0;
  auto session = Open(Clip());
  CHECK(spy.alive == 1);
  CHECK(spy.made == 1);
  CHECK(spy.model.ir_version == 10);
  CHECK(spy.model.opset_imports.at("") == 13);  // the last version of Clip that opset 21 has
  const NodeDef& node = spy.model.graph.nodes.at(0);
  CHECK(node.name == "limit" && node.op_type == "Clip");
  CHECK((node.inputs == std::vector<std::string>{"input0", "", "input2"}));
  CHECK((node.outputs == std::vector<std::string>{"output0"}));
  CHECK(spy.model.graph.inputs.size() == 2);
  CHECK(spy.model.graph.inputs[1].name == "input2");
  CHECK(spy.model.graph.inputs[0].type.ToString() == "tensor(float)");
  const auto& assigned = session->program().assignment().nodes.at(0);
  CHECK(assigned.kernel == "onnx.reference.Clip");
  CHECK(Contains(assigned.reason, "reference fallback"));

  const Tensor max = Tensor::Allocate(ElementType::kFloat, {});
  spy.answer = {Floats({1, 2, 3})};
  const auto outputs = session->Run({Floats({5, 6}), Value(max)});
  CHECK((spy.input_kinds == std::vector{Value::Kind::kTensor, Value::Kind::kTensor}));
  CHECK(!spy.output_types.at(0).shape.has_rank());
  CHECK(outputs[0].tensor().element_count() == 3);  // whatever was inferred
  CHECK(outputs[0].tensor().Data<float>()[2] == 3);
  CHECK(outputs[0].tensor().data() != spy.answer[0].tensor().data());
  session.reset();
  CHECK(spy.alive == 0);
}

void TestSequences() {
  const ValueType sequence = ValueType::Sequence(kFloats);
  NodeDef node{.op_type = "SequenceInsert", .inputs = {"s", "x"}, .outputs = {"y"}};
  auto session = Open(ModelOf(std::move(node), {{"s", sequence}, {"x", kFloats}}, {{"y", sequence}}));
  spy.answer = {Value(Sequence{kFloats, {Floats({1}), Floats({2, 3})}})};
  const auto outputs = session->Run({Value(Sequence{kFloats, {}}), Floats({1})});
  CHECK((spy.input_kinds == std::vector{Value::Kind::kSequence, Value::Kind::kTensor}));
  CHECK(outputs[0].sequence().elements[1].tensor().element_count() == 2);
}

/// At the limit, and one byte beyond.
void TestTheLimit(const ModelDef& model, const std::vector<Value>& inputs, std::size_t bytes) {
  auto session = Open(model, bytes);
  for (int i = 0; i < 2; ++i) {
    session->Run(inputs);
    CHECK(session->budget().used() == 0);
  }
  session = Open(model, bytes - 1);
  const Error error = CHECK_THROWS(Error, session->Run(inputs));
  CHECK(error.code() == ErrorCode::kFail);
  CHECK(Contains(error.what(), "over the memory limit of " + std::to_string(bytes - 1) + " bytes"));
  CHECK(session->budget().used() == 0);
}

void TestOutputsAreCharged() {
  // A chain whose middle value is a sequence: its elements have 4 and 8 bytes. They are alive until the run is over.
  const ValueType sequence = ValueType::Sequence(kFloats),
                  count = ValueType::Tensor(ElementType::kInt64, Shape::Scalar());
  NodeDef insert{.name = "insert", .op_type = "SequenceInsert", .inputs = {"s", "x"}, .outputs = {"y"}};
  spy.answer = {Value(Sequence{kFloats, {Floats({1}), Floats({2, 3})}})};
  TestTheLimit(ModelOf(std::move(insert), {{"s", sequence}, {"x", kFloats}}, {{"y", sequence}}),
               {Value(Sequence{kFloats, {}}), Floats({1})}, 12);

  const int64_t two = 2;
  Tensor words = Tensor::Allocate(ElementType::kString, {&two, 1});
  words.Data<std::string>()[0] = "short";  // in the element
  words.Data<std::string>()[1] = std::string(100, 'x');
  const ValueType text = ValueType::Tensor(ElementType::kString, Shape::OfRank(1));
  spy.answer = {Value(words)};
  NodeDef unique{.name = "unique", .op_type = "Unique", .inputs = {"x"}, .outputs = {"y"}};
  TestTheLimit(ModelOf(std::move(unique), {{"x", text}}, {{"y", text}}), {Value(words)}, 100);
}

void TestOmittedOutputs() {
  NodeDef node{.op_type = "Unique", .inputs = {"x"}, .outputs = {"y", "", "inverse"}};
  const ValueType counts = ValueType::Tensor(ElementType::kInt64, Shape::OfRank(1));
  auto session = Open(ModelOf(std::move(node), {{"x", kFloats}}, {{"y", kFloats}, {"inverse", counts}}));
  CHECK((spy.model.graph.nodes.at(0).outputs == std::vector<std::string>{"output0", "", "output2"}));
  const int64_t none = 0;
  spy.answer = {Floats({7}), Value(Tensor::Allocate(ElementType::kInt64, {&none, 1}))};
  const auto outputs = session->Run({Floats({1})});
  CHECK(spy.output_types.size() == 2);
  CHECK(outputs[0].tensor().Data<float>()[0] == 7);
  CHECK(outputs[1].tensor().element_count() == 0);
}

void TestErrorsNameTheNode() {
  auto session = Open(Clip());
  spy.refuses_to_run = "onnx.reference: ValueError: no";
  Error error = CHECK_THROWS(Error, session->Run({Floats({1}), Value(Tensor::Allocate(ElementType::kFloat, {}))}));
  CHECK(error.code() == ErrorCode::kRuntimeException);
  CHECK(Contains(error.what(), "node 'limit' (Clip): onnx.reference: ValueError: no"));
  spy.refuses_to_run.clear();

  spy.refuses_to_make = "onnx.reference: it has none";
  error = CHECK_THROWS(Error, Open(Clip()));
  CHECK(error.code() == ErrorCode::kNotImplemented);
  CHECK(Contains(error.what(), "node 'limit' (Clip)"));
  CHECK(Contains(error.what(), "reference fallback: onnx.reference: it has none"));
  spy.refuses_to_make.clear();
}

void TestWhatIsDeclined() {
  auto body = std::make_shared<GraphDef>();
  body->nodes.push_back({.op_type = "Neg", .inputs = {"x"}, .outputs = {"z"}});
  body->outputs = {{"z", kFloats}};
  NodeDef branch{.op_type = "If", .inputs = {"c"}, .outputs = {"y"}};
  for (const char* name : {"then_branch", "else_branch"})
    branch.attributes.push_back({name, AttributeKind::kGraph, std::shared_ptr<const GraphDef>(body), ""});
  const ValueType condition = ValueType::Tensor(ElementType::kBool, Shape::Scalar());
  const ModelDef model = ModelOf(std::move(branch), {{"c", condition}, {"x", kFloats}}, {{"y", kFloats}});
  CHECK(Contains(CHECK_THROWS(Error, Open(model)).what(), "nodes without subgraphs only"));

  NodeDef own{.op_type = "Mine", .domain = "my", .inputs = {"x"}, .outputs = {"y"}};
  ModelDef foreign = ModelOf(std::move(own), {{"x", kFloats}}, {{"y", kFloats}});
  foreign.opset_imports["my"] = 1;
  CHECK_THROWS(Error, Open(foreign));
}

}  // namespace

int main() {
  ort_host::SetReferenceHooks(kHooks);
  TestTheModelHoldsTheNodeAlone();
  TestSequences();
  TestOutputsAreCharged();
  TestOmittedOutputs();
  TestErrorsNameTheNode();
  TestWhatIsDeclined();
  CHECK(spy.alive == 0);
  return 0;
}
