// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <ort_abi/ort_c_api.h>

#include "light/graph.h"
#include "light/model_def.h"

namespace ort_plugin {

/// A group of nodes that the host has fused, as a graph of ours.
struct GroupGraph {
  /// Its inputs are those of the fused node that are no constants, its outputs all of the fused node's. Constants are
  /// copies: the host's may be gone when it has been told that the group does not need them.
  std::shared_ptr<const light::Graph> graph;
  light::ModelDef definition;       ///< of `graph`; shares the memory of its constants
  std::vector<std::size_t> inputs;  ///< by input of `graph`: the input of the fused node
  std::size_t input_count = 0;      ///< of the fused node
};

/// The opsets that a graph's nodes are written in, of the domains that are ONNX's.
light::OpsetImports ReadOpsetImports(const OrtApi& api, const OrtGraph* graph);

/// The graph of that definition whose inputs may have any extents. Throws light::Error: a rule of ONNX that is broken.
std::shared_ptr<const light::Graph> WithAnyExtents(light::ModelDef definition);

/// @param graph  what the host shows of the group alone
/// Throws light::Error: a rule of ONNX that is broken, an output type that is not what the host knows;
/// ort_abi::StatusError.
GroupGraph ReadGroup(const OrtApi& api, const OrtGraph* graph, const OrtNode* fused);

}  // namespace ort_plugin
