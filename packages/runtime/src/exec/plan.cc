// SPDX-License-Identifier: Apache-2.0
#include "exec/plan.h"

#include <algorithm>
#include <optional>

#include "conversions/checked_size.h"

namespace light {
namespace {

using Kind = Placement::Kind;
constexpr uint32_t kNever = ~uint32_t{0};

std::optional<std::size_t> StaticBytes(const ValueType& type) {
  if (!type.is_tensor()) return std::nullopt;
  const auto extents = type.shape.extents();
  return extents ? conversions::CheckedByteSize(type.element, *extents) : std::nullopt;
}

class Planner {
 public:
  Planner(const Graph& graph, std::span<const KernelRegistration* const> registrations, std::vector<Step>& steps,
          const std::vector<bool>& is_constant)
      : graph_(graph), registrations_(registrations), steps_(steps) {
    const std::size_t count = graph.values().size();
    plan_.placements.resize(count);
    root_.resize(count);
    last_use_.assign(count, kNever);
    for (ValueId id = 0; id < count; ++id) root_[id] = id;
    PlaceBoundary(is_constant);
  }

  BufferPlan Run() {
    PlaceOutputs();
    FindViews();
    FindLastUses();
    AssignSlots();
    return std::move(plan_);
  }

 private:
  Placement& place(ValueId id) { return plan_.placements[id]; }

  void PlaceBoundary(const std::vector<bool>& is_constant) {
    uint32_t index = 0;
    for (const ValueId id : graph_.inputs()) place(id) = {Kind::kBoundary, index++, kNoValue};
    for (const ValueId id : graph_.captures()) place(id) = {Kind::kBoundary, index++, kNoValue};
    for (ValueId id = 0; id < is_constant.size(); ++id) {
      if (is_constant[id] && place(id).kind == Kind::kNone) place(id).kind = Kind::kConstant;
    }
  }

  /// The first listing of a step's output gets the boundary's memory; everything else that leaves is copied, so that
  /// no output shares memory with a feed, a constant or another output.
  void PlaceOutputs() {
    for (uint32_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId id = graph_.outputs()[i];
      if (place(id).kind == Kind::kNone && graph_.value(id).type.is_tensor()) {
        place(id) = {Kind::kOutput, i, kNoValue};
      } else {
        plan_.copies.push_back({id, i});
      }
    }
  }

  void FindViews() {
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const Step& step = steps_[s];
      const KernelRegistration* registration = registrations_[s];
      if (registration == nullptr) continue;
      for (const auto& [input, output] : registration->aliases) {
        const ValueId from = At(step.inputs, input);
        const ValueId to = At(step.outputs, output);
        if (from == kNoValue || to == kNoValue || place(to).kind != Kind::kNone) continue;
        if (!graph_.value(from).type.is_tensor() || !graph_.value(to).type.is_tensor()) continue;
        place(to) = {Kind::kView, 0, from};
        root_[to] = root_[from];
      }
    }
  }

  void FindLastUses() {
    for (uint32_t s = 0; s < steps_.size(); ++s) {
      const Step& step = steps_[s];
      for (const ValueId id : step.outputs) {
        if (id != kNoValue && last_use_[root_[id]] == kNever) last_use_[root_[id]] = s;  // not used: dies at once
      }
      const auto use = [&](ValueId id) {
        if (id != kNoValue) last_use_[root_[id]] = s;
      };
      std::for_each(step.inputs.begin(), step.inputs.end(), use);
      std::for_each(step.captures.begin(), step.captures.end(), use);
    }
    for (const OutputCopy& copy : plan_.copies) last_use_[root_[copy.value]] = kNever;
  }

  void AssignSlots() {
    std::vector<std::vector<ValueId>> dying(steps_.size());
    for (uint32_t s = 0; s < steps_.size(); ++s) {
      Step& step = steps_[s];
      for (const ValueId id : step.outputs) {
        if (id == kNoValue || place(id).kind != Kind::kNone) continue;
        const ValueType& type = graph_.value(id).type;
        if (!type.is_tensor() || type.element == ElementType::kString) {
          place(id).kind = Kind::kOwn;
        } else if (!TakeOver(step, s, id)) {
          place(id) = {Kind::kSlot, TakeSlot(StaticBytes(type)), kNoValue};
        }
        if (last_use_[id] != kNever) dying[last_use_[id]].push_back(id);
      }
      for (const ValueId id : dying[s]) {
        if (place(id).kind == Kind::kOwn) {
          step.releases.push_back(id);
        } else if (!handed_on_[id]) {
          free_slots_.push_back(place(id).index);
        }
      }
    }
  }

  /// Lets output `id` overwrite an input that dies here, if the kernel may and the sizes are known to be equal.
  bool TakeOver(const Step& step, uint32_t s, ValueId id) {
    const KernelRegistration* registration = registrations_[s];
    const auto bytes = StaticBytes(graph_.value(id).type);
    if (registration == nullptr || !bytes) return false;
    for (const auto& [input, output] : registration->may_inplace) {
      const ValueId from = At(step.inputs, input);
      if (At(step.outputs, output) != id || from == kNoValue) continue;
      const ValueId root = root_[from];
      const Kind kind = place(root).kind;
      if ((kind != Kind::kSlot && kind != Kind::kInplace) || last_use_[root] != s || handed_on_[root]) continue;
      if (graph_.value(from).type.shape != graph_.value(id).type.shape) continue;
      if (StaticBytes(graph_.value(from).type) != bytes) continue;
      const auto reads_root = std::count_if(step.inputs.begin(), step.inputs.end(),
                                            [&](ValueId v) { return v != kNoValue && root_[v] == root; });
      if (reads_root != 1) continue;
      handed_on_[root] = true;
      place(id) = {Kind::kInplace, place(root).index, from};
      return true;
    }
    return false;
  }

  uint32_t TakeSlot(std::optional<std::size_t> bytes) {
    // Best fit among free slots by what is known of their size; an unknown size takes the last freed one (warm cache).
    std::size_t best = free_slots_.size();
    for (std::size_t i = 0; i < free_slots_.size(); ++i) {
      if (best == free_slots_.size() || !bytes) {
        best = i;
        continue;
      }
      const std::size_t candidate = slot_bytes_[free_slots_[i]];
      const std::size_t current = slot_bytes_[free_slots_[best]];
      const bool fits = candidate >= *bytes;
      const bool current_fits = current >= *bytes;
      if (fits != current_fits ? fits : (fits ? candidate <= current : candidate >= current)) best = i;
    }
    uint32_t slot = plan_.slot_count;
    if (best < free_slots_.size()) {
      slot = free_slots_[best];
      free_slots_.erase(free_slots_.begin() + static_cast<std::ptrdiff_t>(best));
    } else {
      ++plan_.slot_count;
      slot_bytes_.push_back(0);
    }
    slot_bytes_[slot] = std::max(slot_bytes_[slot], bytes.value_or(0));
    return slot;
  }

  static ValueId At(const std::vector<ValueId>& values, int i) {
    return static_cast<std::size_t>(i) < values.size() ? values[static_cast<std::size_t>(i)] : kNoValue;
  }

  const Graph& graph_;
  std::span<const KernelRegistration* const> registrations_;  // by step
  std::vector<Step>& steps_;
  BufferPlan plan_;
  std::vector<ValueId> root_;       // of a view: the value whose memory it is
  std::vector<uint32_t> last_use_;  // by root: step, or kNever if it must outlive all steps
  std::vector<bool> handed_on_ = std::vector<bool>(graph_.values().size(), false);
  std::vector<uint32_t> free_slots_;
  std::vector<std::size_t> slot_bytes_;
};

}  // namespace

BufferPlan PlanBuffers(const Graph& graph, std::span<const KernelRegistration* const> registrations,
                       std::vector<Step>& steps, const std::vector<bool>& is_constant) {
  return Planner(graph, registrations, steps, is_constant).Run();
}

}  // namespace light
