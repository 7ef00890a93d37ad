// SPDX-License-Identifier: Apache-2.0
// Binarizer, FeatureVectorizer, Imputer, Normalizer, Scaler.
#include <cmath>

#include "kernels/families.h"
#include "kernels/ml_scores.h"

namespace light {
namespace {

class Binarizer final : public KernelBase {
 public:
  explicit Binarizer(const KernelInfo& info) : threshold_(info.Float("threshold", 0)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    Tensor& y = context.Output(0, x.dims());
    WithType(MlNumberTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      // Integers of 64 bits are compared as doubles: as floats neighbours of the threshold would be equal to it.
      using C = std::conditional_t<std::is_same_v<T, float>, float, double>;
      const T* from = x.Data<T>();
      T* to = y.Data<T>();
      context.ParallelFor(x.element_count(), 0.5, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<C>(from[i]) > C{threshold_} ? T{1} : T{0};
      });
    });
  }

 private:
  float threshold_;
};

class Scaler final : public KernelBase {
 public:
  explicit Scaler(const KernelInfo& info) : scale_(info.Floats("scale")), offset_(info.Floats("offset")) {
    if (scale_.empty() || scale_.size() != offset_.size())
      info.Fail(ErrorCode::kInvalidGraph, "attributes scale and offset: must have equally many elements, got " +
                                              std::to_string(scale_.size()) + " and " + std::to_string(offset_.size()));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const int64_t columns = x.rank() > 0 ? x.dim(x.rank() - 1) : 1, count = static_cast<int64_t>(scale_.size());
    if (count != 1 && count != columns)
      FailArgument(InputLabel(0, "X") + ": must have " + std::to_string(count) +
                   " columns, as scale has elements, got " + Describe(x));
    float* to = context.Output(0, x.dims()).Data<float>();
    if (x.element_count() == 0) return;
    WithType(MlNumberTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = std::conditional_t<std::is_same_v<T, float>, float, double>;
      const T* from = x.Data<T>();
      context.ParallelFor(x.element_count() / columns, static_cast<double>(columns), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          for (int64_t j = 0; j < columns; ++j) {
            const auto k = static_cast<std::size_t>(count == 1 ? 0 : j);
            to[row * columns + j] =
                static_cast<float>((static_cast<C>(from[row * columns + j]) - C{offset_[k]}) * C{scale_[k]});
          }
      });
    });
  }

 private:
  std::vector<float> scale_, offset_;
};

/// Divides each row by its maximum, by the sum of its absolute values or by its length, if that is not 0.
class Normalizer final : public KernelBase {
 public:
  explicit Normalizer(const KernelInfo& info) : norm_(info.String("norm", "MAX")) {
    if (norm_ != "MAX" && norm_ != "L1" && norm_ != "L2")
      info.Fail(ErrorCode::kInvalidGraph, "attribute norm: must be MAX, L1 or L2, got " + norm_);
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const MlMatrix matrix(x, 0, "X");
    float* y = context.Output(0, x.dims()).Data<float>();
    if (x.element_count() == 0) return;
    const int64_t n = matrix.columns;
    WithType(MlNumberTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* data = x.Data<T>();
      context.ParallelFor(matrix.rows, 2 * static_cast<double>(n) + 5, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* from = data + row * n;
          double divisor = Divisor(from, n);
          if (divisor == 0) divisor = 1;
          for (int64_t i = 0; i < n; ++i) y[row * n + i] = static_cast<float>(static_cast<double>(from[i]) / divisor);
        }
      });
    });
  }

 private:
  template <class T>
  double Divisor(const T* x, int64_t n) const {
    double result = norm_ == "MAX" ? static_cast<double>(*std::max_element(x, x + n)) : 0;
    if (norm_ == "L1")
      for (int64_t i = 0; i < n; ++i) result += std::abs(static_cast<double>(x[i]));
    if (norm_ == "L2") {
      for (int64_t i = 0; i < n; ++i) result += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      result = std::sqrt(result);
    }
    return result;
  }

  std::string norm_;
};

/// Replaces one value, which may be NaN, by another one, the same for all columns or one for each.
class Imputer final : public KernelBase {
 public:
  explicit Imputer(const KernelInfo& info)
      : floats_(info.Floats("imputed_value_floats")),
        integers_(info.Ints("imputed_value_int64s")),
        replaced_float_(info.Float("replaced_value_float", 0)),
        replaced_integer_(info.Int("replaced_value_int64", 0)) {
    const ElementType type = info.InputElement(0);
    const bool wants_floats = type == ElementType::kFloat || type == ElementType::kDouble;
    if (wants_floats ? floats_.empty() : integers_.empty())
      info.Fail(ErrorCode::kInvalidGraph, std::string("attribute imputed_value_") +
                                              (wants_floats ? "floats" : "int64s") + ": must be given for " +
                                              conversions::Name(type));
    if (type == ElementType::kInt32)
      for (const int64_t value : integers_)
        if (value != static_cast<int32_t>(value))
          info.Fail(ErrorCode::kInvalidGraph,
                    "attribute imputed_value_int64s: must fit the input's int32, got " + std::to_string(value));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    Tensor& y = context.Output(0, x.dims());
    WithType(MlNumberTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_floating_point_v<T>)
        Replace<T>(context, x, floats_, replaced_float_, y.Data<T>());
      else
        Replace<T>(context, x, integers_, replaced_integer_, y.Data<T>());
    });
  }

 private:
  template <class T, class A>
  static void Replace(RuntimeContext& context, const Tensor& x, const std::vector<A>& values, A replaced, T* y) {
    const int64_t columns = x.rank() > 0 ? x.dim(x.rank() - 1) : 1, count = static_cast<int64_t>(values.size());
    if (count != 1 && count != columns)
      FailArgument(InputLabel(0, "X") + ": must have " + std::to_string(count) +
                   " columns, as there are imputed values, got " + Describe(x));
    const T* from = x.Data<T>();
    const bool is_nan = replaced != replaced;
    context.ParallelFor(x.element_count(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        // In the wider type: an int32 must not equal a number beyond its range.
        const bool found = is_nan ? from[i] != from[i] : static_cast<std::common_type_t<T, A>>(from[i]) == replaced;
        y[i] = found ? static_cast<T>(values[static_cast<std::size_t>(count == 1 ? 0 : i % columns)]) : from[i];
      }
    });
  }

  std::vector<float> floats_;
  std::vector<int64_t> integers_;
  float replaced_float_;
  int64_t replaced_integer_;
};

/// Puts the columns of the inputs side by side, of each as many as the attribute says: cut off, or filled up with
/// zeros.
class FeatureVectorizer final : public KernelBase {
 public:
  explicit FeatureVectorizer(const KernelInfo& info) : widths_(info.Ints("inputdimensions")) {
    if (widths_.size() != info.input_count())
      info.Fail(ErrorCode::kInvalidGraph, "attribute inputdimensions: must have an element for each of the " +
                                              std::to_string(info.input_count()) + " inputs, got " +
                                              std::to_string(widths_.size()));
    for (const int64_t width : widths_) {
      if (width < 0)
        info.Fail(ErrorCode::kInvalidGraph,
                  "attribute inputdimensions: must not be negative, got " + std::to_string(width));
      if (__builtin_add_overflow(total_, width, &total_))
        info.Fail(ErrorCode::kInvalidGraph, "attribute inputdimensions: the sum must fit 64 bits");
    }
  }

  void Run(RuntimeContext& context) override {
    const int64_t rows = MlMatrix(Required(context, 0, "X"), 0, "X").rows;
    const int64_t dims[] = {rows, total_};
    float* y = context.Output(0, dims).Data<float>();
    int64_t at = 0;
    for (std::size_t input = 0; input < widths_.size(); ++input) {
      const Tensor& x = Required(context, input, "X");
      const MlMatrix matrix(x, input, "X");
      if (matrix.rows != rows)
        FailArgument(InputLabel(input, "X") + ": must have " + std::to_string(rows) +
                     " rows, as the first input, got " + Describe(x));
      const int64_t width = widths_[input], known = std::min(width, matrix.columns);
      if (width == 0) continue;
      WithType(MlNumberTypes{}, x.type(), [&](auto tag) {
        const auto* from = x.Data<typename decltype(tag)::type>();
        context.ParallelFor(rows, static_cast<double>(width), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            float* to = y + row * total_ + at;
            for (int64_t i = 0; i < known; ++i) to[i] = static_cast<float>(from[row * matrix.columns + i]);
            std::fill(to + known, to + width, 0.f);
          }
        });
      });
      at += width;
    }
  }

 private:
  std::vector<int64_t> widths_;
  int64_t total_ = 0;
};

}  // namespace

void RegisterMlFeatures(KernelRegistry& registry) {
  const TypeSet numbers = SetOf(MlNumberTypes{});
  registry.RegisterKernelFn(MlRegistration("Binarizer", 1, 1, {{"T", numbers}}), MakeKernel<Binarizer>);
  registry.RegisterKernelFn(MlRegistration("FeatureVectorizer", 1, 1, {{"T1", numbers}}),
                            MakeKernel<FeatureVectorizer>);
  registry.RegisterKernelFn(MlRegistration("Imputer", 1, 1, {{"T", numbers}}), MakeKernel<Imputer>);
  registry.RegisterKernelFn(MlRegistration("Normalizer", 1, 1, {{"T", numbers}}), MakeKernel<Normalizer>);
  registry.RegisterKernelFn(MlRegistration("Scaler", 1, 1, {{"T", numbers}}), MakeKernel<Scaler>);
}

}  // namespace light
