// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

class Trilu final : public KernelBase {
 public:
  explicit Trilu(const KernelInfo& info) : upper_(info.Int("upper", 1) != 0) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "input");
    const std::size_t rank = data.rank();
    if (rank < 2) FailArgument(InputLabel(0, "input") + ": must have at least rank 2, got " + Describe(data));
    const Tensor* k = context.Input(1);
    const int64_t rows = data.dim(rank - 2), columns = data.dim(rank - 1);
    const int64_t diagonal = std::clamp(k ? ReadInteger(*k, 1, "k") : 0, -rows, columns);
    Tensor& out = context.Output(0, data.dims());
    if (out.element_count() == 0) return;
    WithMoved(data.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = data.Data<T>();
      T* to = out.Data<T>();
      context.ParallelFor(data.element_count() / columns, kMoveCost<T> * static_cast<double>(columns) + 2,
                          [&](int64_t begin, int64_t end) {
                            for (int64_t line = begin; line < end; ++line) {
                              // The line is kept in [first, last).
                              const int64_t edge = line % rows + diagonal;
                              const int64_t first = upper_ ? std::clamp<int64_t>(edge, 0, columns) : 0;
                              const int64_t last = upper_ ? columns : std::clamp<int64_t>(edge + 1, 0, columns);
                              const int64_t at = line * columns;
                              std::fill(to + at, to + at + first, T{});
                              CopyRun(from + at + first, last - first, to + at + first);
                              std::fill(to + at + last, to + at + columns, T{});
                            }
                          });
    });
  }

 private:
  bool upper_;
};

}  // namespace

void RegisterTrilu(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Trilu", 14, 14, {}), MakeKernel<Trilu>);
}

}  // namespace light
