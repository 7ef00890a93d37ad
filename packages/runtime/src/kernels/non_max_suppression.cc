// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/float_keys.h"
#include "kernels/scratch.h"
#include "kernels/vision.h"

namespace light {
namespace {

/// A box by its borders.
struct Box {
  float left, right, top, bottom;

  float area() const { return (right - left) * (bottom - top); }
};

/// Whether the boxes share more than `threshold` of what they cover together.
bool Overlap(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0 && height > 0)) return false;
  const float shared = width * height, together = a.area() + b.area() - shared;
  if (!(shared > 0 && a.area() > 0 && b.area() > 0 && together > 0)) return false;
  return shared / together > threshold;
}

class NonMaxSuppression final : public KernelBase {
 public:
  explicit NonMaxSuppression(const KernelInfo& info) : by_center_(info.Int("center_point_box", 0) != 0) {
    const int64_t format = info.Int("center_point_box", 0);
    if (format != 0 && format != 1)
      info.Fail(ErrorCode::kInvalidGraph, "attribute center_point_box: must be 0 or 1, got " + std::to_string(format));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& boxes = Required(context, 0, "boxes");
    const Tensor& scores = Required(context, 1, "scores");
    if (boxes.rank() != 3 || boxes.dim(2) != 4)
      FailArgument(InputLabel(0, "boxes") + ": must be [batch, boxes, 4], got " + Describe(boxes));
    const int64_t batch = boxes.dim(0), count = boxes.dim(1);
    if (scores.rank() != 3 || scores.dim(0) != batch || scores.dim(2) != count)
      FailArgument(InputLabel(1, "scores") + ": must be [" + std::to_string(batch) + ", classes, " +
                   std::to_string(count) + "], got " + Describe(scores));
    const Tensor* limit = context.Input(2);
    const int64_t most =
        std::clamp<int64_t>(limit ? ReadInteger(*limit, 2, "max_output_boxes_per_class") : 0, 0, count);
    const float threshold = ReadFloat(context, 3, "iou_threshold", 0);
    if (!(threshold >= 0 && threshold <= 1))
      FailArgument(InputLabel(3, "iou_threshold") + ": must lie in [0, 1], got " + std::to_string(threshold));
    const bool by_score = context.Input(4) != nullptr;
    const float least = ReadFloat(context, 4, "score_threshold", 0);

    const int64_t classes = scores.dim(1), runs = most == 0 ? 0 : batch * classes;
    auto* corners = Scratch<Box>(context, runs == 0 ? 0 : batch * count);
    context.ParallelFor(runs == 0 ? 0 : batch * count, 2, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) corners[i] = Borders(boxes.Data<float>() + i * 4);
    });
    auto* candidates = Scratch<int64_t>(context, MultiplyExtents(runs, count));
    auto* chosen = Scratch<int64_t>(context, runs);
    const double cost = 20 * static_cast<double>(count) + 2 * static_cast<double>(most) * static_cast<double>(count);
    context.ParallelFor(runs, cost, [&](int64_t begin, int64_t end) {
      for (int64_t run = begin; run < end; ++run) {
        const float* score = scores.Data<float>() + run * count;
        int64_t* order = candidates + run * count;
        int64_t found = 0;
        for (int64_t i = 0; i < count; ++i)
          if (!by_score || score[i] > least) order[found++] = i;
        Sort(score, order, found);
        chosen[run] = Choose(corners + run / classes * count, order, found, most, threshold);
      }
    });

    int64_t total = 0;
    for (int64_t run = 0; run < runs; ++run) total += chosen[run];
    const int64_t dims[] = {total, 3};
    auto* to = context.Output(0, dims).Data<int64_t>();
    for (int64_t run = 0; run < runs; ++run) {
      for (int64_t i = 0; i < chosen[run]; ++i) {
        *to++ = run / classes;
        *to++ = run % classes;
        *to++ = candidates[run * count + i];
      }
    }
  }

 private:
  static float ReadFloat(RuntimeContext& context, std::size_t i, const char* name, float fallback) {
    const Tensor* tensor = context.Input(i);
    if (tensor == nullptr) return fallback;
    if (tensor->element_count() != 1)
      FailArgument(InputLabel(i, name) + ": must have one element, got " + Describe(*tensor));
    return *tensor->Data<float>();
  }

  Box Borders(const float* box) const {
    if (by_center_) {
      const float half_width = box[2] / 2, half_height = box[3] / 2;
      return {box[0] - half_width, box[0] + half_width, box[1] - half_height, box[1] + half_height};
    }
    // Any two corners that lie across.
    return {std::min(box[1], box[3]), std::max(box[1], box[3]), std::min(box[0], box[2]), std::max(box[0], box[2])};
  }

  /// The better score first, then the lower index; what is no number comes last.
  static void Sort(const float* score, int64_t* order, int64_t n) {
    const auto rank = [&](int64_t i) { return score[i] == score[i] ? ~OrderOf(score[i]) : ~uint32_t{0}; };
    if (n > 0 && order[n - 1] >= kMostKeys) {
      std::stable_sort(order, order + n, [&](int64_t a, int64_t b) { return rank(a) < rank(b); });
      return;
    }
    auto* keys = reinterpret_cast<uint64_t*>(order);
    for (int64_t i = 0; i < n; ++i) keys[i] = KeyOf(rank(order[i]), order[i]);
    std::sort(keys, keys + n);
    for (int64_t i = 0; i < n; ++i) order[i] = IndexOf(keys[i]);
  }

  /// Keeps at most `most` boxes of `order`, in its front; returns how many.
  static int64_t Choose(const Box* boxes, int64_t* order, int64_t count, int64_t most, float threshold) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count && kept < most; ++i) {
      const Box& box = boxes[order[i]];
      bool overlaps = false;
      for (int64_t k = 0; k < kept && !overlaps; ++k) overlaps = Overlap(box, boxes[order[k]], threshold);
      if (!overlaps) order[kept++] = order[i];
    }
    return kept;
  }

  bool by_center_;
};

}  // namespace

void RegisterNonMaxSuppression(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("NonMaxSuppression", 10, 11, {}), MakeKernel<NonMaxSuppression>);
}

}  // namespace light
