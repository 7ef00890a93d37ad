// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/scratch.h"
#include "kernels/text.h"

namespace light {
namespace {

/// The n-grams of a pool. Items are numbered as they appear in it; an n-gram is a path from the root, item by item.
class NgramTree {
 public:
  static constexpr int32_t kRoot = 0, kNone = -1;

  int32_t Next(int32_t node, int32_t item) const {
    const auto found = edges_.find(Key(node, item));
    return found == edges_.end() ? kNone : found->second;
  }
  int32_t Add(int32_t node, int32_t item) {
    const auto [edge, is_new] = edges_.try_emplace(Key(node, item), static_cast<int32_t>(ngrams_.size()));
    if (is_new) ngrams_.push_back(kNone);
    return edge->second;
  }
  /// The number of the n-gram that ends here; kNone if none does.
  int32_t ngram(int32_t node) const { return ngrams_[static_cast<std::size_t>(node)]; }
  void set_ngram(int32_t node, std::size_t ngram) {
    ngrams_[static_cast<std::size_t>(node)] = static_cast<int32_t>(ngram);
  }

 private:
  static uint64_t Key(int32_t node, int32_t item) {
    return static_cast<uint64_t>(static_cast<uint32_t>(node)) << 32 | static_cast<uint32_t>(item);
  }
  std::unordered_map<uint64_t, int32_t> edges_;
  std::vector<int32_t> ngrams_{kNone};
};

class TfIdfVectorizer final : public KernelBase {
 public:
  explicit TfIdfVectorizer(const KernelInfo& info)
      : most_skipped_(info.Int("max_skip_count", 0)),
        shortest_(info.Int("min_gram_length", 1)),
        longest_(info.Int("max_gram_length", 1)),
        weights_(info.Floats("weights")) {
    const std::string mode = info.String("mode", "");
    if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
      info.Fail(ErrorCode::kInvalidGraph, "attribute mode: must be TF, IDF or TFIDF, got " + mode);
    counts_ = mode != "IDF";
    if (mode == "TF") weights_.clear();
    if (shortest_ < 1 || longest_ < shortest_ || most_skipped_ < 0 || most_skipped_ >= (int64_t{1} << 31))
      info.Fail(
          ErrorCode::kInvalidGraph,
          "attributes min_gram_length, max_gram_length and max_skip_count: lengths must be positive and in order, "
          "skips not negative, got " +
              std::to_string(shortest_) + ", " + std::to_string(longest_) + " and " + std::to_string(most_skipped_));
    ReadPool(info);
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    if (x.rank() > 2) FailArgument(InputLabel(0, "X") + ": must have rank 1 or 2, got " + Describe(x));
    const int64_t rows = x.rank() == 2 ? x.dim(0) : 1, length = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
    const int64_t both[] = {rows, width_};
    Tensor& y = context.Output(0, std::span<const int64_t>(both).last(x.rank() == 2 ? 2 : 1));
    if (y.element_count() == 0) return;
    auto* items = Scratch<int32_t>(context, x.element_count());
    const double reach = static_cast<double>(length) * static_cast<double>(std::min(most_skipped_ + 1, length));
    context.ParallelFor(rows, 20 * reach + static_cast<double>(width_) + 20, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        Number(x, row * length, length, items + row * length);
        Count(items + row * length, length, y.Data<float>() + row * width_);
      }
    });
  }

 private:
  void ReadPool(const KernelInfo& info) {
    const std::vector<int64_t> numbers = info.Ints("pool_int64s");
    const std::vector<std::string> strings = info.Strings("pool_strings");
    const std::vector<int64_t> starts = info.Ints("ngram_counts");
    columns_ = info.Ints("ngram_indexes");
    if (numbers.empty() == strings.empty())
      info.Fail(ErrorCode::kInvalidGraph, "attributes pool_int64s and pool_strings: one must be given, got " +
                                              std::string(numbers.empty() ? "none" : "both"));
    const bool is_text = info.InputElement(0) == ElementType::kString;
    if (is_text != numbers.empty())
      info.Fail(ErrorCode::kInvalidGraph, std::string("attribute ") + (is_text ? "pool_strings" : "pool_int64s") +
                                              ": must be given for such an input, got the other one");
    for (const int64_t column : columns_) {
      if (column < 0 || column >= (int64_t{1} << 31))
        info.Fail(ErrorCode::kInvalidGraph,
                  "attribute ngram_indexes: must not be negative, and less than 2^31, got " + std::to_string(column));
      width_ = std::max(width_, column + 1);
    }
    if (!weights_.empty() && weights_.size() != columns_.size())
      info.Fail(ErrorCode::kInvalidGraph, "attribute weights: must have " + std::to_string(columns_.size()) +
                                              " entries, one for each n-gram, got " + std::to_string(weights_.size()));

    std::vector<int32_t> pool;
    for (const std::string& text : strings)
      pool.push_back(text_numbers_.try_emplace(text, static_cast<int32_t>(text_numbers_.size())).first->second);
    for (const int64_t number : numbers)
      pool.push_back(integer_numbers_.try_emplace(number, static_cast<int32_t>(integer_numbers_.size())).first->second);
    const auto size = static_cast<int64_t>(pool.size());
    std::size_t ngram = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const int64_t start = starts[i], end = i + 1 < starts.size() ? starts[i + 1] : size;
      const auto length = static_cast<int64_t>(i) + 1;
      if (start < 0 || end < start || end > size || (end - start) % length != 0)
        info.Fail(ErrorCode::kInvalidGraph,
                  "attribute ngram_counts: must begin each length in order, with whole n-grams, within a pool of " +
                      std::to_string(size) + ", got " + conversions::FormatExtents(starts));
      for (int64_t at = start; at < end; at += length, ++ngram) {
        if (ngram >= columns_.size())
          info.Fail(ErrorCode::kInvalidGraph, "attribute ngram_indexes: must have an entry for each n-gram, got " +
                                                  std::to_string(columns_.size()));
        if (length < shortest_ || length > longest_) continue;
        int32_t node = NgramTree::kRoot;
        for (int64_t k = 0; k < length; ++k) node = tree_.Add(node, pool[static_cast<std::size_t>(at + k)]);
        tree_.set_ngram(node, ngram);
      }
    }
  }

  template <class Key, class Map>
  static int32_t Find(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? NgramTree::kNone : found->second;
  }

  /// What the items are numbered in the pool; kNone if they are not in it.
  void Number(const Tensor& x, int64_t first, int64_t count, int32_t* items) const {
    for (int64_t i = 0; i < count; ++i) {
      if (x.type() == ElementType::kString)
        items[i] = Find(text_numbers_, x.Data<std::string>()[first + i]);
      else if (x.type() == ElementType::kInt32)
        items[i] = Find(integer_numbers_, int64_t{x.Data<int32_t>()[first + i]});
      else
        items[i] = Find(integer_numbers_, x.Data<int64_t>()[first + i]);
    }
  }

  void Count(const int32_t* items, int64_t length, float* y) const {
    std::fill_n(y, width_, 0.f);
    for (int64_t distance = 1; distance <= std::min(most_skipped_ + 1, std::max<int64_t>(length, 1)); ++distance) {
      for (int64_t start = 0; start < length; ++start) {
        int32_t node = NgramTree::kRoot;
        int64_t at = start;
        for (int64_t n = 1; n <= longest_ && at < length && items[at] != NgramTree::kNone; ++n, at += distance) {
          node = tree_.Next(node, items[at]);
          if (node == NgramTree::kNone) break;
          // Single items are the same at every distance, and count once.
          const int32_t ngram = tree_.ngram(node);
          if (ngram == NgramTree::kNone || (n == 1 && distance > 1)) continue;
          const float weight = weights_.empty() ? 1.f : weights_[static_cast<std::size_t>(ngram)];
          float& sum = y[columns_[static_cast<std::size_t>(ngram)]];
          sum = counts_ ? sum + weight : weight;
        }
      }
    }
  }

  int64_t most_skipped_, shortest_, longest_;
  std::vector<float> weights_;    // by n-gram
  std::vector<int64_t> columns_;  // by n-gram: where it is counted
  int64_t width_ = 0;
  bool counts_ = true;  // false: only whether there is one
  std::unordered_map<std::string, int32_t> text_numbers_;
  std::unordered_map<int64_t, int32_t> integer_numbers_;
  NgramTree tree_;
};

}  // namespace

void RegisterTfIdfVectorizer(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("TfIdfVectorizer", 9, 9, {}), MakeKernel<TfIdfVectorizer>);
}

}  // namespace light
