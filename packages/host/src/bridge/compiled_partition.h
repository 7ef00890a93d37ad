// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bridge/ep_instance.h"
#include "light/partition.h"

namespace ort_host {

/// A group that the provider has compiled. `info` is the provider's and outlives the partition, and so does `instance`.
/// Throws light::Error for an info that lacks a callback.
std::unique_ptr<light::Partition> MakeCompiledPartition(const EpInstance& instance, OrtNodeComputeInfo* info,
                                                        const light::Graph& graph, const light::PartitionShape& shape);

}  // namespace ort_host
