// SPDX-License-Identifier: Apache-2.0
#include "adapters/findings.h"

#include <mutex>

#include "adapters/checked.h"
#include "adapters/logger.h"

namespace ort_host::checked {
namespace {

constexpr Rule kRules[] = {
    {"wrong_kind", "a handle of another type, or no handle of the host's, was passed"},
    {"use_after_release", "a handle was used after the library had released it"},
    {"double_release", "a handle or a block of memory was released twice"},
    {"release_of_borrowed", "a handle that the host only lends was released"},
    {"leak", "a handle that the library owns was not released by the end of its session or registration"},
    {"out_of_phase", "a handle was used after the call that it was good for"},
    {"overrun",
     "a library wrote before the first or behind the last byte of an output or of a block that it had allocated"},
    {"input_written", "a kernel changed one of its inputs, or a provider a constant that it was shown"},
    {"output_missing", "a kernel reported success and had not made an output that somebody waits for"},
    {"shape_mismatch", "a kernel made an output of other extents than inference or the model had promised"},
    {"inference_failed", "InferOutputShapeFn returned an error, which leaves the shape unknown"},
    {"attribute_kind", "an attribute was read as another kind than it has, which looks like a missing or empty one"},
};

constexpr std::size_t kMaxFindings = 1000;

/// Never destroyed: libraries call in their static destructors.
struct Kept {
  std::mutex mutex;
  std::vector<Finding> findings;
};
Kept& All() {
  static Kept& kept = *new Kept;
  return kept;
}

}  // namespace

std::span<const Rule> Rules() noexcept { return kRules; }

void Report(const char* rule, const char* slot, const std::string& sentence) noexcept {
  const std::string where = *slot != '\0' ? std::string(slot) + ": " : "";
  LogAlways((std::string("finding: ") + rule + ": " + where + sentence).c_str());
  if (!enabled()) return;
  const std::lock_guard lock(All().mutex);
  if (All().findings.size() < kMaxFindings) All().findings.push_back({rule, slot, sentence});
}

std::vector<Finding> Findings() {
  const std::lock_guard lock(All().mutex);
  return All().findings;
}

}  // namespace ort_host::checked
