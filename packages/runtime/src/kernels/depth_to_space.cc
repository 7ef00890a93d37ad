// SPDX-License-Identifier: Apache-2.0
// DepthToSpace and its inverse SpaceToDepth: one transposition of six axes each.
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/transpose.h"

namespace light {
namespace {

class BlockKernel final : public KernelBase {
 public:
  BlockKernel(const KernelInfo& info, bool to_space) : to_space_(to_space), block_(info.Int("blocksize", 0)) {
    const std::string mode = info.String("mode", "DCR");
    column_first_ = mode == "CRD";
    if (!column_first_ && mode != "DCR")
      info.Fail(ErrorCode::kInvalidGraph, "attribute mode: must be DCR or CRD, got " + mode);
    if (block_ < 1 || block_ > INT32_MAX)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute blocksize: must be in [1, 2147483647], got " + std::to_string(block_));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    if (x.rank() != 4) FailArgument(InputLabel(0, "input") + ": must be [N, C, H, W], got " + Describe(x));
    const int64_t b = block_, n = x.dim(0), c = x.dim(1), h = x.dim(2), w = x.dim(3);
    if (to_space_ ? c % (b * b) != 0 : h % b != 0 || w % b != 0)
      FailArgument(
          InputLabel(0, "input") + ": " +
          (to_space_ ? "C must be a multiple of the square of blocksize " : "H and W must be multiples of blocksize ") +
          std::to_string(b) + ", got " + Describe(x));
    if (to_space_) {
      const int64_t depth = c / (b * b);
      if (column_first_)
        Transpose(context, x, {n, depth, b, b, h, w}, {0, 1, 4, 2, 5, 3},
                  {n, depth, MultiplyExtents(h, b), MultiplyExtents(w, b)});
      else
        Transpose(context, x, {n, b, b, depth, h, w}, {0, 3, 4, 1, 5, 2},
                  {n, depth, MultiplyExtents(h, b), MultiplyExtents(w, b)});
    } else {
      const int64_t depth = MultiplyExtents(c, b * b);
      if (column_first_)
        Transpose(context, x, {n, c, h / b, b, w / b, b}, {0, 1, 3, 5, 2, 4}, {n, depth, h / b, w / b});
      else
        Transpose(context, x, {n, c, h / b, b, w / b, b}, {0, 3, 5, 1, 2, 4}, {n, depth, h / b, w / b});
    }
  }

 private:
  static void Transpose(RuntimeContext& context, const Tensor& x, std::initializer_list<int64_t> dims,
                        std::initializer_list<int64_t> perm, std::initializer_list<int64_t> out_dims) {
    Tensor& y = context.Output(0, {out_dims.begin(), out_dims.size()});
    if (y.element_count() == 0) return;
    TransposeElements(context, x.type(), Dims({dims.begin(), dims.size()}), Dims({perm.begin(), perm.size()}), x.data(),
                      y.data());
  }

  bool to_space_;
  bool column_first_;
  int64_t block_;
};

void Register(KernelRegistry& registry, const char* op_type, bool to_space) {
  registry.RegisterKernelFn(Registration(op_type, 1, 28, {}), [to_space](const KernelInfo& info) {
    return std::make_unique<BlockKernel>(info, to_space);
  });
}

}  // namespace

void RegisterDepthToSpace(KernelRegistry& registry) {
  Register(registry, "DepthToSpace", true);
  Register(registry, "SpaceToDepth", false);
}

}  // namespace light
