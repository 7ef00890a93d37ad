// SPDX-License-Identifier: Apache-2.0
#include "kernels/fourier.h"

#include <cmath>
#include <utility>

#include "kernels/arguments.h"

namespace light {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int64_t kLanes = 8;

/// cos and sin of -2 pi t / n, exact where they are 0 or 1, and as accurate as the functions elsewhere.
void Root(int64_t t, int64_t n, double& re, double& im) {
  // An eighth of the circle is enough: the rest are reflections.
  const int64_t octant = 8 * t / n;
  const auto angle = [&](int64_t numerator) {
    return kPi / 4 * static_cast<double>(numerator) / static_cast<double>(n);
  };
  const int64_t rest = 8 * t - octant * n;
  const bool mirrored = octant % 2 != 0;
  const double a = mirrored ? angle(n - rest) : angle(rest);
  const double c = std::cos(a), s = std::sin(a);
  const double turned[8][2] = {{c, s}, {s, c}, {-s, c}, {-c, s}, {-c, -s}, {-s, -c}, {s, -c}, {c, -s}};
  re = turned[octant][0];
  im = -turned[octant][1];
}

/// One stage of Stockham's algorithm, which leaves the result in order: `r` parts of what is left to transform are
/// combined. Element (p, q) of part j lies at q + s * (p + m * j), and goes to q + s * (r * p + j). The `step` first
/// roots of unity of the whole are 1 root of what is left.
struct Stage {
  int64_t m, s;  ///< what is left in each part; numbers side by side
  int64_t step;  ///< numbers of the table per root of what is left
  const double *roots_re, *roots_im;
  int64_t n;  ///< of the table
};

template <int kWidth>
void Radix2(const Stage& g, const double* re, const double* im, double* to_re, double* to_im) {
  for (int64_t p = 0; p < g.m; ++p) {
    const double wr = g.roots_re[p * g.step], wi = g.roots_im[p * g.step];
    const double *ar = re + g.s * p, *ai = im + g.s * p, *br = ar + g.s * g.m, *bi = ai + g.s * g.m;
    double *yr = to_re + g.s * 2 * p, *yi = to_im + g.s * 2 * p;
    for (int64_t q = 0; q < g.s; q += kWidth) {
      for (int l = 0; l < kWidth; ++l) {
        const double dr = ar[q + l] - br[q + l], di = ai[q + l] - bi[q + l];
        yr[q + l] = ar[q + l] + br[q + l];
        yi[q + l] = ai[q + l] + bi[q + l];
        yr[q + l + g.s] = dr * wr - di * wi;
        yi[q + l + g.s] = dr * wi + di * wr;
      }
    }
  }
}

template <int kWidth>
void Radix4(const Stage& g, const double* re, const double* im, double* to_re, double* to_im) {
  const int64_t part = g.s * g.m;
  for (int64_t p = 0; p < g.m; ++p) {
    double wr[4], wi[4];
    for (int k = 1; k < 4; ++k) {
      wr[k] = g.roots_re[p * k * g.step];
      wi[k] = g.roots_im[p * k * g.step];
    }
    const double *xr = re + g.s * p, *xi = im + g.s * p;
    double *yr = to_re + g.s * 4 * p, *yi = to_im + g.s * 4 * p;
    for (int64_t q = 0; q < g.s; q += kWidth) {
      for (int64_t l = q; l < q + kWidth; ++l) {
        const double sum02r = xr[l] + xr[l + 2 * part], sum02i = xi[l] + xi[l + 2 * part];
        const double dif02r = xr[l] - xr[l + 2 * part], dif02i = xi[l] - xi[l + 2 * part];
        const double sum13r = xr[l + part] + xr[l + 3 * part], sum13i = xi[l + part] + xi[l + 3 * part];
        const double dif13r = xr[l + part] - xr[l + 3 * part], dif13i = xi[l + part] - xi[l + 3 * part];
        const double b1r = dif02r + dif13i, b1i = dif02i - dif13r;  // minus i times the difference
        const double b2r = sum02r - sum13r, b2i = sum02i - sum13i;
        const double b3r = dif02r - dif13i, b3i = dif02i + dif13r;
        yr[l] = sum02r + sum13r;
        yi[l] = sum02i + sum13i;
        yr[l + g.s] = b1r * wr[1] - b1i * wi[1];
        yi[l + g.s] = b1r * wi[1] + b1i * wr[1];
        yr[l + 2 * g.s] = b2r * wr[2] - b2i * wi[2];
        yi[l + 2 * g.s] = b2r * wi[2] + b2i * wr[2];
        yr[l + 3 * g.s] = b3r * wr[3] - b3i * wi[3];
        yi[l + 3 * g.s] = b3r * wi[3] + b3i * wr[3];
      }
    }
  }
}

template <int kWidth>
void RadixAny(const Stage& g, int r, const double* re, const double* im, double* to_re, double* to_im) {
  const int64_t part = g.s * g.m, turn = g.n / r;
  for (int64_t p = 0; p < g.m; ++p) {
    for (int64_t q = 0; q < g.s; q += kWidth) {
      for (int k = 0; k < r; ++k) {
        double sum_re[kWidth] = {}, sum_im[kWidth] = {};
        for (int j = 0; j < r; ++j) {
          const double cr = g.roots_re[j * k % r * turn], ci = g.roots_im[j * k % r * turn];
          const double *xr = re + g.s * p + part * j + q, *xi = im + g.s * p + part * j + q;
          for (int l = 0; l < kWidth; ++l) {
            sum_re[l] += xr[l] * cr - xi[l] * ci;
            sum_im[l] += xr[l] * ci + xi[l] * cr;
          }
        }
        const double wr = g.roots_re[p * k * g.step], wi = g.roots_im[p * k * g.step];
        double *yr = to_re + g.s * (r * p + k) + q, *yi = to_im + g.s * (r * p + k) + q;
        for (int l = 0; l < kWidth; ++l) {
          yr[l] = sum_re[l] * wr - sum_im[l] * wi;
          yi[l] = sum_re[l] * wi + sum_im[l] * wr;
        }
      }
    }
  }
}

template <int kWidth>
void RunStage(const Stage& g, int r, const double* re, const double* im, double* to_re, double* to_im) {
  if (r == 2) return Radix2<kWidth>(g, re, im, to_re, to_im);
  if (r == 4) return Radix4<kWidth>(g, re, im, to_re, to_im);
  RadixAny<kWidth>(g, r, re, im, to_re, to_im);
}

}  // namespace

FourierFactors::FourierFactors(int64_t n) {
  for (; n % 4 == 0; n /= 4) values_[count_++] = 4;
  for (int p = 2; p <= kLargest; ++p)
    for (; n % p == 0; n /= p) values_[count_++] = p;
  if (n > 1) count_ = 0;
}

FourierTransform::FourierTransform(RuntimeContext& context, int64_t length, int64_t lines, bool inverse)
    : context_(context),
      length_(length),
      lines_(lines),
      lanes_(lines < kLanes / 2 ? 1 : kLanes),
      inverse_(inverse),
      padded_(length),
      factors_(length) {
  // Roots are found by products of a length and 8, and lanes are as many.
  if (length > (int64_t{1} << 40)) FailArgument("dft_length: must be at most 2^40, got " + std::to_string(length));
  if (length > 1 && factors_.all().empty()) {
    by_chirp_ = true;
    padded_ = 1;
    while (padded_ < 2 * length - 1) padded_ *= 2;
    factors_ = FourierFactors(padded_);
  }
  roots_ = MakeRoots(padded_);
  if (!by_chirp_) return;

  auto* chirp_re = Scratch<double>(context, length);
  auto* chirp_im = Scratch<double>(context, length);
  // t^2 modulo twice the length, from one t to the next.
  for (int64_t t = 0, square = 0; t < length; square = (square + 2 * t + 1) % (2 * length), ++t)
    Root(square, 2 * length, chirp_re[t], chirp_im[t]);
  chirp_re_ = chirp_re;
  chirp_im_ = chirp_im;
  double* room = Scratch<double>(context, 4 * padded_);
  std::fill_n(room, 2 * padded_, 0.);
  Planes planes{room, room + padded_, room + 2 * padded_, room + 3 * padded_};
  const double scale = 1 / static_cast<double>(padded_);
  for (int64_t t = 0; t < length; ++t) {
    const int64_t mirrored = t == 0 ? 0 : padded_ - t;
    planes.re[t] = planes.re[mirrored] = chirp_re[t] * scale;
    planes.im[t] = planes.im[mirrored] = -chirp_im[t] * scale;
  }
  const int64_t lanes = std::exchange(lanes_, 1);
  Stages(planes, roots_);
  lanes_ = lanes;
  filter_re_ = planes.re;
  filter_im_ = planes.im;
}

FourierTransform::Roots FourierTransform::MakeRoots(int64_t n) {
  auto* re = Scratch<double>(context_, n);
  auto* im = Scratch<double>(context_, n);
  context_.ParallelFor(n, 30, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) Root(t, n, re[t], im[t]);
  });
  return {re, im, n};
}

void FourierTransform::Transform(Planes& planes) const {
  // The inverse is the transform with the parts exchanged, before and after.
  if (inverse_) std::swap(planes.re, planes.im);
  if (by_chirp_)
    Chirp(planes);
  else
    Stages(planes, roots_);
  if (inverse_) std::swap(planes.re, planes.im);
}

void FourierTransform::Stages(Planes& planes, const Roots& roots) const {
  int64_t left = padded_;
  int64_t done = 1;
  for (const int r : factors_.all()) {
    const Stage stage{left / r, done * lanes_, done, roots.re, roots.im, roots.n};
    if (lanes_ == kLanes)
      RunStage<kLanes>(stage, r, planes.re, planes.im, planes.other_re, planes.other_im);
    else
      RunStage<1>(stage, r, planes.re, planes.im, planes.other_re, planes.other_im);
    std::swap(planes.re, planes.other_re);
    std::swap(planes.im, planes.other_im);
    left /= r;
    done *= r;
  }
}

// Bluestein: a transform of any length as a convolution with a chirp, by transforms of a power of two.
void FourierTransform::Chirp(Planes& planes) const {
  const auto multiply = [&](int64_t count, const double* re, const double* im) {
    for (int64_t t = 0; t < count; ++t) {
      for (int64_t i = t * lanes_; i < (t + 1) * lanes_; ++i) {
        const double real = planes.re[i];
        planes.re[i] = real * re[t] - planes.im[i] * im[t];
        planes.im[i] = real * im[t] + planes.im[i] * re[t];
      }
    }
  };
  multiply(length_, chirp_re_, chirp_im_);
  std::fill_n(planes.re + length_ * lanes_, (padded_ - length_) * lanes_, 0.);
  std::fill_n(planes.im + length_ * lanes_, (padded_ - length_) * lanes_, 0.);
  Stages(planes, roots_);
  multiply(padded_, filter_re_, filter_im_);
  std::swap(planes.re, planes.im);
  Stages(planes, roots_);
  std::swap(planes.re, planes.im);
  multiply(length_, chirp_re_, chirp_im_);
}

double FourierTransform::Cost() const {
  double steps = 4;
  for (const int r : factors_.all()) steps += r <= 4 ? 2 : r;
  return steps * static_cast<double>(padded_ * lanes_) * (by_chirp_ ? 2 : 1);
}

}  // namespace light
