// SPDX-License-Identifier: Apache-2.0
#include "fuse/members.h"

#include <algorithm>
#include <unordered_map>

#include "exec/step_error.h"
#include "fuse/inner_context.h"

namespace light {
namespace {

/// What a member that runs apart sees. One object serves all members of a step, one after another.
class MemberContext final : public InnerContext {
 public:
  MemberContext(const Members& members, RuntimeContext& outer, const std::vector<const Tensor*>& made)
      : InnerContext(outer), members_(members), tensors_(members.input_count()), inner_(members.size()) {
    tensors_.insert(tensors_.end(), made.begin(), made.end());
    tensors_.resize(members.input_count() + members.size());
  }

  void Begin(std::size_t member) {
    member_ = member;
    if (Cancellation* const cancellation = outer().cancellation()) cancellation->Poll();
  }
  /// The memory of values that are read no more is free for others.
  void End() {
    for (Block& block : blocks_)
      if (block.value != kFree && members_.LastUse(block.value) <= member_) block.value = kFree;
  }

  std::size_t input_count() const noexcept override { return member().inputs.size(); }
  const Tensor* Input(std::size_t i) override {
    if (i >= member().inputs.size() || member().inputs[i] == Members::kAbsent) return nullptr;
    const uint32_t value = member().inputs[i];
    return value < members_.input_count() ? outer().Input(value) : tensors_[value];
  }
  const Value& InputValue(std::size_t i) override {
    if (i < member().inputs.size() && member().inputs[i] < members_.input_count())
      return outer().InputValue(member().inputs[i]);
    const Tensor* tensor = Input(i);
    values_.push_back(std::make_unique<Value>(tensor != nullptr ? Value(*tensor) : Value()));
    return *values_.back();
  }
  Tensor& Output(std::size_t i, std::span<const int64_t> dims) override {
    if (i != 0) throw Error(ErrorCode::kInvalidArgument, "output " + std::to_string(i) + ": the node has 1 outputs");
    const uint32_t value = members_.ResultOf(member_);
    Tensor* tensor;
    if (member().output >= 0) {
      tensor = &outer().Output(static_cast<std::size_t>(member().output), dims);
    } else {
      tensor = &inner_[member_];
      tensor->set_data(Memory(value, tensor->Reshape(ElementType::kFloat, dims)));
    }
    tensors_[value] = tensor;
    return *tensor;
  }
  void SetOutputValue(std::size_t i, Value value) override {
    CopyElements(value.tensor(), Output(i, value.tensor().dims()));
  }

 private:
  static constexpr uint32_t kFree = ~uint32_t{0};
  struct Block {
    void* data;
    std::size_t bytes;
    uint32_t value;
  };

  const Members::Member& member() const noexcept { return members_[member_]; }

  void* Memory(uint32_t value, std::size_t bytes) {
    for (Block& block : blocks_) {
      if (block.value != kFree || block.bytes < bytes) continue;
      block.value = value;
      return block.data;
    }
    blocks_.push_back({outer().TemporaryBuffer(bytes), bytes, value});
    return blocks_.back().data;
  }

  const Members& members_;
  std::size_t member_ = 0;
  std::vector<const Tensor*> tensors_;  // by value; of inputs of the step nullptr
  std::vector<Tensor> inner_;           // by member
  std::vector<Block> blocks_;           // of inner_
  std::vector<std::unique_ptr<Value>> values_;
};

}  // namespace

Members::Members(const Graph& graph, const Fusion& fusion, std::vector<std::unique_ptr<KernelBase>> kernels)
    : graph_(graph), input_count_(fusion.inputs.size()), last_use_(fusion.inputs.size() + fusion.nodes.size(), 0) {
  std::unordered_map<ValueId, uint32_t> number;
  for (uint32_t i = 0; i < fusion.inputs.size(); ++i) number.emplace(fusion.inputs[i], i);
  number.erase(kNoValue);
  for (uint32_t m = 0; m < fusion.nodes.size(); ++m) {
    const Node& node = graph.node(fusion.nodes[m]);
    Member member{node.id, std::move(kernels[m]), {}, -1};
    for (const ValueId value : node.inputs) {
      member.inputs.push_back(value == kNoValue ? kAbsent : number.at(value));
      if (value != kNoValue) last_use_[member.inputs.back()] = m;
    }
    const ValueId result = node.outputs[0];
    number[result] = ResultOf(m);
    last_use_[ResultOf(m)] = m;
    const auto output = std::find(fusion.outputs.begin(), fusion.outputs.end(), result);
    if (output != fusion.outputs.end()) member.output = static_cast<int>(output - fusion.outputs.begin());
    members_.push_back(std::move(member));
  }
}

std::string Members::Label(std::size_t member) const { return "node " + graph_.node(members_[member].node).Label(); }

void Members::RunApart(RuntimeContext& outer, std::size_t first, const std::vector<const Tensor*>& made) const {
  MemberContext context(*this, outer, made);
  for (std::size_t m = first; m < members_.size(); ++m) {
    context.Begin(m);
    try {
      members_[m].kernel->Run(context);
    } catch (const std::exception&) {
      RethrowLocated(Label(m));
    }
    context.End();
  }
}

}  // namespace light
