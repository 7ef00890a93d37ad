// SPDX-License-Identifier: Apache-2.0
// What every instruction set makes of 16-bit floats and of integers, against exact arithmetic.
#include "simd_check.h"

namespace {

using namespace light;
using light::simd::SimdTable;

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

void TestBfloats(const SimdTable& level) {
  std::vector<std::uint16_t> all(65536), back(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<float> wide(65537);
  for (const std::size_t cut : {0, 1, 3, 7, 13}) {
    const std::size_t n = all.size() - cut;
    wide[n] = 0.75f;
    level.from_bfloat(all.data(), wide.data(), n);
    CHECK(wide[n] == 0.75f);
    for (std::size_t i = 0; i < n; ++i) CHECK(std::bit_cast<std::uint32_t>(wide[i]) == i << 16);
  }
  level.from_bfloat(all.data(), wide.data(), all.size());
  // Every number that lies between two of them, and those next to it. A NaN stays one, whatever its bits.
  for (const std::uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
    std::vector<float> x(65536);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i) << 16 | lower);
    for (const std::size_t cut : {0, 1, 3, 7, 13}) {
      const std::size_t n = x.size() - cut;
      back.assign(x.size() + 1, 0x1234);
      level.to_bfloat(x.data(), back.data(), n);
      CHECK(back[n] == 0x1234);
      for (std::size_t i = 0; i < n; ++i) {
        const bool is_up = lower > 0x8000 || (lower == 0x8000 && (i & 1) != 0);
        if (std::isnan(x[i]))
          CHECK(std::isnan(wide[back[i]]) && std::signbit(wide[back[i]]) == std::signbit(x[i]));
        else
          CHECK(back[i] == i + (is_up ? 1 : 0));
      }
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

}  // namespace

int main() {
  OnEveryLevel(TestHalf);
  OnEveryLevel(TestBfloats);
  OnEveryLevel(TestQuantized);
  OnEveryLevel(TestIntegerProducts);
  return 0;
}
