// SPDX-License-Identifier: Apache-2.0
#include "adapters/value_info.h"

#include "adapters/constant_watch.h"
#include "adapters/graph.h"
#include "adapters/graph_boundary.h"

namespace ort_host {

using Origin = light::GraphValue::Origin;

const TypeInfoAdapter* ValueInfoAdapter::type() const {
  if (value_.type.kind == light::ValueType::Kind::kUnknown) return nullptr;
  std::call_once(type_once_,
                 [&] { type_ = std::make_unique<TypeInfoAdapter>(value_.type, TypeInfoAdapter::Owner::kHost); });
  return type_.get();
}

const NodeAdapter* ValueInfoAdapter::producer() const noexcept {
  return value_.producer != light::kNoNode ? graph_.FindNode(value_.producer) : nullptr;
}

std::vector<ValueInfoAdapter::Consumer> ValueInfoAdapter::consumers() const {
  std::vector<Consumer> found;
  for (const light::Use& use : value_.uses) {
    const NodeAdapter* node = graph_.FindNode(use.node);
    if (node == nullptr) continue;
    const bool is_argument = use.input < node->node().inputs.size();
    found.push_back({node, is_argument ? static_cast<int64_t>(use.input) : -1});
  }
  return found;
}

bool ValueInfoAdapter::is_required_input() const noexcept {
  return graph_.IsInput(id_) && !IsInitializer(graph_.graph(), value_);
}

bool ValueInfoAdapter::is_optional_input() const noexcept {
  if (graph_.is_alone()) return false;
  if (SourceOf(graph_.offer(), id_).value.is_overridable) return true;
  // A constant that a fused group takes as an input can be left out as well, as ORT sees it.
  return graph_.is_fused() && graph_.IsInput(id_) && IsInitializer(graph_.graph(), value_) &&
         graph_.graph().model().ir_version >= 4;
}

bool ValueInfoAdapter::is_output() const noexcept { return graph_.IsOutput(id_); }

bool ValueInfoAdapter::is_constant() const noexcept { return !graph_.is_alone() && IsConstant(graph_.offer(), id_); }

bool ValueInfoAdapter::is_from_outer_scope() const noexcept {
  return !graph_.is_alone() && value_.origin == Origin::kCapture;
}

const ValueAdapter* ValueInfoAdapter::initializer() const {
  if (graph_.is_alone()) return nullptr;
  std::call_once(initializer_once_, [&] {
    const light::ValueSource source = SourceOf(graph_.offer(), id_);
    const auto tensor = InitializerTensor(source.graph, source.value);
    if (!tensor) return;
    initializer_ = ValueAdapter::Constant(*tensor);
    if (graph_.watch() != nullptr) [[unlikely]]
      graph_.watch()->Show(value_.name, *initializer_->tensor());
  });
  return initializer_.get();
}

const std::shared_ptr<const light::ExternalData>& ValueInfoAdapter::external() const noexcept {
  return graph_.is_alone() ? value_.external : SourceOf(graph_.offer(), id_).value.external;
}

}  // namespace ort_host
