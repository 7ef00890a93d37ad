// SPDX-License-Identifier: Apache-2.0
// Every function of every instruction set that this machine has, against float64.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check.h"
#include "kernels/simd_dispatch.h"
#include "light/error.h"

extern "C" const light::simd::SimdTable light_simd_wide;

namespace {

using light::simd::GemmArgs;
using light::simd::SimdTable;
using light::simd::UnaryFn;

void CheckThat(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const std::size_t kLengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257};

std::mt19937& Random() {
  static std::mt19937 engine(7);
  return engine;
}

std::vector<float> Uniform(std::size_t n, float low, float high) {
  std::uniform_real_distribution<float> value(low, high);
  std::vector<float> result(n);
  for (float& v : result) v = value(Random());
  return result;
}

// Distance in units of the last place of the reference, where a denormal counts as the smallest normal's place.
double UlpError(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  if (std::isinf(static_cast<float>(want))) return got == static_cast<float>(want) ? 0 : 1e30;
  const double place = std::ldexp(1.0, std::max(std::ilogb(want == 0 ? 1e-300 : want), -126) - 23);
  return std::isfinite(got) ? std::abs(got - want) / place : 1e30;
}

void TestUnary(const SimdTable& level, const std::string& name, UnaryFn function, double (*reference)(double),
               float low, float high, double bound) {
  std::vector<float> x = Uniform(20000, low, high);
  for (const float special :
       {0.f,         -0.f,       1.f,       -1.f,   1e-40f,   -1e-40f, 1e-38f, 88.7f, 89.f,   -87.4f,
        -103.f,      -110.f,     1e30f,     -1e30f, 0.625f,   0.92f,   4.f,    5.f,   1e-20f, -1e-20f,
        3e38f,       -3e38f,     kInf,      -kInf,  kNan,     0.5f,    -0.5f,  2.5f,  -2.5f,  8388609.f,
        -4194304.5f, 499999.97f, -500001.f, 1e-45f, -1.3e-3f, -14.2f,  -120.f})
    x.push_back(special);
  std::vector<float> y(x.size());
  function(x.data(), y.data(), x.size());
  double worst = 0;
  float where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = reference(x[i]);
    const double error = UlpError(y[i], want);
    if (want == 0 && y[i] == 0) CheckThat(std::signbit(y[i]) == std::signbit(want), name + ": the sign of a zero");
    if (error > worst) {
      worst = error;
      where = x[i];
    }
  }
  CheckThat(worst <= bound,
            std::string(level.name) + " " + name + ": " + std::to_string(worst) + " ulp at " + std::to_string(where));
  // Every length, at an odd address, also in place, and nothing written beyond the end.
  for (const std::size_t n : kLengths) {
    std::vector<float> in(x.begin(), x.begin() + n), out(n + 2, -7.f);
    std::vector<unsigned char> bytes(4 * n + 64);
    float* odd = reinterpret_cast<float*>(bytes.data() + (reinterpret_cast<std::uintptr_t>(bytes.data()) % 64 ? 0 : 4));
    std::copy(in.begin(), in.end(), odd);
    function(odd, out.data() + 1, n);
    CHECK(out[0] == -7.f && out[n + 1] == -7.f);
    CheckThat(n == 0 || std::memcmp(out.data() + 1, y.data(), 4 * n) == 0,
              std::string(level.name) + " " + name + ": others in an array of " + std::to_string(n));
    function(in.data(), in.data(), n);
    CHECK(n == 0 || std::memcmp(in.data(), y.data(), 4 * n) == 0);
  }
}

double SoftplusOf(double x) { return std::isnan(x) ? x : std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

void TestTrigonometry(const SimdTable& level) {
  // The worst errors over every 61st float, on any level: sin 1.585, cos 1.560, tan 2.473, asin 2.341, acos 1.116,
  // atan 1.496; the others are rounded from float64.
  const auto sin = [](double x) { return std::sin(x); };
  const auto cos = [](double x) { return std::cos(x); };
  const auto tan = [](double x) { return std::tan(x); };
  // Near 0, over some turns, up to where the C library takes over, and beyond.
  for (const float range : {1.f, 30.f, 500000.f, 2e6f, 3e38f}) {
    TestUnary(level, "sin", level.sin, sin, -range, range, 1.65);
    TestUnary(level, "cos", level.cos, cos, -range, range, 1.65);
    TestUnary(level, "tan", level.tan, tan, -range, range, 2.6);
  }
  TestUnary(level, "asin", level.asin, [](double x) { return std::asin(x); }, -1, 1, 2.4);
  TestUnary(level, "acos", level.acos, [](double x) { return std::acos(x); }, -1, 1, 1.2);
  for (const float range : {2.f, 1000.f})
    TestUnary(level, "atan", level.atan, [](double x) { return std::atan(x); }, -range, range, 1.6);
  for (const float range : {1e-3f, 2.f, 95.f}) {
    TestUnary(level, "sinh", level.sinh, [](double x) { return std::sinh(x); }, -range, range, 0.501);
    TestUnary(level, "cosh", level.cosh, [](double x) { return std::cosh(x); }, -range, range, 0.501);
    TestUnary(level, "asinh", level.asinh, [](double x) { return std::asinh(x); }, -range, range, 0.501);
    TestUnary(level, "acosh", level.acosh, [](double x) { return std::acosh(x); }, 0.9f, 1 + range, 0.501);
  }
  for (const float range : {1e-3f, 1.1f})
    TestUnary(level, "atanh", level.atanh, [](double x) { return std::atanh(x); }, -range, range, 0.501);
}

void TestActivations(const SimdTable& level) {
  // The worst errors over every 61st float, on any level: gelu 5.5, mish 3.2, softplus 2.3, softsign 1.5.
  const auto gelu = [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); };
  const auto mish = [](double x) { return x * std::tanh(SoftplusOf(x)); };
  for (const float range : {1.f, 15.f, 110.f}) {
    TestUnary(level, "gelu", level.gelu, gelu, -range, range, 6);
    TestUnary(level, "mish", level.mish, mish, -range, range, 3.5);
    TestUnary(level, "softplus", level.softplus, SoftplusOf, -range, range, 2.5);
    TestUnary(level, "softsign", level.softsign, [](double x) { return x / (1 + std::abs(x)); }, -range, range, 1.6);
  }
  TestUnary(level, "reciprocal", level.reciprocal, [](double x) { return 1 / x; }, -9, 9, 0.5);
  const auto sign = [](double x) { return std::isnan(x) ? x : double((x > 0) - (x < 0)); };
  TestUnary(level, "sign", level.sign, sign, -2, 2, 0);
  for (const float range : {3.f, 1e4f, 2e7f}) {
    TestUnary(level, "round", level.round, [](double x) { return std::nearbyint(x); }, -range, range, 0);
    TestUnary(level, "floor", level.floor, [](double x) { return std::floor(x); }, -range, range, 0);
    TestUnary(level, "ceil", level.ceil, [](double x) { return std::ceil(x); }, -range, range, 0);
  }
  static const SimdTable* table;  // what a plain function can reach
  table = &level;
  const auto elu = [](const float* x, float* y, std::size_t n) { table->elu(x, 1, 0.5f, 1, y, n); };
  const auto selu = [](const float* x, float* y, std::size_t n) { table->elu(x, 1, 1.5f, 1.25f, y, n); };
  const auto celu = [](const float* x, float* y, std::size_t n) { table->elu(x, 2, 2, 1, y, n); };
  for (const float range : {1e-3f, 2.f, 110.f}) {
    TestUnary(level, "elu", elu, [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }, -range, range, 2);
    TestUnary(level, "selu", selu, [](double x) { return 1.25 * (x < 0 ? 1.5 * std::expm1(x) : x); }, -range, range, 3);
    TestUnary(level, "celu", celu, [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }, -range, range, 2);
  }
  const auto shrink = [](const float* x, float* y, std::size_t n) { table->shrink(x, 0.25f, 1.5f, y, n); };
  const auto shrunk = [](double x) { return x < -1.5 ? x + 0.25 : x > 1.5 ? x - 0.25 : 0; };
  TestUnary(level, "shrink", shrink, shrunk, -4, 4, 0.5);
  const auto threshold = [](const float* x, float* y, std::size_t n) {
    const float least = 0.75f;
    table->threshold_scalar(x, &least, y, n);
  };
  TestUnary(level, "threshold", threshold, [](double x) { return x > 0.75 ? x : 0; }, -4, 4, 0);
}

void TestHalf(const SimdTable& level) {
  std::vector<std::uint16_t> all(65536), back(65537);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<float> wide(65536);
  level.from_half(all.data(), wide.data(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int exponent = static_cast<int>(i >> 10 & 31), digits = static_cast<int>(i & 1023);
    if (exponent == 31 && digits > 0) {
      CHECK(std::isnan(wide[i]));
      continue;
    }
    const double magnitude = exponent == 31  ? kInf
                             : exponent == 0 ? std::ldexp(digits, -24)
                                             : std::ldexp(1024 + digits, exponent - 25);
    CHECK(wide[i] == (i & 0x8000 ? -magnitude : magnitude) && std::signbit(wide[i]) == (i >= 0x8000));
  }
  // Every number that lies between two of them, and those next to it; tails of every length.
  std::vector<float> x;
  for (std::size_t i = 0; i < 0x7c00; ++i) {
    const float middle = i == 0x7bff ? 65520.f : (wide[i] + wide[i + 1]) / 2;
    for (const float value : {middle, std::nextafter(middle, 0.f), std::nextafter(middle, kInf), wide[i]}) {
      x.push_back(value);
      x.push_back(-value);
    }
  }
  for (const float value : {kInf, -kInf, kNan, 1e30f, -1e30f, 1e-30f, 1e-45f, 65519.996f}) x.push_back(value);
  for (const std::size_t cut : {0, 1, 3, 7}) {
    back.assign(x.size() + 1, 0x1234);
    const std::size_t n = x.size() - cut;
    level.to_half(x.data(), back.data(), n);
    CHECK(back[n] == 0x1234);
    for (std::size_t i = 0; i < n; ++i) {
      if (std::isnan(x[i])) {
        CHECK((back[i] & 0x7c00) == 0x7c00 && (back[i] & 0x3ff) != 0);
        continue;
      }
      const double place = std::ldexp(1.0, std::clamp(std::ilogb(x[i] == 0 ? 1e-30f : x[i]), -14, 200) - 10);
      const double rounded = std::nearbyint(x[i] / place) * place;
      const float want = static_cast<float>(std::abs(rounded) > 65504 ? std::copysign(kInf, rounded) : rounded);
      CHECK(wide[back[i]] == want && std::signbit(wide[back[i]]) == std::signbit(x[i]));
    }
  }
}

double Saturated(double x, double low, double high) { return std::isnan(x) ? 0 : std::clamp(std::trunc(x), low, high); }

void TestQuantized(const SimdTable& level) {
  std::vector<float> x = Uniform(300, -400, 400);
  for (const float special : {0.f,    -0.f,   0.5f,    -0.5f,  1.5f,   2.5f,          -127.5f,      127.5f,
                              255.4f, 255.9f, -128.9f, -129.f, 1e10f,  -1e10f,        2147483520.f, 2147483648.f,
                              -3e9f,  kInf,   -kInf,   kNan,   1e-40f, -2147483648.f, 8388607.5f})
    x.push_back(special);
  std::vector<std::int32_t> whole(x.size()), sums(x.size());
  std::vector<double> factors(x.size());
  std::vector<std::uint8_t> bytes(x.size() + 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[i] = static_cast<std::int32_t>(i * i * 977) - 5000000;
    factors[i] = 1e-5 * static_cast<double>(i + 1);
  }
  sums[3] = INT32_MIN;
  sums[4] = INT32_MAX;
  for (std::size_t cut = 0; cut < 20; ++cut) {
    const std::size_t n = x.size() - cut;
    std::fill(whole.begin(), whole.end(), -7);
    level.to_int32(x.data(), whole.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(whole[i] == (i < n ? Saturated(x[i], INT32_MIN, INT32_MAX) : -7));
    for (const bool is_signed : {false, true}) {
      const int low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
      const auto at = [&](std::size_t i) { return is_signed ? static_cast<std::int8_t>(bytes[i]) : int{bytes[i]}; };
      bytes.assign(x.size() + 1, 99);
      level.to_bytes(x.data(), static_cast<float>(low), static_cast<float>(high), bytes.data(), n);
      CHECK(bytes[n] == 99);
      for (std::size_t i = 0; i < n; ++i) CHECK(at(i) == Saturated(x[i], low, high));
      for (const int zero : {low, low + 100, high}) {
        const light::simd::QuantizedRange range = {low, high, zero};
        const auto rounded = [&](double value) {
          return std::isnan(value) ? low : std::clamp(std::nearbyint(value) + zero, double(low), double(high));
        };
        bytes.assign(x.size() + 1, 99);
        level.quantize(x.data(), 1.5f, &range, bytes.data(), n);
        CHECK(bytes[n] == 99);
        for (std::size_t i = 0; i < n; ++i) CHECK(at(i) == rounded(x[i] / 1.5f));
        for (const bool one : {false, true}) {
          bytes.assign(x.size() + 1, 99);
          level.requantize(sums.data(), factors.data(), one, &range, bytes.data(), n);
          CHECK(bytes[n] == 99);
          for (std::size_t i = 0; i < n; ++i) CHECK(at(i) == rounded(sums[i] * factors[one ? 0 : i]));
        }
      }
    }
  }
}

void TestIntegerProduct(const SimdTable& level, light::simd::IntegerGemmFn gemm, std::size_t m, std::size_t n,
                        std::size_t k, bool extreme) {
  std::uniform_int_distribution<int> byte(0, 255);
  const auto draw = [&] { return extreme ? byte(Random()) % 2 * 255 : byte(Random()); };
  const std::size_t groups = (k + 3) / 4, panels = (n + level.nr - 1) / level.nr;
  std::vector<std::int8_t> a(m * groups * 4, 0);
  std::vector<std::uint8_t> b(panels * level.nr * groups * 4, 77);
  std::vector<std::int32_t> row_zero(m), row_sum(m), column_zero(n), column_sum(n), c(m * n + 1, -7);
  for (auto& zero : row_zero) zero = draw() - 128;
  for (auto& zero : column_zero) zero = draw();
  const auto b_at = [&](std::size_t i, std::size_t j) -> std::uint8_t& {
    return b[((j / level.nr * groups + i / 4) * level.nr + j % level.nr) * 4 + i % 4];
  };
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t p = 0; p < k; ++p) row_sum[i] += a[i * groups * 4 + p] = static_cast<std::int8_t>(draw() - 128);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t p = 0; p < k; ++p)
      column_sum[j] += (b_at(p, j) = static_cast<std::uint8_t>(draw())) - column_zero[j];
  const light::simd::IntegerGemmArgs args = {
      a.data(), b.data(), c.data(), n, groups, row_zero.data(), row_sum.data(), column_zero.data(), column_sum.data()};
  gemm(&args, 0, m / 2, 0, panels);
  gemm(&args, m / 2, m, 0, panels / 2);
  gemm(&args, m / 2, m, panels / 2, panels);
  CHECK(c[m * n] == -7);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      std::int64_t want = 0;
      for (std::size_t p = 0; p < k; ++p)
        want += static_cast<std::int64_t>(a[i * groups * 4 + p] - row_zero[i]) * (b_at(p, j) - column_zero[j]);
      CheckThat(c[i * n + j] == want, std::string(level.name) + " integer product " + std::to_string(m) + "x" +
                                          std::to_string(n) + "x" + std::to_string(k));
    }
}

void TestIntegerProducts(const SimdTable& level) {
  std::vector<light::simd::IntegerGemmFn> functions = {level.integer_gemm};
#if defined(__x86_64__)
  if (level.integer_gemm_vnni && __builtin_cpu_supports("avx512vnni")) functions.push_back(level.integer_gemm_vnni);
#endif
  for (const auto gemm : functions)
    for (const bool extreme : {false, true})
      for (std::size_t m : {std::size_t{1}, std::size_t{2}, level.mr - 1, level.mr, 2 * level.mr + 3})
        for (std::size_t n : {std::size_t{1}, level.nr / 2, level.nr - 1, level.nr, 2 * level.nr + 3})
          for (std::size_t k : {1, 2, 3, 4, 5, 64, 257}) TestIntegerProduct(level, gemm, m, n, k, extreme);
}

void TestBinary(const SimdTable& level) {
  for (const std::size_t n : kLengths) {
    const std::vector<float> a = Uniform(n, -3, 3), b = Uniform(n, 0.5, 4);
    const float s = 1.7f;
    struct Case {
      const char* name;
      light::simd::BinaryFn function;
      bool a_scalar, b_scalar;
      float (*want)(float, float);
    };
    const auto add = [](float x, float y) { return x + y; };
    const auto sub = [](float x, float y) { return x - y; };
    const auto mul = [](float x, float y) { return x * y; };
    const auto div = [](float x, float y) { return x / y; };
    const auto max = [](float x, float y) { return std::max(x, y); };
    const auto min = [](float x, float y) { return std::min(x, y); };
    const auto prelu = [](float x, float slope) { return x < 0 ? x * slope : x; };
    const Case cases[] = {{"add", level.add, false, false, add},
                          {"sub", level.sub, false, false, sub},
                          {"mul", level.mul, false, false, mul},
                          {"div", level.div, false, false, div},
                          {"max", level.max, false, false, max},
                          {"min", level.min, false, false, min},
                          {"prelu", level.prelu, false, false, prelu},
                          {"max_scalar", level.max_scalar, false, true, max},
                          {"min_scalar", level.min_scalar, false, true, min},
                          {"prelu_scalar", level.prelu_scalar, false, true, prelu},
                          {"add_scalar", level.add_scalar, false, true, add},
                          {"sub_scalar", level.sub_scalar, false, true, sub},
                          {"mul_scalar", level.mul_scalar, false, true, mul},
                          {"div_scalar", level.div_scalar, false, true, div},
                          {"scalar_sub", level.scalar_sub, true, false, sub},
                          {"scalar_div", level.scalar_div, true, false, div}};
    for (const Case& c : cases) {
      std::vector<float> y(n + 1, -7.f);
      c.function(c.a_scalar ? &s : a.data(), c.b_scalar ? &s : b.data(), y.data(), n);
      bool same = y[n] == -7.f;
      for (std::size_t i = 0; i < n; ++i) same &= y[i] == c.want(c.a_scalar ? s : a[i], c.b_scalar ? s : b[i]);
      CheckThat(same, std::string(level.name) + " " + c.name + " of " + std::to_string(n));
    }
    std::vector<float> y = b;
    level.axpy(0.5f, a.data(), y.data(), n);
    for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(y[i] - (b[i] + 0.5 * a[i])) < 1e-6);
    level.affine(a.data(), 2.f, 1.f, y.data(), n);
    for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(y[i] - (2.0 * a[i] + 1)) < 1e-6);
  }
  for (const float other : {1.f, kInf, -kInf}) {
    float a[2] = {kNan, other}, b[2] = {other, kNan}, y[2];
    for (const auto function : {level.max, level.min}) {
      function(a, b, y, 2);
      CHECK(std::isnan(y[0]) && std::isnan(y[1]));
    }
  }
}

void TestRows(const SimdTable& level) {
  CHECK(level.reduce_sum(nullptr, 0) == 0 && level.reduce_max(nullptr, 0) == -kInf);
  CHECK(level.reduce_min(nullptr, 0) == kInf);
  for (const std::size_t n : kLengths) {
    if (n == 0) continue;
    const std::size_t rows = 3;
    const std::vector<float> x = Uniform(rows * n, -9, 5), scale = Uniform(n, -1, 1), bias = Uniform(n, -1, 1);
    double sum = 0, largest = -1e9, smallest = 1e9;
    for (std::size_t i = 0; i < n; ++i) {
      sum += x[i];
      largest = std::max<double>(largest, x[i]);
      smallest = std::min<double>(smallest, x[i]);
    }
    CHECK(std::abs(level.reduce_sum(x.data(), n) - sum) <= 1e-6 * 9 * n);
    double magnitudes = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      magnitudes += std::abs(static_cast<double>(x[i]));
      squares += (x[i] - 0.1) * (x[i] - 0.1);
    }
    CHECK(std::abs(level.sum(x.data(), n) - sum) <= 1e-13 * magnitudes);
    CHECK(std::abs(level.sum_of_magnitudes(x.data(), n) - magnitudes) <= 1e-13 * magnitudes);
    CHECK(std::abs(level.sum_of_squares(x.data(), 0.1, n) - squares) <= 1e-13 * squares);
    CHECK(level.reduce_max(x.data(), n) == static_cast<float>(largest));
    CHECK(level.reduce_min(x.data(), n) == static_cast<float>(smallest));
    for (std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<float> broken(x.begin(), x.begin() + n);
      broken[at] = kNan;
      CHECK(std::isnan(level.reduce_max(broken.data(), n)));
      CHECK(std::isnan(level.reduce_min(broken.data(), n)));
    }
    std::vector<float> y(rows * n), mean(rows), deviation(rows);
    level.softmax(x.data(), y.data(), rows, n);
    for (std::size_t r = 0; r < rows; ++r) {
      double top = -1e9, total = 0;
      for (std::size_t i = 0; i < n; ++i) top = std::max<double>(top, x[r * n + i]);
      for (std::size_t i = 0; i < n; ++i) total += std::exp(x[r * n + i] - top);
      for (std::size_t i = 0; i < n; ++i) {
        const double want = std::exp(x[r * n + i] - top) / total;
        CHECK(std::abs(y[r * n + i] - want) <= 2e-6 * want);
      }
    }
    level.layer_norm(x.data(), scale.data(), bias.data(), 1e-3f, y.data(), mean.data(), deviation.data(), rows, n);
    for (std::size_t r = 0; r < rows; ++r) {
      double mu = 0, variance = 0;
      for (std::size_t i = 0; i < n; ++i) mu += x[r * n + i] / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) variance += std::pow(x[r * n + i] - mu, 2) / static_cast<double>(n);
      const double factor = 1 / std::sqrt(variance + 1e-3f);
      CHECK(std::abs(mean[r] - mu) <= 1e-5 && std::abs(deviation[r] - factor) <= 1e-4 * factor);
      for (std::size_t i = 0; i < n; ++i)
        CHECK(std::abs(y[r * n + i] - ((x[r * n + i] - mu) * factor * scale[i] + bias[i])) <= 1e-5 * (1 + factor));
    }
  }
  const float broken[3] = {1, kNan, 2}, lowest[3] = {-kInf, 0, -kInf};
  float y[3];
  level.softmax(broken, y, 1, 3);
  CHECK(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[2]));
  level.softmax(lowest, y, 1, 3);
  CHECK(y[0] == 0 && y[1] == 1 && y[2] == 0);
}

void TestTranspose(const SimdTable& level) {
  for (const std::size_t rows : {0, 1, 3, 4, 8, 15, 16, 17, 40})
    for (const std::size_t columns : {0, 1, 4, 7, 16, 31, 64}) {
      const std::size_t x_row = columns + 3, y_row = rows + 2;
      std::vector<float> x = Uniform(rows * x_row + 1, -1, 1), y(columns * y_row + 1, -7.f);
      const std::uint32_t bits = 0x7f800001;  // a signalling NaN stays one
      if (rows > 0 && columns > 0) std::memcpy(&x[(rows - 1) * x_row + columns / 2], &bits, sizeof(bits));
      level.transpose(x.data(), static_cast<std::ptrdiff_t>(x_row), y.data(), static_cast<std::ptrdiff_t>(y_row), rows,
                      columns);
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t i = 0; i < y_row; ++i)
          CHECK(i < rows ? std::memcmp(&y[j * y_row + i], &x[i * x_row + j], sizeof(float)) == 0
                         : y[j * y_row + i] == -7.f);
    }
}

struct Product {
  std::size_t m, n, k;
  bool a_transposed, b_transposed;
  float alpha;
  bool column_bias, row_bias, accumulate, relu, residual = false;
};

void TestProduct(const SimdTable& level, const Product& p) {
  const std::vector<float> a = Uniform(p.m * p.k, -1, 1), b = Uniform(p.k * p.n, -1, 1),
                           before = Uniform(p.m * p.n, -1, 1);
  const std::vector<float> columns = Uniform(p.n, -1, 1), rows = Uniform(p.m, -1, 1),
                           residual = Uniform(p.m * p.n, -1, 1);
  const std::size_t panels = (p.n + level.nr - 1) / level.nr;
  std::vector<float> packed(panels * level.nr * p.k, kNan), c = before;
  const auto pn = static_cast<std::ptrdiff_t>(p.n), pk = static_cast<std::ptrdiff_t>(p.k),
             pm = static_cast<std::ptrdiff_t>(p.m);
  level.pack_b(b.data(), p.b_transposed ? 1 : pn, p.b_transposed ? pk : 1, p.k, p.n, 0, panels, packed.data());
  const GemmArgs args = {a.data(),
                         p.a_transposed ? 1 : pk,
                         p.a_transposed ? pm : 1,
                         packed.data(),
                         c.data(),
                         pn,
                         p.n,
                         p.k,
                         p.alpha,
                         p.column_bias ? columns.data() : nullptr,
                         p.row_bias ? rows.data() : nullptr,
                         p.accumulate,
                         p.relu,
                         p.residual ? residual.data() : nullptr};
  // In two parts each way, as threads do it.
  const std::size_t row = p.m / 2, panel = panels / 2;
  level.gemm(&args, 0, row, 0, panel);
  level.gemm(&args, 0, row, panel, panels);
  level.gemm(&args, row, p.m, 0, panel);
  level.gemm(&args, row, p.m, panel, panels);
  double worst = 0;
  for (std::size_t i = 0; i < p.m; ++i) {
    for (std::size_t j = 0; j < p.n; ++j) {
      double want = 0;
      for (std::size_t k = 0; k < p.k; ++k)
        want += static_cast<double>(p.a_transposed ? a[k * p.m + i] : a[i * p.k + k]) *
                (p.b_transposed ? b[j * p.k + k] : b[k * p.n + j]);
      want *= p.alpha;
      if (p.accumulate) want += before[i * p.n + j];
      if (p.column_bias) want += columns[j];
      if (p.row_bias) want += rows[i];
      if (p.residual) want += residual[i * p.n + j];
      if (p.relu) want = std::max(want, 0.0);
      worst = std::max(worst, std::abs(c[i * p.n + j] - want));
    }
  }
  CheckThat(worst <= 1e-6 * (4 + std::sqrt(p.k) * std::abs(p.alpha) * 2),
            std::string(level.name) + " product " + std::to_string(p.m) + "x" + std::to_string(p.n) + "x" +
                std::to_string(p.k) + ": " + std::to_string(worst));
}

void TestLevel(const SimdTable& level) {
  // The worst errors over every 61st float, on any level: exp 1.018, log 0.801, tanh 2.489, erf 1.302, sigmoid 2.304.
  TestUnary(level, "exp", level.exp, [](double x) { return std::exp(x); }, -105, 90, 1.05);
  TestUnary(level, "exp", level.exp, [](double x) { return std::exp(x); }, -1, 1, 1.05);
  TestUnary(level, "log", level.log, [](double x) { return std::log(x); }, 0, 3, 1.0);
  TestUnary(level, "log", level.log, [](double x) { return std::log(x); }, 1e-39f, 1e-37f, 1.0);
  TestUnary(level, "tanh", level.tanh, [](double x) { return std::tanh(x); }, -10, 10, 2.6);
  TestUnary(level, "tanh", level.tanh, [](double x) { return std::tanh(x); }, -1, 1, 2.6);
  TestUnary(level, "erf", level.erf, [](double x) { return std::erf(x); }, -5, 5, 1.35);
  TestUnary(level, "erf", level.erf, [](double x) { return std::erf(x); }, -1, 1, 1.35);
  TestUnary(level, "sigmoid", level.sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -105, 30, 2.5);
  TestUnary(level, "sqrt", level.sqrt, [](double x) { return std::sqrt(x); }, 0, 100, 0.5001);
  TestUnary(level, "relu", level.relu, [](double x) { return std::isnan(x) ? x : std::max(x, 0.0); }, -2, 2, 0);
  TestUnary(level, "neg", level.neg, [](double x) { return -x; }, -2, 2, 0);
  TestUnary(level, "abs", level.abs, [](double x) { return std::abs(x); }, -2, 2, 0);
  TestTrigonometry(level);
  TestActivations(level);
  TestHalf(level);
  TestQuantized(level);
  TestBinary(level);
  TestRows(level);
  TestIntegerProducts(level);
  const std::size_t mr = level.mr, nr = level.nr;
  for (std::size_t m = 0; m <= 2 * mr + 1; ++m)
    for (const std::size_t n : {std::size_t{1}, nr - 1, nr, 2 * nr + 3})
      for (const std::size_t k : {0, 1, 2, 5, 64})
        TestProduct(level, {m, n, k, m % 2 == 1, n % 2 == 1, 1.f, false, false, false, false});
  TestTranspose(level);
  TestProduct(level, {13 * mr + 1, 3 * nr + 1, 900, false, false, 1.f, true, false, false, false});
  TestProduct(level, {13 * mr + 1, 3 * nr + 1, 900, true, true, 0.5f, false, true, true, true});
  TestProduct(level, {1, 3 * nr + 1, 901, false, false, 2.f, true, false, false, true});
  TestProduct(level, {18 * mr + 5, 9 * nr + 1, 1024, false, false, 1.f, true, false, true, true, true});
  TestProduct(level, {3, nr, 0, false, false, 1.f, true, true, true, true});
  TestProduct(level, {3 * mr + 1, 3 * nr + 1, 900, false, false, 1.f, true, false, false, true, true});
  TestProduct(level, {2 * mr, 2 * nr, 7, false, false, 2.f, false, true, false, false, true});
  TestProduct(level, {1, nr + 3, 4, false, false, 1.f, false, false, true, false, true});
}

void TestNames() {
  for (const char* name : {"sse9", "AVX2", "avx2 "}) {
    std::string message;
    try {
      light::FindSimdLevel(name);
    } catch (const light::Error& error) {
      message = error.what();
    }
    CHECK(message.find("baseline, avx2, avx512") != std::string::npos && message.find(name) != std::string::npos);
  }
  CHECK(std::string(light::FindSimdLevel("baseline").name) == "baseline");
  CHECK(&light::FindSimdLevel("") == light::SupportedSimdLevels().back());
}

}  // namespace

int main() {
  for (const SimdTable* level : light::SupportedSimdLevels()) TestLevel(*level);
  TestLevel(light_simd_wide);
  TestNames();
  return 0;
}
