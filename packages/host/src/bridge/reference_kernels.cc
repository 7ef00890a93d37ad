// SPDX-License-Identifier: Apache-2.0
#include "bridge/reference_kernels.h"

#include <memory>
#include <utility>

#include "bridge/counted_outputs.h"
#include "light/error.h"
#include "light/model_writer.h"

namespace ort_host {
namespace {

ReferenceHooks reference_hooks;

/// A model that holds the node alone, its arguments named by position. The version of its opset is the one that brought
/// the node's schema, so that it selects the same.
light::ModelDef ModelOf(const light::KernelInfo& info) {
  const light::Node& node = info.node();
  light::ModelDef model;
  model.ir_version = info.graph().model().ir_version;
  model.opset_imports[node.domain] = node.since_version;
  model.graph.name = "node";
  light::NodeDef def;
  def.name = node.name;
  def.op_type = node.op_type;
  def.domain = node.domain;
  def.attributes = node.attributes;
  const auto add = [](std::size_t i, const light::ValueType* type, const char* prefix,
                      std::vector<light::ValueInfoDef>& infos, std::vector<std::string>& names) {
    names.push_back(type != nullptr ? prefix + std::to_string(i) : "");
    if (type != nullptr) infos.push_back({names.back(), *type});
  };
  for (std::size_t i = 0; i < info.input_count(); ++i)
    add(i, info.InputType(i), "input", model.graph.inputs, def.inputs);
  for (std::size_t i = 0; i < info.output_count(); ++i)
    add(i, info.OutputType(i), "output", model.graph.outputs, def.outputs);
  model.graph.nodes.push_back(std::move(def));
  return model;
}

/// True if values of the type exist here at run time.
bool HasValues(const light::ValueType& type) {
  using Kind = light::ValueType::Kind;
  if (type.kind == Kind::kTensor) return true;
  return (type.kind == Kind::kSequence || type.kind == Kind::kOptional) && type.inner != nullptr &&
         HasValues(*type.inner);
}

/// The type with every shape left open: an operator may return another one than was inferred.
light::ValueType Unshaped(light::ValueType type) {
  type.shape = {};
  if (type.inner != nullptr) type.inner = std::make_shared<light::ValueType>(Unshaped(*type.inner));
  return type;
}

class Evaluator {
 public:
  Evaluator(const light::KernelInfo& info, std::string& why)
      : evaluator_(reference_hooks.make(light::WriteModel(ModelOf(info)), why)) {}
  ~Evaluator() {
    if (evaluator_ != nullptr) reference_hooks.release(evaluator_);
  }
  Evaluator(const Evaluator&) = delete;

  void* get() const noexcept { return evaluator_; }

 private:
  void* evaluator_;
};

/// What can be told without an evaluator, which costs too much to be made twice.
std::string Declines(const light::KernelInfo& info) {
  if (!info.node().subgraphs.empty()) return "onnx.reference is asked for nodes without subgraphs only";
  const auto refused = [&](const light::ValueType* type) { return type != nullptr && !HasValues(*type); };
  for (std::size_t i = 0; i < info.input_count(); ++i)
    if (refused(info.InputType(i))) return "there are no values of type " + info.InputType(i)->ToString();
  for (std::size_t i = 0; i < info.output_count(); ++i)
    if (refused(info.OutputType(i))) return "there are no values of type " + info.OutputType(i)->ToString();
  return "";
}

/// The fallback is asked last, so the node that it cannot run either is one that nobody runs.
[[noreturn]] void FailUnassigned(const light::KernelInfo& info, const std::string& why) {
  std::string native;
  light::NativeKernels().Find(info.graph(), info.node(), &native);
  info.Fail(light::ErrorCode::kNotImplemented, "nothing here runs version " + std::to_string(info.since_version()) +
                                                   (native.empty() ? "" : "; native kernels: " + native) +
                                                   "; reference fallback: " + why);
}

class ReferenceKernel final : public light::KernelBase {
 public:
  explicit ReferenceKernel(const light::KernelInfo& info)
      : evaluator_(info, why_), label_("node " + info.node().Label()), budget_(std::make_shared<BudgetLink>()) {
    if (evaluator_.get() == nullptr) FailUnassigned(info, why_);
    budget_->Attach(info.budget());
    for (std::size_t i = 0; i < info.input_count(); ++i)
      if (info.HasInput(i)) inputs_.push_back(i);
    for (std::size_t i = 0; i < info.output_count(); ++i) {
      if (!info.HasOutput(i)) continue;
      outputs_.push_back(i);
      output_types_.push_back(Unshaped(*info.OutputType(i)));
    }
  }

  ~ReferenceKernel() override { budget_->Cut(); }

  void Run(light::RuntimeContext& context) override {
    std::vector<const light::Value*> inputs;
    for (const std::size_t i : inputs_) inputs.push_back(&context.InputValue(i));
    CountedOutputs outputs(context, outputs_, budget_, label_);
    std::string why;
    const bool is_done = reference_hooks.run(evaluator_.get(), inputs, output_types_, outputs, why);
    outputs.RethrowFailure();
    if (!is_done) throw light::Error(light::ErrorCode::kRuntimeException, why);
  }

 private:
  std::string why_;
  Evaluator evaluator_;
  std::string label_;
  std::shared_ptr<BudgetLink> budget_;
  std::vector<std::size_t> inputs_;   // arguments that are not omitted
  std::vector<std::size_t> outputs_;  // likewise
  std::vector<light::ValueType> output_types_;
};

light::KernelRegistry* MakeRegistry() {
  auto registry = std::make_unique<light::KernelRegistry>();
  for (const light::OperatorSchema* schema : light::OnnxSchemas().All()) {
    light::KernelRegistration registration;  // of all versions: the same operator again is not added twice
    registration.domain = schema->domain;
    registration.op_type = schema->name;
    registration.kernel_name = "onnx.reference." + schema->name;
    registration.is_hosted = true;
    registration.declines = Declines;
    registry->RegisterKernelFn(std::move(registration), light::MakeKernel<ReferenceKernel>);
  }
  return registry.release();
}

}  // namespace

void SetReferenceHooks(const ReferenceHooks& hooks) noexcept { reference_hooks = hooks; }

const light::KernelRegistry* ReferenceKernels() {
  static const light::KernelRegistry* const registry = MakeRegistry();
  return registry;
}

}  // namespace ort_host
