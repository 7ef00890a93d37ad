// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "light/assignment.h"
#include "light/kernel.h"

namespace light {

/// One step of a Program: a node, several that are fused, or a partition.
struct Step {
  std::unique_ptr<KernelBase> kernel;
  NodeId node = kNoNode;  ///< of a partition its first node, of fused ones the one that they count as
  int partition = -1;
  bool is_hosted = false;
  bool makes_text = false;  ///< has an output of strings whose text nobody has charged when the kernel returns
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<ElementType> output_types;
  std::vector<ValueId> captures;
  std::vector<ValueId> releases;  ///< values without a slot (sequences, strings) whose last use this step is
};

/// Where a value lives during a run.
struct Placement {
  enum class Kind : uint8_t {
    kNone,
    kBoundary,  ///< index: boundary input
    kConstant,
    kSlot,     ///< index: slot
    kInplace,  ///< index: slot; the step's input `source` has it until then
    kView,     ///< another value's memory
    kOwn,      ///< storage of its own: strings, sequences, optionals
    kOutput,   ///< index: graph output, whose memory the boundary makes
  };
  Kind kind = Kind::kNone;
  uint32_t index = 0;
  ValueId source = kNoValue;
};

/// A graph output that is no output of a step, or one that is listed twice.
struct OutputCopy {
  ValueId value;
  uint32_t output;
};

struct BufferPlan {
  std::vector<Placement> placements;  ///< by ValueId
  uint32_t slot_count = 0;
  std::vector<OutputCopy> copies;
};

/// Colours the values into slots by lifetime alone. Known sizes only choose among free slots, so the plan holds for
/// any shapes. `registrations` (by step) say what may share memory; nullptr: nothing. `is_constant[value]` marks what
/// is known before a run. Fills Step::releases.
BufferPlan PlanBuffers(const Graph& graph, std::span<const KernelRegistration* const> registrations,
                       std::vector<Step>& steps, const std::vector<bool>& is_constant);

}  // namespace light
