// SPDX-License-Identifier: Apache-2.0
#include "fuse/fusion.h"

namespace light {

bool FusionScope::IsFloat(ValueId value) const {
  if (value == kNoValue) return false;
  const ValueType& type = graph.value(value).type;
  return type.is_tensor() && type.element == ElementType::kFloat;
}

const KernelRegistration* FusionScope::Registration(NodeId node) const {
  const NodeAssignment& assigned = assignment.nodes[node];
  return assigned.entry != nullptr ? &assigned.entry->registration : nullptr;
}

bool MayBeEqual(const Shape& a, const Shape& b) {
  if (a.has_rank() != b.has_rank() || a.rank() != b.rank()) return false;
  for (std::size_t d = 0; d < a.rank(); ++d) {
    const bool comparable = a[d].is_known() ? b[d].is_known() : a[d].is_symbolic() && b[d].is_symbolic();
    if (comparable && a[d] != b[d]) return false;
  }
  return true;
}

}  // namespace light
