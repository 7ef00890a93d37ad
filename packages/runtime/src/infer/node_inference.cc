// SPDX-License-Identifier: Apache-2.0
#include "infer/node_inference.h"

#include "infer/type_rule.h"

namespace light {

std::vector<ValueType>& NodeInference::Infer(const Node& node) {
  node_ = &node;
  inputs_.clear();
  for (const ValueId id : node.inputs) inputs_.push_back(id == kNoValue ? nullptr : &graph_.values[id].type);
  ApplyTypeRule(node, inputs_, outputs_);
  if (node.schema->infer) node.schema->infer(*this);
  return outputs_;
}

const ValueType* NodeInference::Input(std::size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }

const Tensor* NodeInference::ConstantInput(std::size_t i) const {
  if (i >= node_->inputs.size() || node_->inputs[i] == kNoValue) return nullptr;
  return graph_.constants[node_->inputs[i]];
}

const Attribute* NodeInference::FindAttribute(std::string_view name) const {
  if (const Attribute* attribute = node_->FindAttribute(name)) return attribute;
  const AttributeSchema* schema = node_->schema->FindAttribute(name);
  return schema != nullptr && schema->has_default ? &schema->default_value : nullptr;
}

void NodeInference::SetOutputType(std::size_t i, ValueType type) {
  if (i < outputs_.size()) outputs_[i] = std::move(type);
}

void NodeInference::SetOutputElement(std::size_t i, ElementType element) {
  if (i >= outputs_.size()) return;
  outputs_[i].kind = ValueType::Kind::kTensor;
  outputs_[i].element = element;
}

void NodeInference::SetOutputShape(std::size_t i, Shape shape) {
  if (i >= outputs_.size()) return;
  outputs_[i].kind = ValueType::Kind::kTensor;
  outputs_[i].shape = std::move(shape);
}

std::vector<ValueType> NodeInference::InferSubgraph(std::string_view attribute, std::span<const ValueType> inputs) {
  DraftBody* body = graph_.FindBody(node_->id, attribute);
  if (body == nullptr) {
    FailNode(*node_, ErrorCode::kInvalidGraph,
             "the attribute '" + std::string(attribute) + "' is required and missing");
  }
  return infer_body_(*node_, *body, inputs);
}

}  // namespace light
