// SPDX-License-Identifier: Apache-2.0
#include "bridge/custom_op_versions.h"

#include <algorithm>
#include <set>

#include <ort_abi/status_error.h>

namespace ort_host {
namespace {

using ort_abi::StatusError;

/// What overloads must have in common, or "".
std::string DifferenceBeyondTypes(const CustomOpArguments& a, const CustomOpArguments& b, const std::string& kind) {
  if (a.items.size() != b.items.size()) {
    return "the number of " + kind + "s, " + std::to_string(a.items.size()) + " and " + std::to_string(b.items.size());
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (a.items[i].is_optional != b.items[i].is_optional || a.items[i].is_variadic != b.items[i].is_variadic) {
      return "the characteristic of " + kind + " " + std::to_string(i);
    }
  }
  if (a.items.empty() || !a.items.back().is_variadic) return "";
  if (a.min_arity != b.min_arity) return "the least number of variadic " + kind + "s";
  return a.is_homogeneous != b.is_homogeneous ? "whether variadic " + kind + "s share a type" : "";
}

bool SameTypes(const CustomOpArguments& a, const CustomOpArguments& b) {
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                    [](const CustomOpArgument& x, const CustomOpArgument& y) {
                      return x.element == y.element && x.memory == y.memory;
                    });
}

bool IsDuplicate(const CustomOpDescriptor& a, const CustomOpDescriptor& b) {
  return a.start == b.start && a.end == b.end && a.provider == b.provider && SameTypes(a.inputs, b.inputs) &&
         SameTypes(a.outputs, b.outputs);
}

void CheckPair(const CustomOpDescriptor& first, const CustomOpDescriptor& other) {
  std::string difference = DifferenceBeyondTypes(first.inputs, other.inputs, "input");
  if (difference.empty()) difference = DifferenceBeyondTypes(first.outputs, other.outputs, "output");
  if (!difference.empty()) {
    throw StatusError(ORT_FAIL, other.Label() + ": differs from #" + std::to_string(first.position) +
                                    " of its domain in " + difference + "; overloads may differ only in types");
  }
}

/// An output of any type takes the type of the one input of any type, unless the library infers it.
void CheckOutputTypes(const CustomOpDescriptor& op) {
  if (op.has_inference) return;
  const auto takes_any = [](const CustomOpArgument& argument) { return argument.takes_any(); };
  const auto polymorphic = std::count_if(op.inputs.items.begin(), op.inputs.items.end(), takes_any);
  for (std::size_t i = 0; i < op.outputs.items.size(); ++i) {
    const CustomOpArgument& output = op.outputs.items[i];
    if (!output.takes_any() || output.is_optional || output.is_variadic || polymorphic == 1) continue;
    throw StatusError(ORT_FAIL, op.Label() + ": the type of output " + std::to_string(i) +
                                    " needs exactly one input of any type or an InferOutputShapeFn, got " +
                                    std::to_string(polymorphic) + " such inputs");
  }
}

}  // namespace

std::vector<CustomOpVersion> SortByVersion(const std::vector<CustomOpPtr>& overloads) {
  const CustomOpDescriptor& first = *overloads.front();
  for (std::size_t i = 0; i < overloads.size(); ++i) {
    if (i > 0) CheckPair(first, *overloads[i]);
    CheckOutputTypes(*overloads[i]);
    for (std::size_t k = 0; k < i; ++k) {
      if (!IsDuplicate(*overloads[i], *overloads[k])) continue;
      throw StatusError(ORT_FAIL, overloads[i]->Label() + ": has the types and versions of " + overloads[k]->Label());
    }
  }
  std::set<int> starts;
  for (const CustomOpPtr& op : overloads) {
    starts.insert(op->start);
    if (op->end != INT_MAX && op->end >= op->start) starts.insert(op->end + 1);
  }
  std::vector<CustomOpVersion> versions;
  for (auto start = starts.begin(); start != starts.end(); ++start) {
    CustomOpVersion version;
    version.since = *start;
    if (std::next(start) != starts.end()) version.until = *std::next(start) - 1;
    for (const CustomOpPtr& op : overloads) {
      if (op->Contains(version.since)) version.overloads.push_back(op);
    }
    if (version.overloads.empty()) {
      version.is_fallback = true;
      for (const CustomOpPtr& op : overloads) {
        if (op->start == first.start) version.overloads.push_back(op);
      }
    }
    versions.push_back(std::move(version));
  }
  return versions;
}

}  // namespace ort_host
