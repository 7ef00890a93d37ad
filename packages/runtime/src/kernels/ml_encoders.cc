// SPDX-License-Identifier: Apache-2.0
// ArrayFeatureExtractor, LabelEncoder, OneHotEncoder.
#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "kernels/families.h"
#include "kernels/ml_scores.h"
#include "kernels/moved.h"

namespace light {
namespace {

/// Takes elements along the last axis. The result has at least two axes.
class ArrayFeatureExtractor final : public KernelBase {
 public:
  explicit ArrayFeatureExtractor(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& y = Required(context, 1, "Y");
    if (x.rank() == 0) FailArgument(InputLabel(0, "X") + ": must have an axis, got " + Describe(x));
    const int64_t columns = x.dim(x.rank() - 1), count = y.element_count();
    if (count == 0) FailArgument(InputLabel(1, "Y") + ": must have an element, got " + Describe(y));
    const auto* index = y.Data<int64_t>();
    for (int64_t i = 0; i < count; ++i)
      if (index[i] < 0 || index[i] >= columns)
        FailArgument(InputLabel(1, "Y") + ": must be in [0, " + std::to_string(columns - 1) + "], got " +
                     std::to_string(index[i]));
    Dims dims = x.dims();
    if (dims.rank() == 1) {
      const int64_t row[] = {1, count};
      dims.Assign(row);
    } else {
      dims[dims.rank() - 1] = count;
    }
    Tensor& z = context.Output(0, dims);
    if (z.element_count() == 0) return;
    WithMoved(x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = (kMoveCost<T> + 0.5) * static_cast<double>(count);
      context.ParallelFor(z.element_count() / count, cost, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          for (int64_t i = 0; i < count; ++i)
            CopyOne(x.Data<T>()[row * columns + index[i]], z.Data<T>()[row * count + i]);
      });
    });
  }
};

/// Positions of keys.
template <class K>
using Positions = std::unordered_map<K, int64_t>;

class OneHotEncoder final : public KernelBase {
 public:
  explicit OneHotEncoder(const KernelInfo& info) : zeros_(info.Int("zeros", 1) != 0) {
    const std::vector<int64_t> integers = info.Ints("cats_int64s");
    const auto strings = info.HasAttribute("cats_strings") ? info.Strings("cats_strings") : std::vector<std::string>();
    if (integers.empty() == strings.empty())
      info.Fail(ErrorCode::kInvalidGraph,
                "attributes cats_int64s and cats_strings: one of them must have categories, and the other one none");
    if (strings.empty() == (info.InputElement(0) == ElementType::kString))
      info.Fail(ErrorCode::kInvalidGraph, std::string("attribute cats_") + (strings.empty() ? "int64s" : "strings") +
                                              ": does not fit elements of type " +
                                              conversions::Name(info.InputElement(0)));
    count_ = static_cast<int64_t>(std::max(integers.size(), strings.size()));
    for (std::size_t i = 0; i < integers.size(); ++i) integers_[integers[i]] = static_cast<int64_t>(i);
    for (std::size_t i = 0; i < strings.size(); ++i) strings_[strings[i]] = static_cast<int64_t>(i);
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    Dims dims = x.dims();
    dims.Resize(x.rank() + 1);
    dims[x.rank()] = count_;
    float* y = context.Output(0, dims).Data<float>();
    WithType(TypeList<float, double, int64_t, int32_t, std::string>{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = x.Data<T>();
      context.ParallelFor(x.element_count(), static_cast<double>(count_) + 20, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          std::fill_n(y + i * count_, count_, 0.f);
          const int64_t at = Find(from[i]);
          if (at >= 0)
            y[i * count_ + at] = 1;
          else if (!zeros_)
            FailArgument(InputLabel(0, "X") + ": must be among the categories when zeros is 0, element " +
                         std::to_string(i) + " is not");
        }
      });
    });
  }

 private:
  template <class T>
  int64_t Find(const T& value) const {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto found = strings_.find(value);
      return found == strings_.end() ? -1 : found->second;
    } else {
      const auto found = integers_.find(ToInteger(value));
      return found == integers_.end() ? -1 : found->second;
    }
  }

  bool zeros_;
  int64_t count_;
  Positions<int64_t> integers_;
  Positions<std::string> strings_;
};

// Keys of floats are found by their bits, so that a NaN can be one. All NaNs are one, and so are both zeros.
template <class T>
auto KeyOf(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<int64_t>(value != value ? 0x7fc00000u : std::bit_cast<uint32_t>(value == 0 ? 0.f : value));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<int64_t>(value != value ? std::numeric_limits<double>::quiet_NaN() : value == 0 ? 0. : value);
  } else {
    return static_cast<int64_t>(value);
  }
}

template <class T>
constexpr const char* kSuffix = std::is_same_v<T, std::string> ? "strings"
                                : std::is_same_v<T, float>     ? "floats"
                                : std::is_same_v<T, int64_t>   ? "int64s"
                                                               : "tensor";

template <class T>
std::vector<T> ReadList(const KernelInfo& info, const std::string& prefix) {
  if (const Tensor* tensor = info.TensorAttribute(prefix + "tensor")) {
    if (tensor->type() != kElementOf<T>)
      info.Fail(ErrorCode::kInvalidGraph, "attribute " + prefix + "tensor: must have elements of type " +
                                              conversions::Name(kElementOf<T>) + ", got " + Describe(*tensor));
    return {tensor->Data<T>(), tensor->Data<T>() + tensor->element_count()};
  }
  const std::string name = prefix + kSuffix<T>;
  if (!info.HasAttribute(name))
    info.Fail(ErrorCode::kInvalidGraph, "attribute " + name + ": must be given, as the node's types want it");
  if constexpr (std::is_same_v<T, std::string>) return info.Strings(name);
  if constexpr (std::is_same_v<T, float>) return info.Floats(name);
  if constexpr (std::is_same_v<T, int64_t>) return info.Ints(name);
  return {};
}

template <class T>
T ReadDefault(const KernelInfo& info) {
  if (const Tensor* tensor = info.TensorAttribute("default_tensor")) {
    if (tensor->type() != kElementOf<T> || tensor->element_count() != 1)
      info.Fail(ErrorCode::kInvalidGraph, std::string("attribute default_tensor: must be one element of type ") +
                                              conversions::Name(kElementOf<T>) + ", got " + Describe(*tensor));
    return *tensor->Data<T>();
  }
  if constexpr (std::is_same_v<T, std::string>) return info.String("default_string", "_Unused");
  if constexpr (std::is_same_v<T, float>) return info.Float("default_float", -0.f);
  if constexpr (std::is_same_v<T, int64_t>) return info.Int("default_int64", -1);
  if constexpr (std::is_same_v<T, double>) return -0.;
  if constexpr (std::is_integral_v<T>) return T{-1};
}

using LabelTypes = TypeList<float, double, int16_t, int32_t, int64_t, std::string>;

/// Where keys stand in the list of a LabelEncoder.
class LabelKeys {
 public:
  virtual ~LabelKeys() = default;
  /// The positions of elements [begin, end) of `x`; `otherwise` for one that is no key.
  virtual void Find(const Tensor& x, int64_t begin, int64_t end, int64_t otherwise, int64_t* positions) const = 0;
};

template <class T>
class LabelKeysOf final : public LabelKeys {
 public:
  explicit LabelKeysOf(const std::vector<T>& keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) positions_[KeyOf(keys[i])] = static_cast<int64_t>(i);
  }

  void Find(const Tensor& x, int64_t begin, int64_t end, int64_t otherwise, int64_t* positions) const override {
    const T* from = x.Data<T>();
    for (int64_t i = begin; i < end; ++i) {
      const auto found = FindOne(from[i]);
      positions[i - begin] = found == positions_.end() ? otherwise : found->second;
    }
  }

 private:
  auto FindOne(const T& value) const {
    if constexpr (std::is_same_v<T, std::string>)
      return positions_.find(value);  // not a copy of it
    else
      return positions_.find(KeyOf(value));
  }

  Positions<std::conditional_t<std::is_same_v<T, std::string>, std::string, int64_t>> positions_;
};

/// A tensor of the values, and behind them the default.
template <class T>
Tensor ValuesAndDefault(const KernelInfo& info, const std::vector<T>& values) {
  const int64_t count[] = {static_cast<int64_t>(values.size()) + 1};
  Tensor tensor = Tensor::Allocate(kElementOf<T>, count);
  std::copy(values.begin(), values.end(), tensor.Data<T>());
  tensor.Data<T>()[values.size()] = ReadDefault<T>(info);
  return tensor;
}

class LabelEncoder final : public KernelBase {
 public:
  explicit LabelEncoder(const KernelInfo& info) {
    if (info.since_version() == 1) {
      ReadClasses(info);
      return;
    }
    std::size_t keys = 0;
    WithType(LabelTypes{}, info.InputElement(0), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const std::vector<T> list = ReadList<T>(info, "keys_");
      keys = list.size();
      keys_ = std::make_unique<LabelKeysOf<T>>(list);
    });
    WithType(LabelTypes{}, info.OutputElement(0), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const std::vector<T> list = ReadList<T>(info, "values_");
      if (keys != list.size())
        info.Fail(ErrorCode::kInvalidGraph, "attributes keys_* and values_*: must have equally many elements, got " +
                                                std::to_string(keys) + " and " + std::to_string(list.size()));
      values_ = ValuesAndDefault(info, list);
    });
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    Tensor& y = context.Output(0, x.dims());
    WithMoved(y.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* values = values_.Data<T>();
      T* to = y.Data<T>();
      context.ParallelFor(x.element_count(), 20 + kMoveCost<T>, [&](int64_t begin, int64_t end) {
        int64_t positions[kBlock];
        for (int64_t first = begin; first < end; first += kBlock) {
          const int64_t last = std::min(first + kBlock, end);
          keys_->Find(x, first, last, values_.element_count() - 1, positions);
          for (int64_t i = first; i < last; ++i) CopyOne(values[positions[i - first]], to[i]);
        }
      });
    });
  }

 private:
  static constexpr int64_t kBlock = 256;  // of elements that are looked up before they are copied

  /// The first version maps strings to their positions in a list, or positions to strings.
  void ReadClasses(const KernelInfo& info) {
    const ElementType from = info.InputElement(0), to = info.OutputElement(0);
    if ((from == ElementType::kString) == (to == ElementType::kString))
      info.Fail(ErrorCode::kInvalidGraph, std::string("version 1 maps strings to int64 or int64 to strings, not ") +
                                              conversions::Name(from) + " to " + conversions::Name(to));
    const std::vector<std::string> classes = info.Strings("classes_strings");
    std::vector<int64_t> positions(classes.size());
    std::iota(positions.begin(), positions.end(), 0);
    if (from == ElementType::kString) {
      keys_ = std::make_unique<LabelKeysOf<std::string>>(classes);
      values_ = ValuesAndDefault(info, positions);
    } else {
      keys_ = std::make_unique<LabelKeysOf<int64_t>>(positions);
      values_ = ValuesAndDefault(info, classes);
    }
  }

  std::unique_ptr<LabelKeys> keys_;
  Tensor values_;
};

}  // namespace

void RegisterMlEncoders(KernelRegistry& registry) {
  registry.RegisterKernelFn(MlRegistration("ArrayFeatureExtractor", 1, 1,
                                           {{"T", SetOf(TypeList<float, double, int64_t, int32_t, std::string>{})}}),
                            MakeKernel<ArrayFeatureExtractor>);
  const TypeSet labels = SetOf(LabelTypes{});
  registry.RegisterKernelFn(MlRegistration("LabelEncoder", 1, 4, {{"T1", labels}, {"T2", labels}}),
                            MakeKernel<LabelEncoder>);
  registry.RegisterKernelFn(
      MlRegistration("OneHotEncoder", 1, 1, {{"T", SetOf(TypeList<float, double, int64_t, int32_t, std::string>{})}}),
      MakeKernel<OneHotEncoder>);
}

}  // namespace light
