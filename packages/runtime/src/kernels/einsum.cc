// SPDX-License-Identifier: Apache-2.0
#include "conversions/checked_size.h"
#include "conversions/shape.h"
#include "infer/einsum_equation.h"
#include "kernels/arguments.h"
#include "kernels/einsum_product.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/scratch.h"

namespace light {
namespace {

template <class A>
using Operand = EinsumOperand<A>;

Dims Filled(std::size_t n, int64_t value) {
  Dims dims;
  dims.Resize(n);
  std::fill_n(dims.data(), n, value);
  return dims;
}

/// What is known of every label of one run.
struct Labels {
  Dims extents, first_use, last_use, in_output;
};

/// sum(a * b), or sum(a) without `b`, over the labels that are not in `order`; dense in the order given.
template <class A>
void Contract(RuntimeContext& context, const Labels& labels, const Operand<A>& a, const Operand<A>* b,
              const Dims& order, A* out) {
  Dims summed;
  int64_t terms = 1;
  for (std::size_t l = 0; l < labels.extents.rank(); ++l) {
    if (!a.present[l] && !(b && b->present[l])) continue;
    if (std::find(order.data(), order.data() + order.rank(), static_cast<int64_t>(l)) != order.data() + order.rank())
      continue;
    summed.Resize(summed.rank() + 1);
    summed[summed.rank() - 1] = static_cast<int64_t>(l);
    if (__builtin_mul_overflow(terms, labels.extents[l], &terms) || terms >= int64_t{1} << 58)
      FailArgument("attribute equation: the products to sum up must fit in memory, got extents " +
                   conversions::FormatExtents(labels.extents));
  }
  // Where element `index` of the space over `axes` lies in each operand.
  const auto offsets = [&](const Dims& axes, std::size_t rank, int64_t index, int64_t* result) {
    result[0] = result[1] = 0;
    for (std::size_t d = rank; d-- > 0;) {
      const auto l = static_cast<std::size_t>(axes[d]);
      const int64_t at = index % labels.extents[l];
      index /= labels.extents[l];
      result[0] += at * a.strides[l];
      if (b) result[1] += at * b->strides[l];
    }
  };
  auto* term = Scratch<int64_t>(context, MultiplyExtents(2, terms));
  for (int64_t i = 0; i < terms; ++i) offsets(summed, summed.rank(), i, term + 2 * i);

  // Lines of the last label of the output, in blocks.
  const std::size_t outer_rank = order.rank() == 0 ? 0 : order.rank() - 1;
  const std::size_t last = order.rank() == 0 ? 0 : static_cast<std::size_t>(order[outer_rank]);
  const int64_t width = order.rank() == 0 ? 1 : labels.extents[last];
  const int64_t a_step = order.rank() == 0 ? 0 : a.strides[last], b_step = b && order.rank() ? b->strides[last] : 0;
  int64_t outer = 1;
  for (std::size_t d = 0; d < outer_rank; ++d) outer *= labels.extents[static_cast<std::size_t>(order[d])];
  constexpr int64_t kBlock = 128;
  const int64_t blocks = (width + kBlock - 1) / kBlock;
  const double cost = static_cast<double>(terms) * static_cast<double>(std::min(width, kBlock)) + 10;
  context.ParallelFor(outer * blocks, cost, [&](int64_t begin, int64_t end) {
    A sums[kBlock];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % blocks * kBlock, n = std::min(kBlock, width - first);
      int64_t start[2];
      offsets(order, outer_rank, unit / blocks, start);
      const A* left = a.data + start[0] + first * a_step;
      const A* right = b ? b->data + start[1] + first * b_step : nullptr;
      std::fill_n(sums, n, A{0});
      for (int64_t t = 0; t < terms; ++t) {
        const A* x = left + term[2 * t];
        const A* y = right ? right + term[2 * t + 1] : nullptr;
        if (!y) {
          for (int64_t j = 0; j < n; ++j) sums[j] += x[j * a_step];
        } else if (a_step == 0 && b_step == 1) {
          for (int64_t j = 0; j < n; ++j) sums[j] += *x * y[j];
        } else {
          for (int64_t j = 0; j < n; ++j) sums[j] += x[j * a_step] * y[j * b_step];
        }
      }
      std::copy_n(sums, n, out + unit / blocks * width + first);
    }
  });
}

class Einsum final : public KernelBase {
 public:
  explicit Einsum(const KernelInfo& info) : equation_(info.String("equation", ""), info.input_count()) {}

  void Run(RuntimeContext& context) override {
    const Labels labels = Measure(context);
    const Dims order = Order(equation_.output, labels);
    Dims dims;
    dims.Resize(order.rank());
    for (std::size_t d = 0; d < order.rank(); ++d) dims[d] = labels.extents[static_cast<std::size_t>(order[d])];
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    WithType(NumberTypes{}, y.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<T, float>) {
        if (equation_.terms.size() == 2 && EinsumByProducts(context, labels.extents, View<float>(context, labels, 0),
                                                            View<float>(context, labels, 1), order, y.Data<float>()))
          return;
      }
      // Sums of real numbers in double; integers wrap in the end, whatever their width in between.
      using A = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
      A* sums = Scratch<A>(context, y.element_count());
      Compute<T, A>(context, labels, order, sums);
      for (int64_t i = 0; i < y.element_count(); ++i) {
        if constexpr (std::is_integral_v<T>)
          y.Data<T>()[i] = static_cast<T>(sums[i]);
        else
          y.Data<T>()[i] = T(static_cast<ComputeType<T>>(sums[i]));
      }
    });
  }

 private:
  /// The number of axes that the ellipsis of term `k` stands for.
  std::size_t EllipsisRank(std::size_t k, std::size_t rank) const {
    const std::vector<int>& term = equation_.terms[k];
    const bool has = std::find(term.begin(), term.end(), EinsumEquation::kEllipsis) != term.end();
    const std::size_t letters = term.size() - (has ? 1 : 0);
    if (has ? rank < letters : rank != letters)
      FailArgument("input " + std::to_string(k) + ": must have " + (has ? "at least " : "") + std::to_string(letters) +
                   " axes for its term of the equation, got " + std::to_string(rank));
    return rank - letters;
  }

  /// Calls `axis(axis, label)` for the axes of input `k`. Axes of an ellipsis are aligned at its end.
  template <class F>
  void ForEachAxis(std::size_t k, std::size_t rank, std::size_t label_count, F&& axis) const {
    const std::size_t ellipsis = EllipsisRank(k, rank);
    std::size_t d = 0;
    for (const int label : equation_.terms[k]) {
      if (label != EinsumEquation::kEllipsis) {
        axis(d++, static_cast<std::size_t>(label));
        continue;
      }
      for (std::size_t i = 0; i < ellipsis; ++i) axis(d++, label_count - ellipsis + i);
    }
  }

  Labels Measure(RuntimeContext& context) const {
    std::size_t count = equation_.letters.size();
    for (std::size_t k = 0; k < equation_.terms.size(); ++k)
      count = std::max(count, equation_.letters.size() + EllipsisRank(k, Required(context, k, "Inputs").rank()));
    Labels labels = {Filled(count, 1), Filled(count, -1), Filled(count, -1), Filled(count, 0)};
    for (std::size_t k = 0; k < equation_.terms.size(); ++k) {
      const Tensor& x = Required(context, k, "Inputs");
      ForEachAxis(k, x.rank(), count, [&](std::size_t d, std::size_t l) {
        const bool repeated = labels.last_use[l] == static_cast<int64_t>(k);
        if (x.dim(d) != labels.extents[l] && (repeated || (x.dim(d) != 1 && labels.extents[l] != 1)))
          FailArgument("input " + std::to_string(k) + ": must have extent " + std::to_string(labels.extents[l]) +
                       " at axis " + std::to_string(d) + ", as other axes of its index, got " + Describe(x));
        if (x.dim(d) != 1) labels.extents[l] = x.dim(d);
        if (labels.first_use[l] < 0) labels.first_use[l] = static_cast<int64_t>(k);
        labels.last_use[l] = static_cast<int64_t>(k);
      });
    }
    const Dims order = Order(equation_.output, labels);
    for (std::size_t d = 0; d < order.rank(); ++d) labels.in_output[static_cast<std::size_t>(order[d])] = 1;
    return labels;
  }

  /// The labels of a term, the ellipsis written out.
  Dims Order(const std::vector<int>& term, const Labels& labels) const {
    Dims order;
    const auto append = [&](std::size_t label) {
      order.Resize(order.rank() + 1);
      order[order.rank() - 1] = static_cast<int64_t>(label);
    };
    for (const int label : term) {
      if (label != EinsumEquation::kEllipsis) {
        append(static_cast<std::size_t>(label));
        continue;
      }
      for (std::size_t l = equation_.letters.size(); l < labels.extents.rank(); ++l) append(l);
    }
    return order;
  }

  /// Input `k` as it lies in memory.
  template <class T>
  Operand<T> View(RuntimeContext& context, const Labels& labels, std::size_t k) const {
    const Tensor& x = Required(context, k, "Inputs");
    const std::size_t count = labels.extents.rank();
    Operand<T> operand{x.Data<T>(), Filled(count, 0), Filled(count, 0)};
    ForEachAxis(k, x.rank(), count, [&](std::size_t d, std::size_t l) {
      operand.present[l] = 1;
      // The strides of an index that is repeated add up: its diagonal.
      if (x.dim(d) != 1) operand.strides[l] += Product(x.dims(), d + 1, x.rank());
    });
    return operand;
  }

  /// Input `k` in the type that is computed in.
  template <class T, class A>
  Operand<A> Load(RuntimeContext& context, const Labels& labels, std::size_t k) const {
    const Operand<T> view = View<T>(context, labels, k);
    const int64_t count = Required(context, k, "Inputs").element_count();
    A* data = Scratch<A>(context, count);
    context.ParallelFor(count, 0.5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) data[i] = static_cast<A>(static_cast<ComputeType<T>>(view.data[i]));
    });
    return {data, view.strides, view.present};
  }

  /// The dense result of Contract, as an operand.
  template <class A>
  static Operand<A> Intermediate(RuntimeContext& context, const Labels& labels, const Operand<A>& a,
                                 const Operand<A>* b, const Dims& order) {
    const std::size_t count = labels.extents.rank();
    Operand<A> result{nullptr, Filled(count, 0), Filled(count, 0)};
    Dims dims;
    dims.Resize(order.rank());
    for (std::size_t d = 0; d < order.rank(); ++d) dims[d] = labels.extents[static_cast<std::size_t>(order[d])];
    const auto bytes = conversions::CheckedByteSize(ElementType::kDouble, dims);
    if (!bytes)
      FailArgument("attribute equation: an intermediate result must fit in memory, got " +
                   conversions::FormatExtents(dims));
    auto* data = static_cast<A*>(context.TemporaryBuffer(*bytes));
    if (*bytes > 0) Contract(context, labels, a, b, order, data);
    result.data = data;
    int64_t pitch = 1;
    for (std::size_t d = order.rank(); d-- > 0; pitch *= dims[d]) {
      const auto l = static_cast<std::size_t>(order[d]);
      result.present[l] = 1;
      result.strides[l] = pitch;
    }
    return result;
  }

  // From left to right, two operands at a time. What only one of them has is summed over before.
  template <class T, class A>
  void Compute(RuntimeContext& context, const Labels& labels, const Dims& output, A* sums) const {
    if (equation_.terms.size() == 1)
      return Contract<A>(context, labels, Load<T, A>(context, labels, 0), nullptr, output, sums);
    Operand<A> current = Reduced<A>(context, labels, Load<T, A>(context, labels, 0), 0);
    for (std::size_t k = 1; k < equation_.terms.size(); ++k) {
      const Operand<A> next = Reduced<A>(context, labels, Load<T, A>(context, labels, k), k);
      if (k + 1 == equation_.terms.size()) return Contract<A>(context, labels, current, &next, output, sums);
      Dims order;
      for (std::size_t l = 0; l < labels.extents.rank(); ++l) {
        const bool needed = labels.in_output[l] || labels.last_use[l] > static_cast<int64_t>(k);
        if (!needed || !(current.present[l] || next.present[l])) continue;
        order.Resize(order.rank() + 1);
        order[order.rank() - 1] = static_cast<int64_t>(l);
      }
      current = Intermediate<A>(context, labels, current, &next, order);
    }
  }

  template <class A>
  static Operand<A> Reduced(RuntimeContext& context, const Labels& labels, Operand<A> operand, std::size_t k) {
    Dims order;
    bool reduces = false;
    for (std::size_t l = 0; l < labels.extents.rank(); ++l) {
      if (!operand.present[l]) continue;
      const auto use = static_cast<int64_t>(k);
      if (!labels.in_output[l] && labels.first_use[l] == use && labels.last_use[l] == use) {
        reduces = true;
        continue;
      }
      order.Resize(order.rank() + 1);
      order[order.rank() - 1] = static_cast<int64_t>(l);
    }
    if (!reduces) return operand;
    // An axis of one element that broadcasts elsewhere gets the extent it has there.
    return Intermediate<A>(context, labels, operand, nullptr, order);
  }

  EinsumEquation equation_;
};

}  // namespace

void RegisterEinsum(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Einsum", 12, 28, {{"T", SetOf(NumberTypes{})}}), MakeKernel<Einsum>);
}

}  // namespace light
