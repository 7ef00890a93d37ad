// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/moved.h"
#include "kernels/odd_rounding.h"
#include "kernels/scalar.h"
#include "kernels/small_floats.h"

namespace light {
namespace {

// One element. Integers wrap. A float beyond an integer type saturates and NaN gives 0: ONNX leaves both open.
template <class From, class To>
To Convert(From value) {
  if constexpr (kIsSmallFloat<From>) {
    return Convert<float, To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (kIsSmallFloat<To>) {
    if constexpr (std::is_same_v<From, float> || std::is_same_v<From, bool>)
      return To(static_cast<float>(value));
    else
      return To(OddFloat(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return SaturatingCast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// Writes the fewest digits that give a finite value back: plain from 1e-4 up to the number of digits that the type is
/// good for, beyond that with an exponent. Returns the end.
template <class T>
char* WriteFloat(T value, char* begin, char* end) {
  constexpr int kMostDigits = sizeof(T) == sizeof(float) ? 8 : 16;
  char* stop = std::to_chars(begin, end, value, std::chars_format::scientific).ptr;
  const char* power = std::find(begin, stop, 'e') + 1;
  int exponent = 0;
  std::from_chars(power + (*power == '+'), stop, exponent);
  if (exponent < -4 || exponent >= kMostDigits) return stop;
  return std::to_chars(begin, end, value, std::chars_format::fixed).ptr;
}

template <class T>
std::string ToText(T value) {
  if constexpr (kIsSmallFloat<T>) {
    return ToText(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) return "NaN";
      if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
    }
    char text[64];
    if constexpr (std::is_floating_point_v<T>) return std::string(text, WriteFloat(value, text, std::end(text)));
    return std::string(text, std::to_chars(text, std::end(text), value).ptr);
  }
}

template <class T>
T FromText(const std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  while (begin != end && *begin == ' ') ++begin;
  while (begin != end && end[-1] == ' ') --end;
  if (begin != end && *begin == '+') ++begin;
  if constexpr (std::is_same_v<T, bool>) {
    const std::string_view word(begin, static_cast<std::size_t>(end - begin));
    if (word == "True" || word == "true" || word == "1") return true;
    if (word == "False" || word == "false" || word == "0") return false;
  } else {
    std::conditional_t<kIsSmallFloat<T>, float, T> value{};
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (stop == end && error == std::errc()) return T(value);
  }
  FailArgument("input 0 (input): must be text of a " + std::string(conversions::Name(kElementOf<T>)) + ", got '" +
               text + "'");
}

void GiveText(std::string text, std::string& to) {
  if (TextScope* scope = TextScope::Current()) scope->Expect(to, text.size());
  to = std::move(text);
}

using LoopFn = void (*)(const void* from, void* to, int64_t begin, int64_t end);

template <class From, class To>
void Loop(const void* in, void* out, int64_t begin, int64_t end) {
  const From* from = static_cast<const From*>(in);
  To* to = static_cast<To*>(out);
  if constexpr (std::is_same_v<From, float> && kIsSmallFloat<To>) {
    NarrowElements(from + begin, end - begin, to + begin);
    return;
  } else if constexpr (kIsSmallFloat<From> && std::is_same_v<To, float>) {
    WidenElements(from + begin, end - begin, to + begin);
    return;
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, int32_t>) {
    Simd().to_int32(from + begin, to + begin, static_cast<std::size_t>(end - begin));
    return;
  } else if constexpr (std::is_same_v<From, float> && (std::is_same_v<To, int8_t> || std::is_same_v<To, uint8_t>)) {
    Simd().to_bytes(from + begin, std::numeric_limits<To>::min(), std::numeric_limits<To>::max(),
                    reinterpret_cast<uint8_t*>(to + begin), static_cast<std::size_t>(end - begin));
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    if constexpr (std::is_same_v<From, To>)
      CopyOne(from[i], to[i]);
    else if constexpr (std::is_same_v<To, std::string>)
      GiveText(ToText(from[i]), to[i]);
    else if constexpr (std::is_same_v<From, std::string>)
      to[i] = FromText<To>(from[i]);
    else
      to[i] = Convert<From, To>(from[i]);
  }
}

using CastTypes = TypeList<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                           uint32_t, uint64_t, bool, std::string>;

class Cast final : public KernelBase {
 public:
  explicit Cast(const KernelInfo& info) {
    loop_ = WithType(CastTypes{}, info.InputElement(0), [&](auto from) {
      return WithType(CastTypes{}, info.OutputElement(0), [&](auto to) -> LoopFn {
        return Loop<typename decltype(from)::type, typename decltype(to)::type>;
      });
    });
    const bool text = info.InputElement(0) == ElementType::kString || info.OutputElement(0) == ElementType::kString;
    cost_ = text ? 50 : 1;
  }

  void Run(RuntimeContext& context) override {
    const Tensor& from = Required(context, 0, "input");
    const void* in = from.data();
    void* out = context.Output(0, from.dims()).data();
    context.ParallelFor(from.element_count(), cost_, [&](int64_t begin, int64_t end) { loop_(in, out, begin, end); });
  }

 private:
  LoopFn loop_;
  double cost_;
};

}  // namespace

void RegisterCast(KernelRegistry& registry) {
  const std::vector<TypeConstraint> constraints = {{"T1", SetOf(CastTypes{})}, {"T2", SetOf(CastTypes{})}};
  registry.RegisterKernelFn(Registration("Cast", 1, 28, constraints), MakeKernel<Cast>);
  registry.RegisterKernelFn(Registration("CastLike", 15, 25, constraints), MakeKernel<Cast>);
}

}  // namespace light
