// SPDX-License-Identifier: Apache-2.0
// Arithmetic, rows, transposition and the product of every instruction set, against float64.
#include <cstring>

#include "light/error.h"
#include "simd_check.h"

namespace {

using namespace light;
using light::simd::GemmArgs;
using light::simd::SimdTable;

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
    // Several rows at a time: each as it is alone.
    constexpr std::size_t kRows = 7;
    std::vector<float> lines(kRows * n), sums(kRows);
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = static_cast<float>(i % 13) * 0.7f - x[i % n];
    for (std::size_t count = 0; count <= kRows; ++count) {
      level.reduce_sum_rows(lines.data(), count, n, sums.data());
      for (std::size_t r = 0; r < count; ++r) CHECK(sums[r] == level.reduce_sum(lines.data() + r * n, n));
    }
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

/// All four layouts; the result is a part of a wider matrix, whose rest stays as it is.
void TestDoubleProduct(const SimdTable& level, std::size_t m, std::size_t n, std::size_t k) {
  const auto wide = [](std::size_t count) {
    const std::vector<float> floats = Uniform(count, -1, 1);
    return std::vector<double>(floats.begin(), floats.end());
  };
  const std::vector<double> a = wide(m * k), b = wide(k * n);
  const std::size_t pitch = n + 3, panels = (n + level.double_nr - 1) / level.double_nr;
  const auto pn = static_cast<std::ptrdiff_t>(n), pk = static_cast<std::ptrdiff_t>(k),
             pm = static_cast<std::ptrdiff_t>(m);
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      std::vector<double> c(m * pitch, kNan);
      const light::simd::DoubleGemmArgs args = {a.data(),
                                                a_transposed ? 1 : pk,
                                                a_transposed ? pm : 1,
                                                b.data(),
                                                b_transposed ? 1 : pn,
                                                b_transposed ? pk : 1,
                                                c.data(),
                                                static_cast<std::ptrdiff_t>(pitch),
                                                n,
                                                k};
      // In two parts each way, as threads do it.
      for (const auto& [first, last] : {std::pair{std::size_t{0}, m / 2}, std::pair{m / 2, m}}) {
        level.double_gemm(&args, first, last, 0, panels / 2);
        level.double_gemm(&args, first, last, panels / 2, panels);
      }
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          long double want = 0;
          for (std::size_t l = 0; l < k; ++l)
            want += static_cast<long double>(a_transposed ? a[l * m + i] : a[i * k + l]) *
                    (b_transposed ? b[j * k + l] : b[l * n + j]);
          CHECK(std::abs(c[i * pitch + j] - want) <= 1.2e-16L * static_cast<long double>(k + 1));
        }
        for (std::size_t j = n; j < pitch; ++j) CHECK(std::isnan(c[i * pitch + j]));
      }
    }
  }
}

void TestLevel(const SimdTable& level) {
  for (const std::size_t m : {std::size_t{1}, std::size_t{3}, std::size_t{5}, level.mr, 2 * level.mr + 5})
    for (const std::size_t n : {std::size_t{1}, level.double_nr - 1, level.double_nr, 9 * level.double_nr + 3})
      for (const std::size_t k : {0, 1, 17, 192, 193, 400}) TestDoubleProduct(level, m, n, k);
  TestBinary(level);
  TestRows(level);
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
  OnEveryLevel(TestLevel);
  TestNames();
  return 0;
}
