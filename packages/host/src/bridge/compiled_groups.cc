// SPDX-License-Identifier: Apache-2.0
#include "bridge/compiled_groups.h"

#include <algorithm>

#include "adapters/logger.h"
#include "bridge/compiled_partition.h"

namespace ort_host {
namespace {

using ort_abi::Lend;
using ort_abi::StatusError;

constexpr const char* kCompile = ort_abi::MemberInfo<&OrtEp::Compile>::kLabel;

uint64_t HashOf(uint64_t hash, const std::string& text) noexcept {  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// The same for the same file; of a model from memory, for the same inputs and outputs.
uint64_t HashOf(const std::string& model_path, const light::Graph& main) noexcept {
  constexpr uint64_t kBasis = 0xcbf29ce484222325;
  if (!model_path.empty()) return HashOf(kBasis, model_path);
  uint64_t hash = kBasis;
  for (const auto* values : {&main.inputs(), &main.outputs()}) {
    for (const light::ValueId id : *values) hash = HashOf(hash, main.value(id).name);
  }
  return hash;
}

}  // namespace

CompiledGroups::~CompiledGroups() {
  if (infos_.empty()) return;
  constexpr const char* kRelease = ort_abi::MemberInfo<&OrtEp::ReleaseNodeComputeInfos>::kLabel;
  const checked::InSlot in_slot(kRelease);
  try {
    ort_abi::Call<&OrtEp::ReleaseNodeComputeInfos, HostStatus>(instance_.ep(), infos_.data(), infos_.size());
  } catch (const std::exception& error) {
    LogLine(ORT_LOGGING_LEVEL_ERROR, instance_.label() + ": " + error.what());
  }
}

std::string CompiledGroups::NextName(const light::Graph& main) {
  const std::string& ep = instance_.name();
  return ep + "_" + ep + "_" + std::to_string(HashOf(model_path_, main)) + "_" + std::to_string(own_count_++) + "_" +
         std::to_string(count_++);
}

const GraphAdapter& CompiledGroups::AddNode(const light::Graph& graph, const light::PartitionShape& shape) {
  const std::string& name = shape.proposal.name;
  light::Node node;
  node.id = static_cast<light::NodeId>(graph.nodes().size() + nodes_.size());
  node.name = name;
  // The name is `<EP>_<EP>_<hash>_<k>_<u>`, the operator `<EP>_<hash>_<k>`.
  const std::size_t start = instance_.name().size() + 1;
  node.op_type = name.substr(start, name.rfind('_') - start);
  node.domain = instance_.name();
  node.since_version = 1;
  std::vector<light::GraphValue> values;
  for (const auto& [ids, arguments] :
       {std::pair(&shape.inputs, &node.inputs), std::pair(&shape.outputs, &node.outputs)}) {
    for (const light::ValueId id : *ids) {
      arguments->push_back(static_cast<light::ValueId>(values.size()));
      light::GraphValue& value = values.emplace_back();
      value.name = graph.value(id).name;
      value.type = graph.value(id).type;
    }
  }
  nodes_.push_back(GraphAdapter::MakeAlone(std::move(node), std::move(values), instance_.name()));
  return *nodes_.back();
}

/// A compute callback has no way to read or make anything but tensors.
void CompiledGroups::CheckBoundary(const light::Graph& graph, const light::PartitionShape& shape) const {
  for (const auto& [ids, what] : {std::pair(&shape.inputs, "input"), std::pair(&shape.outputs, "output")}) {
    for (const light::ValueId id : *ids) {
      const light::GraphValue& value = graph.value(id);
      if (value.type.is_tensor() || value.type.kind == light::ValueType::Kind::kUnknown) continue;
      instance_.Fail(ORT_NOT_IMPLEMENTED, "OrtEp.GetCapability",
                     "group '" + shape.proposal.name + "': its " + what + " '" + value.name +
                         "' must be a tensor, got " + value.type.ToString());
    }
  }
}

void CompiledGroups::CheckInfos(std::size_t earlier, const std::vector<light::PartitionShape>& shapes,
                                const std::vector<OrtNodeComputeInfo*>& infos,
                                const std::vector<OrtNode*>& contexts) const {
  const auto is_of = [](auto begin, std::size_t count, const OrtNodeComputeInfo* info) {
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    return std::find(begin, end, info) != end;
  };
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const std::string group = "for group '" + shapes[i].proposal.name + "': ";
    if (infos[i] == nullptr) instance_.Fail(ORT_FAIL, kCompile, group + "gave no compute info with success, got null");
    if (is_of(infos.begin(), i, infos[i]) || is_of(infos_.begin(), earlier, infos[i])) {
      instance_.Fail(ORT_FAIL, kCompile, group + "gave a compute info that another group has");
    }
    // Not released: who gives a node away makes it with OrtModelEditorApi.CreateNode, which answers NOT_IMPLEMENTED
    // here, so this one is lent or the library's own.
    if (contexts[i] != nullptr) {
      instance_.Fail(ORT_NOT_IMPLEMENTED, kCompile, group + "gave an EPContext node, which this host has no use for");
    }
  }
}

std::vector<std::unique_ptr<light::Partition>> CompiledGroups::Compile(
    const light::GraphOffer& offer, const std::vector<light::PartitionShape>& shapes) {
  if (!instance_.Has<&OrtEp::Compile>() || !instance_.Has<&OrtEp::ReleaseNodeComputeInfos>()) {
    instance_.Fail(ORT_FAIL, "OrtEp.GetCapability",
                   "asks for nodes to be fused, which needs both OrtEp.Compile and OrtEp.ReleaseNodeComputeInfos");
  }
  std::vector<std::unique_ptr<GraphAdapter>> graphs;
  std::vector<const OrtGraph*> graph_handles;
  std::vector<const OrtNode*> node_handles;
  for (const light::PartitionShape& shape : shapes) CheckBoundary(offer.graph, shape);
  for (const light::PartitionShape& shape : shapes) {
    const GraphAdapter& node = AddNode(offer.graph, shape);
    node_handles.push_back(Lend<OrtNode>(node.nodes().front()));
    const std::string& op_type = node.nodes().front().node().op_type;
    graphs.push_back(GraphAdapter::MakeFused(offer, model_path_, op_type, shape));
    graphs.back()->WatchConstants(watch_);
    graph_handles.push_back(Lend<OrtGraph>(*graphs.back()));
  }
  std::vector<OrtNodeComputeInfo*> infos(shapes.size());
  std::vector<OrtNode*> contexts(shapes.size());
  const std::size_t earlier = infos_.size();
  const auto take = [&] {  // ours to give back, whether the call succeeded or not
    for (OrtNodeComputeInfo* info : infos) {
      if (info != nullptr && std::find(infos_.begin(), infos_.end(), info) == infos_.end()) infos_.push_back(info);
    }
  };
  try {
    instance_.Call<&OrtEp::Compile>(graph_handles.data(), node_handles.data(), shapes.size(), infos.data(),
                                    contexts.data());
  } catch (const light::Error&) {
    take();
    throw;
  }
  take();
  CheckInfos(earlier, shapes, infos, contexts);
  std::vector<std::unique_ptr<light::Partition>> partitions;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    partitions.push_back(MakeCompiledPartition(instance_, infos[i], offer.graph, shapes[i]));
  }
  return partitions;
}

}  // namespace ort_host
