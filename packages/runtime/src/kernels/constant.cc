// SPDX-License-Identifier: Apache-2.0
// Operators whose output does not depend on the elements of an input: Constant, Shape, Size.
#include <algorithm>

#include "kernels/arguments.h"
#include "kernels/families.h"

namespace light {
namespace {

class Constant final : public KernelBase {
 public:
  explicit Constant(const KernelInfo& info) {
    const std::span<const int64_t> none;
    if (const Tensor* tensor = info.TensorAttribute("value")) {
      value_ = *tensor;
    } else if (info.HasAttribute("value_float")) {
      Fill(ElementType::kFloat, none, std::vector<float>{info.Float("value_float", 0)});
    } else if (info.HasAttribute("value_int")) {
      Fill(ElementType::kInt64, none, std::vector<int64_t>{info.Int("value_int", 0)});
    } else if (info.HasAttribute("value_string")) {
      Fill(ElementType::kString, none, std::vector<std::string>{info.String("value_string", "")});
    } else if (info.HasAttribute("value_floats")) {
      FillList(ElementType::kFloat, info.Floats("value_floats"));
    } else if (info.HasAttribute("value_ints")) {
      FillList(ElementType::kInt64, info.Ints("value_ints"));
    } else if (info.HasAttribute("value_strings")) {
      FillList(ElementType::kString, info.Strings("value_strings"));
    } else {
      info.Fail(ErrorCode::kInvalidGraph, "one of the value attributes is required, got none");
    }
  }

  void Run(RuntimeContext& context) override { CopyElements(value_, context.Output(0, value_.dims())); }

 private:
  template <class T>
  void Fill(ElementType type, std::span<const int64_t> dims, const std::vector<T>& elements) {
    value_ = Tensor::Allocate(type, dims);
    std::copy(elements.begin(), elements.end(), value_.Data<T>());
  }
  template <class T>
  void FillList(ElementType type, const std::vector<T>& elements) {
    const int64_t dims[] = {static_cast<int64_t>(elements.size())};
    Fill(type, dims, elements);
  }

  Tensor value_;
};

class ShapeKernel final : public KernelBase {
 public:
  explicit ShapeKernel(const KernelInfo& info) : start_(info.Int("start", 0)), end_(info.Int("end", INT64_MAX)) {}

  void Run(RuntimeContext& context) override {
    const Dims& dims = Required(context, 0, "data").dims();
    const auto rank = static_cast<int64_t>(dims.rank());
    const auto clamp = [rank](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
    const int64_t start = clamp(start_), end = std::max(start, clamp(end_));
    const int64_t count[] = {end - start};
    std::copy(dims.data() + start, dims.data() + end, context.Output(0, count).Data<int64_t>());
  }

 private:
  int64_t start_;
  int64_t end_;
};

class Size final : public KernelBase {
 public:
  explicit Size(const KernelInfo&) {}
  void Run(RuntimeContext& context) override {
    const int64_t count = Required(context, 0, "data").element_count();
    *context.Output(0, {}).Data<int64_t>() = count;
  }
};

std::string DeclinesConstant(const KernelInfo& info) {
  return info.HasAttribute("sparse_value") ? "a sparse constant" : "";
}

}  // namespace

void RegisterConstant(KernelRegistry& registry) {
  KernelRegistration constant = Registration("Constant", 1, 25, {});
  constant.declines = DeclinesConstant;
  registry.RegisterKernelFn(constant, MakeKernel<Constant>);
  registry.RegisterKernelFn(Registration("Shape", 1, 25, {}), MakeKernel<ShapeKernel>);
  registry.RegisterKernelFn(Registration("Size", 1, 25, {}), MakeKernel<Size>);
}

}  // namespace light
