// SPDX-License-Identifier: Apache-2.0
#include <unordered_set>

#include "exec/text_meter.h"
#include "kernels/arguments.h"
#include "kernels/letter_case.h"
#include "kernels/scratch.h"
#include "kernels/text.h"

namespace light {
namespace {

class StringNormalizer final : public KernelBase {
 public:
  explicit StringNormalizer(const KernelInfo& info)
      : is_case_sensitive_(info.Int("is_case_sensitive", 0) != 0), action_(info.String("case_change_action", "NONE")) {
    if (action_ != "NONE" && action_ != "LOWER" && action_ != "UPPER")
      info.Fail(ErrorCode::kInvalidGraph, "attribute case_change_action: must be LOWER, UPPER or NONE, got " + action_);
    for (const std::string& word : info.Strings("stopwords")) stopwords_.insert(Compared(word));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    if ((x.rank() != 1 && x.rank() != 2) || (x.rank() == 2 && x.dim(0) != 1))
      FailArgument(InputLabel(0, "X") + ": must be [n] or [1, n], got " + Describe(x));
    const auto texts = x.Span<std::string>();
    auto* kept = Scratch<std::size_t>(context, x.element_count());
    std::size_t count = 0;
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (stopwords_.empty() || !stopwords_.contains(Compared(texts[i]))) kept[count++] = i;
    // Where nothing is left there is one empty text.
    const int64_t dims[] = {1, static_cast<int64_t>(count == 0 ? 1 : count)};
    auto* to = context.Output(0, std::span<const int64_t>(dims).last(x.rank())).Data<std::string>();
    if (count == 0) to->clear();
    for (std::size_t i = 0; i < count; ++i) {
      if (action_ == "NONE") {
        CopyString(texts[kept[i]], to[i]);
        continue;
      }
      std::string changed = ChangeCase(texts[kept[i]], action_ == "UPPER" ? LetterCase::kUpper : LetterCase::kLower);
      if (TextScope* scope = TextScope::Current()) scope->Expect(to[i], changed.size());
      to[i] = std::move(changed);
    }
  }

 private:
  /// What of a word is compared.
  std::string Compared(const std::string& word) const {
    return is_case_sensitive_ ? word : ChangeCase(word, LetterCase::kLower);
  }

  bool is_case_sensitive_;
  std::string action_;
  std::unordered_set<std::string> stopwords_;
};

}  // namespace

void RegisterStringNormalizer(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("StringNormalizer", 10, 10, {}), MakeKernel<StringNormalizer>);
}

}  // namespace light
