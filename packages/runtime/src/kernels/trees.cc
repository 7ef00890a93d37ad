// SPDX-License-Identifier: Apache-2.0
#include "kernels/trees.h"

#include <cmath>
#include <unordered_map>

namespace light {
namespace {

[[noreturn]] void FailAttribute(const KernelInfo& info, const std::string& name, const std::string& rule) {
  info.Fail(ErrorCode::kInvalidGraph, "attribute " + name + ": " + rule);
}

std::vector<double> ReadTensor(const KernelInfo& info, const std::string& name) {
  const Tensor* tensor = info.TensorAttribute(name);
  if (tensor == nullptr) return {};
  std::vector<double> values(static_cast<std::size_t>(tensor->element_count()));
  WithType(TypeList<float, double, Float16, uint8_t>{}, tensor->type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(static_cast<ComputeType<T>>(tensor->Data<T>()[i]));
  });
  return values;
}

template <class A>
void CheckSize(const KernelInfo& info, const std::string& name, const std::vector<A>& values, std::size_t size) {
  if (values.size() != size)
    FailAttribute(info, name, "must have " + std::to_string(size) + " elements, got " + std::to_string(values.size()));
}

std::vector<int64_t> ReadInts(const KernelInfo& info, const std::string& name, std::size_t size) {
  std::vector<int64_t> values = info.Ints(name);
  CheckSize(info, name, values, size);
  return values;
}

/// Optional flags, one per node.
std::vector<int64_t> ReadMissing(const KernelInfo& info, std::size_t size) {
  const std::string name = "nodes_missing_value_tracks_true";
  std::vector<int64_t> values = info.Ints(name);
  if (values.empty()) values.assign(size, 0);
  CheckSize(info, name, values, size);
  return values;
}

int32_t CheckIndex(const KernelInfo& info, const std::string& name, int64_t index, std::size_t count) {
  if (index < 0 || index >= static_cast<int64_t>(count) || index > INT32_MAX)
    FailAttribute(info, name, "must be in [0, " + std::to_string(count) + "), got " + std::to_string(index));
  return static_cast<int32_t>(index);
}

int32_t CheckFeature(const KernelInfo& info, int64_t feature) {
  return CheckIndex(info, "nodes_featureids", feature, std::size_t{INT32_MAX});
}

/// Nodes by the ids of their tree and of themselves.
class NodeIndex {
 public:
  NodeIndex(const KernelInfo& info, const std::vector<int64_t>& trees, const std::vector<int64_t>& ids) : info_(info) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (!index_.emplace(Key(trees[i], ids[i]), static_cast<int32_t>(i)).second)
        FailAttribute(info, "nodes_nodeids",
                      "must be distinct in each tree, got node " + std::to_string(ids[i]) + " of tree " +
                          std::to_string(trees[i]) + " twice");
  }
  int32_t Find(const std::string& name, int64_t tree, int64_t id) const {
    const auto found = index_.find(Key(tree, id));
    if (found == index_.end())
      FailAttribute(info_, name, "there is no node " + std::to_string(id) + " in tree " + std::to_string(tree));
    return found->second;
  }

 private:
  uint64_t Key(int64_t tree, int64_t id) const {
    if (tree != static_cast<int32_t>(tree) || id != static_cast<int32_t>(id))
      FailAttribute(info_, "nodes_nodeids and nodes_treeids",
                    "must fit 32 bits, got " + std::to_string(id) + " and " + std::to_string(tree));
    return static_cast<uint64_t>(static_cast<uint32_t>(tree)) << 32 | static_cast<uint32_t>(id);
  }

  const KernelInfo& info_;
  std::unordered_map<uint64_t, int32_t> index_;
};

TreeMode ReadMode(const KernelInfo& info, const std::string& name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "",           "LEAF"};
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (!kNames[i].empty() && name == kNames[i]) return static_cast<TreeMode>(i);
  FailAttribute(info, "nodes_modes",
                "must be BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF, got " + name);
}

/// Lets the leaves have their votes, which come in any order.
template <class V>
void AddVotes(const KernelInfo& info, const std::string& prefix, const NodeIndex& index, Trees<V>& trees) {
  const std::vector<double> weights = ReadFloats(info, prefix + "weights");
  const std::vector<int64_t> of_tree = ReadInts(info, prefix + "treeids", weights.size()),
                             of_node = ReadInts(info, prefix + "nodeids", weights.size()),
                             targets = ReadInts(info, prefix + "ids", weights.size());
  std::vector<std::size_t> leaf(weights.size());
  std::vector<int32_t> counts(trees.nodes.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    leaf[i] = static_cast<std::size_t>(index.Find(prefix + "nodeids", of_tree[i], of_node[i]));
    if (trees.nodes[leaf[i]].mode != TreeMode::kLeaf) continue;  // nobody gets there
    ++counts[leaf[i]];
  }
  int32_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (trees.nodes[i].mode != TreeMode::kLeaf) continue;
    trees.nodes[i].yes = trees.nodes[i].no = total;
    total += counts[i];
  }
  trees.votes.resize(static_cast<std::size_t>(total));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    TreeNode<V>& node = trees.nodes[leaf[i]];
    if (node.mode == TreeMode::kLeaf)
      trees.votes[static_cast<std::size_t>(node.no++)] = {targets[i], static_cast<V>(weights[i])};
  }
}

}  // namespace

std::vector<double> ReadFloats(const KernelInfo& info, const std::string& name) {
  if (info.HasAttribute(name + "_as_tensor")) return ReadTensor(info, name + "_as_tensor");
  const std::vector<float> values = info.Floats(name);
  return {values.begin(), values.end()};
}

template <class V>
void Trees<V>::Finish(const KernelInfo& info) {
  bool any = false, several = false;
  for (const TreeNode<V>& node : nodes) {
    if (node.mode == TreeMode::kLeaf) continue;
    most_feature = std::max(most_feature, node.feature);
    several |= any && only_mode != node.mode;
    only_mode = node.mode;
    any = true;
  }
  if (several) only_mode = TreeMode::kLeaf;
  for (const Vote& vote : votes)
    if (vote.target < 0 || vote.target >= targets)
      info.Fail(ErrorCode::kInvalidGraph,
                "a leaf votes for target " + std::to_string(vote.target) + " of " + std::to_string(targets));
  // Depth first: a node that is met again while the nodes below it are looked at would be walked for ever.
  enum State : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(nodes.size(), kNew);
  std::vector<int32_t> stack;
  for (const int32_t root : roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      const auto at = static_cast<std::size_t>(stack.back());
      const TreeNode<V>& node = nodes[at];
      if (state[at] != kNew || node.mode == TreeMode::kLeaf) {
        state[at] = kDone;
        stack.pop_back();
        continue;
      }
      state[at] = kOpen;
      for (const int32_t child : {node.yes, node.no}) {
        const auto c = static_cast<std::size_t>(child);
        if (state[c] == kOpen)
          info.Fail(ErrorCode::kInvalidGraph, "attributes nodes_*: node " + std::to_string(child) +
                                                  " (counted from 0) is among the nodes below it");
        if (state[c] == kNew) stack.push_back(child);
      }
    }
  }
}

template <class V>
Trees<V> ReadTrees(const KernelInfo& info, const std::string& votes, int64_t targets) {
  Trees<V> trees;
  trees.targets = targets;
  const std::vector<int64_t> ids = info.Ints("nodes_nodeids");
  const std::size_t count = ids.size();
  if (count == 0 || count > INT32_MAX) FailAttribute(info, "nodes_nodeids", "must name at least one node");
  const std::vector<int64_t> of_tree = ReadInts(info, "nodes_treeids", count),
                             features = ReadInts(info, "nodes_featureids", count),
                             yes = ReadInts(info, "nodes_truenodeids", count),
                             no = ReadInts(info, "nodes_falsenodeids", count), missing = ReadMissing(info, count);
  const std::vector<double> values = ReadFloats(info, "nodes_values");
  const std::vector<std::string> modes = info.Strings("nodes_modes");
  CheckSize(info, "nodes_values", values, count);
  CheckSize(info, "nodes_modes", modes, count);
  const NodeIndex index(info, of_tree, ids);
  std::unordered_map<int64_t, bool> has_root;
  trees.nodes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (has_root.emplace(of_tree[i], true).second) trees.roots.push_back(static_cast<int32_t>(i));
    TreeNode<V>& node = trees.nodes[i];
    node.mode = ReadMode(info, modes[i]);
    if (node.mode == TreeMode::kLeaf) continue;
    node.value = static_cast<V>(values[i]);
    node.feature = CheckFeature(info, features[i]);
    node.missing_is_yes = missing[i] != 0;
    node.yes = index.Find("nodes_truenodeids", of_tree[i], yes[i]);
    node.no = index.Find("nodes_falsenodeids", of_tree[i], no[i]);
  }
  AddVotes(info, votes, index, trees);
  trees.Finish(info);
  return trees;
}

template <class V>
Trees<V> ReadTreeEnsemble(const KernelInfo& info) {
  Trees<V> trees;
  trees.targets = info.Int("n_targets", 1);
  if (trees.targets < 0) FailAttribute(info, "n_targets", "must not be negative, got " + std::to_string(trees.targets));
  const std::vector<int64_t> features = info.Ints("nodes_featureids");
  const std::size_t count = features.size();
  const std::vector<double> modes = ReadTensor(info, "nodes_modes"), splits = ReadTensor(info, "nodes_splits"),
                            weights = ReadTensor(info, "leaf_weights"), members = ReadTensor(info, "membership_values");
  CheckSize(info, "nodes_modes", modes, count);
  CheckSize(info, "nodes_splits", splits, count);
  const std::vector<int64_t> yes = ReadInts(info, "nodes_truenodeids", count),
                             no = ReadInts(info, "nodes_falsenodeids", count),
                             yes_leafs = ReadInts(info, "nodes_trueleafs", count),
                             no_leafs = ReadInts(info, "nodes_falseleafs", count), missing = ReadMissing(info, count),
                             targets = ReadInts(info, "leaf_targetids", weights.size());
  if (count + weights.size() > INT32_MAX) FailAttribute(info, "nodes_featureids", "there are too many nodes");

  // The leaves lie behind the nodes, and have one vote each.
  trees.nodes.resize(count + weights.size());
  const auto child = [&](const char* name, int64_t id, bool is_leaf) {
    const int32_t at = CheckIndex(info, name, id, is_leaf ? weights.size() : count);
    return is_leaf ? at + static_cast<int32_t>(count) : at;
  };
  std::size_t member = 0;
  for (const double value : members) trees.members.push_back(static_cast<V>(value));
  for (std::size_t i = 0; i < count; ++i) {
    TreeNode<V>& node = trees.nodes[i];
    if (modes[i] > 6) FailAttribute(info, "nodes_modes", "must be in [0, 6], got " + std::to_string(modes[i]));
    node.mode = static_cast<TreeMode>(modes[i]);
    node.value = static_cast<V>(splits[i]);
    node.feature = CheckFeature(info, features[i]);
    node.missing_is_yes = missing[i] != 0;
    node.yes = child("nodes_truenodeids", yes[i], yes_leafs[i] != 0);
    node.no = child("nodes_falsenodeids", no[i], no_leafs[i] != 0);
    if (node.mode != TreeMode::kMember) continue;
    // Sets come in the order of their nodes, each ended by a NaN.
    const std::size_t begin = member;
    while (member < members.size() && !std::isnan(members[member])) ++member;
    if (member == members.size())
      FailAttribute(info, "membership_values", "must have a set, ended by a NaN, for each node that asks for one");
    trees.member_sets.resize(count);
    trees.member_sets[i] = {static_cast<int64_t>(begin), static_cast<int64_t>(member++)};
  }
  if (member != members.size())
    FailAttribute(info, "membership_values", "must have as many sets as there are nodes that ask for one");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    trees.votes.push_back({targets[i], static_cast<V>(weights[i])});
    trees.nodes[count + i].yes = static_cast<int32_t>(i);
    trees.nodes[count + i].no = static_cast<int32_t>(i) + 1;
  }
  for (const int64_t root : info.Ints("tree_roots")) trees.roots.push_back(CheckIndex(info, "tree_roots", root, count));
  trees.Finish(info);
  return trees;
}

template struct Trees<float>;
template struct Trees<double>;
template Trees<float> ReadTrees(const KernelInfo&, const std::string&, int64_t);
template Trees<double> ReadTrees(const KernelInfo&, const std::string&, int64_t);
template Trees<float> ReadTreeEnsemble(const KernelInfo&);
template Trees<double> ReadTreeEnsemble(const KernelInfo&);

}  // namespace light
