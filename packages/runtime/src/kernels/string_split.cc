// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string_view>

#include "exec/text_meter.h"
#include "kernels/arguments.h"
#include "kernels/text.h"

namespace light {
namespace {

/// Bytes of the white space that `text` begins with: one character of UTF-8, 0 if it is none.
std::size_t SpaceAt(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if ((first >= 0x09 && first <= 0x0d) || (first >= 0x1c && first <= 0x20)) return 1;
  if (first == 0xc2) return byte(1) == 0x85 || byte(1) == 0xa0 ? 2 : 0;
  if (first != 0xe1 && first != 0xe2 && first != 0xe3) return 0;
  const unsigned code = (first & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  const bool is_space = code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
                        code == 0x202f || code == 0x205f || code == 0x3000;
  return is_space && byte(1) >= 0x80 && byte(2) >= 0x80 ? 3 : 0;
}

std::string_view WithoutLeadingSpace(std::string_view text) {
  while (const std::size_t bytes = SpaceAt(text)) text.remove_prefix(bytes);
  return text;
}

class StringSplit final : public KernelBase {
 public:
  explicit StringSplit(const KernelInfo& info)
      : delimiter_(info.String("delimiter", "")), most_(info.Int("maxsplit", -1)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const auto texts = x.Span<std::string>();
    auto* counts = context.Output(1, x.dims()).Data<int64_t>();
    int64_t longest = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      counts[i] = 0;
      ForEachPart(texts[i], [&](std::string_view) { ++counts[i]; });
      longest = std::max(longest, counts[i]);
    }
    Dims dims = x.dims();
    dims.Resize(x.rank() + 1);
    dims[x.rank()] = longest;
    auto* to = context.Output(0, dims).Data<std::string>();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::string* const end = to + longest;
      ForEachPart(texts[i], [&](std::string_view part) {
        if (TextScope* scope = TextScope::Current()) scope->Expect(*to, part.size());
        (to++)->assign(part);
      });
      while (to != end) (to++)->clear();
    }
  }

 private:
  template <class Body>
  void ForEachPart(std::string_view text, Body body) const {
    int64_t splits = 0;
    if (!delimiter_.empty()) {
      for (std::size_t at; splits != most_ && (at = text.find(delimiter_)) != text.npos; ++splits) {
        body(text.substr(0, at));
        text.remove_prefix(at + delimiter_.size());
      }
      return body(text);
    }
    // White space separates words however long it is; what is left after the last split keeps its own.
    text = WithoutLeadingSpace(text);
    while (!text.empty()) {
      if (splits++ == most_) return body(text);
      std::size_t length = 0;
      while (length < text.size() && SpaceAt(text.substr(length)) == 0) ++length;
      body(text.substr(0, length));
      text = WithoutLeadingSpace(text.substr(length));
    }
  }

  std::string delimiter_;  // empty: white space
  int64_t most_;           // negative: any number
};

}  // namespace

void RegisterStringSplit(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("StringSplit", 20, 20, {}), MakeKernel<StringSplit>);
}

}  // namespace light
