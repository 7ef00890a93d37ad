// SPDX-License-Identifier: Apache-2.0
// The functions of one argument of every instruction set, against float64.
#include <cstring>

#include "simd_check.h"

namespace {

using namespace light;
using light::simd::SimdTable;
using light::simd::UnaryFn;

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
  // The worst errors over every 61st float, on any level: gelu 6.113, mish 3.908, softplus 2.648, softsign 1.5.
  const auto gelu = [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); };
  const auto mish = [](double x) { return x * std::tanh(SoftplusOf(x)); };
  for (const float range : {1.f, 15.f, 110.f}) {
    TestUnary(level, "gelu", level.gelu, gelu, -range, range, 6.3);
    TestUnary(level, "mish", level.mish, mish, -range, range, 4.1);
    TestUnary(level, "softplus", level.softplus, SoftplusOf, -range, range, 2.8);
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

void TestElementary(const SimdTable& level) {
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
}

}  // namespace

int main() {
  OnEveryLevel(TestElementary);
  OnEveryLevel(TestTrigonometry);
  OnEveryLevel(TestActivations);
  return 0;
}
