// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/arguments.h"
#include "kernels/thread_scratch.h"

namespace light {

/// What a node asks of its feature. The first seven are numbered as the attribute nodes_modes of TreeEnsemble.
enum class TreeMode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };

enum class TreeAggregate : uint8_t { kAverage, kSum, kMin, kMax };

/// A node as a walk reads it.
template <class V>
struct TreeNode {
  V value = 0;
  int32_t feature = 0;
  int32_t yes = 0;  ///< nodes; of a leaf the first of its votes and the one behind its last
  int32_t no = 0;
  TreeMode mode = TreeMode::kLeaf;
  bool missing_is_yes = false;
};

/// Binary trees whose leaves vote for targets, compared in type V.
template <class V>
struct Trees {
  struct Vote {
    int64_t target;
    V weight;
  };
  struct Range {
    int64_t begin, end;
  };

  std::vector<TreeNode<V>> nodes;
  std::vector<int32_t> roots;
  std::vector<Vote> votes;
  std::vector<V> members;
  std::vector<Range> member_sets;  ///< by node, if any asks for membership
  int64_t targets = 0;

  // Found by Finish.
  int32_t most_feature = -1;
  TreeMode only_mode = TreeMode::kLeaf;  ///< of all nodes that are no leaves; kLeaf: there are several

  /// Checks that every walk from a root ends at a leaf, and every vote. Throws Error by `info`.
  void Finish(const KernelInfo& info);

  /// Calls `finish(row, scores, voted)` for each row, on the threads of the run: `scores` [targets] are aggregated,
  /// and `voted` says for which targets there is a vote; the others are 0.
  template <class T, class F>
  void Score(RuntimeContext& context, const T* x, int64_t rows, int64_t columns, TreeAggregate aggregate,
             F&& finish) const {
    // Some rows at a time go through a tree, while it is in the cache.
    const int64_t block = std::min(kBlock, rows), blocks = block > 0 ? (rows + block - 1) / block : 0;
    const auto room = static_cast<std::size_t>(block * targets);
    ThreadScratch scratch(context, room * 2 + (room + 3) / 4);
    const double cost = 60 * static_cast<double>(block) * static_cast<double>(roots.size() + 1);
    context.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
      const ThreadScratch::Lease lease(scratch);
      auto* scores = reinterpret_cast<double*>(lease.data());
      auto* voted = reinterpret_cast<bool*>(scores + room);
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t first = unit * block, last = std::min(rows, first + block);
        std::fill_n(scores, room, 0.);
        std::fill_n(voted, room, false);
        for (const int32_t root : roots) {
          const TreeNode<V>* leaves[kBlock];
          Walk(root, x + first * columns, last - first, columns, leaves);
          for (int64_t i = 0; i < last - first; ++i)
            Add(*leaves[i], aggregate, scores + i * targets, voted + i * targets);
        }
        for (int64_t row = first; row < last; ++row) {
          double* of_row = scores + (row - first) * targets;
          if (aggregate == TreeAggregate::kAverage)
            for (int64_t i = 0; i < targets; ++i) of_row[i] /= static_cast<double>(roots.size());
          finish(row, of_row, voted + (row - first) * targets);
        }
      }
    });
  }

 private:
  static constexpr int64_t kBlock = 32;

  /// Finds the leaves that rows reach.
  template <class T>
  void Walk(int32_t root, const T* x, int64_t rows, int64_t columns, const TreeNode<V>** leaves) const {
    switch (only_mode) {
      case TreeMode::kLeq:
        return WalkBy<TreeMode::kLeq>(root, x, rows, columns, leaves);
      case TreeMode::kLt:
        return WalkBy<TreeMode::kLt>(root, x, rows, columns, leaves);
      default:
        return WalkBy<TreeMode::kLeaf>(root, x, rows, columns, leaves);
    }
  }

  template <TreeMode kMode, class T>
  void WalkBy(int32_t root, const T* x, int64_t rows, int64_t columns, const TreeNode<V>** leaves) const {
    // Several rows take their steps in turn, so that one need not wait for the other's node.
    constexpr int64_t kTogether = 8;
    const TreeNode<V>* first = nodes.data() + root;
    int64_t row = 0;
    for (; row + kTogether <= rows; row += kTogether) {
      const TreeNode<V>** at = leaves + row;
      std::fill_n(at, kTogether, first);
      for (bool any = true; any;) {
        any = false;
        for (int64_t i = 0; i < kTogether; ++i) {
          if (at[i]->mode == TreeMode::kLeaf) continue;
          at[i] = Next<kMode>(*at[i], x + (row + i) * columns);
          any = true;
        }
      }
    }
    for (; row < rows; ++row) {
      const TreeNode<V>* node = first;
      while (node->mode != TreeMode::kLeaf) node = Next<kMode>(*node, x + row * columns);
      leaves[row] = node;
    }
  }

  template <TreeMode kMode, class T>
  const TreeNode<V>* Next(const TreeNode<V>& node, const T* x) const {
    const V value = static_cast<V>(static_cast<ComputeType<T>>(x[node.feature]));
    const bool yes = (kMode == TreeMode::kLeq  ? value <= node.value
                      : kMode == TreeMode::kLt ? value < node.value
                                               : Holds(node, value)) |
                     (node.missing_is_yes & (value != value));
    const int32_t children[] = {node.no, node.yes};
    return nodes.data() + children[yes];
  }

  bool Holds(const TreeNode<V>& node, V value) const {
    switch (node.mode) {
      case TreeMode::kLeq:
        return value <= node.value;
      case TreeMode::kLt:
        return value < node.value;
      case TreeMode::kGte:
        return value >= node.value;
      case TreeMode::kGt:
        return value > node.value;
      case TreeMode::kEq:
        return value == node.value;
      case TreeMode::kNeq:
        return value != node.value;
      case TreeMode::kMember: {
        const Range range = member_sets[static_cast<std::size_t>(&node - nodes.data())];
        for (int64_t i = range.begin; i < range.end; ++i)
          if (members[static_cast<std::size_t>(i)] == value) return true;
        return false;
      }
      case TreeMode::kLeaf:
        break;
    }
    return false;
  }

  void Add(const TreeNode<V>& leaf, TreeAggregate aggregate, double* scores, bool* voted) const {
    for (int64_t i = leaf.yes; i < leaf.no; ++i) {
      const Vote& vote = votes[static_cast<std::size_t>(i)];
      double& score = scores[vote.target];
      const auto weight = static_cast<double>(vote.weight);
      if (aggregate == TreeAggregate::kMin)
        score = !voted[vote.target] || weight < score ? weight : score;
      else if (aggregate == TreeAggregate::kMax)
        score = !voted[vote.target] || weight > score ? weight : score;
      else
        score += weight;
      voted[vote.target] = true;
    }
  }
};

/// The trees of TreeEnsembleClassifier and TreeEnsembleRegressor, whose votes are in attributes that begin with
/// `votes` ("class_" or "target_"). Throws Error.
template <class V>
Trees<V> ReadTrees(const KernelInfo& info, const std::string& votes, int64_t targets);

/// The trees of TreeEnsemble. Throws Error.
template <class V>
Trees<V> ReadTreeEnsemble(const KernelInfo& info);

/// An attribute of floats, or the tensor in `<name>_as_tensor`.
std::vector<double> ReadFloats(const KernelInfo& info, const std::string& name);

}  // namespace light
