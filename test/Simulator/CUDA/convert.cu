//===- convert.cu - Conversions and small floats against the CUDA headers -===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %run_in_simulator | FileCheck %s
// CHECK: convert: 965536 checks passed, 0 failed

#include "TestSupport.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
// 16-bit and 8-bit float conversions and arithmetic, against the host side of
// the CUDA headers and a double-precision reference.
__global__ void kcv(const float *A, const float *B, uint16_t *O, float *P,
                    int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float a = A[i], b = B[i];
  uint16_t *o = O + i * 24;
  float *p = P + i * 16;
  int k = 0, q = 0;
  o[k++] = __half_as_ushort(__float2half_rn(a));
  o[k++] = __half_as_ushort(__float2half_rz(a));
  o[k++] = __half_as_ushort(__float2half_ru(a));
  o[k++] = __half_as_ushort(__float2half_rd(a));
  o[k++] = __bfloat16_as_ushort(__float2bfloat16_rn(a));
  o[k++] = __bfloat16_as_ushort(__float2bfloat16_rz(a));
  o[k++] = __bfloat16_as_ushort(__float2bfloat16_ru(a));
  o[k++] = __bfloat16_as_ushort(__float2bfloat16_rd(a));
  {
    __half2 h = __floats2half2_rn(a, b);
    o[k++] = __half_as_ushort(h.x);
    o[k++] = __half_as_ushort(h.y);
  }
  {
    __nv_bfloat162 h = __floats2bfloat162_rn(a, b);
    o[k++] = __bfloat16_as_ushort(h.x);
    o[k++] = __bfloat16_as_ushort(h.y);
  }
  o[k++] =
      __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E4M3);
  o[k++] =
      __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E5M2);
  {
    __half2 h = __floats2half2_rn(a, b);
    o[k++] = __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E4M3);
    o[k++] = __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E5M2);
  }
  unsigned t;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(t) : "f"(a));
  p[q++] = __uint_as_float(t);
  asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(t) : "f"(b), "f"(a));
  o[k++] = t;
  o[k++] = t >> 16;
  asm("{.reg .f16 h; cvt.rn.sat.f16.f32 h, %1; mov.b16 %0, h;}"
      : "=h"(o[k])
      : "f"(a));
  k++;
  p[q++] = __half2float(__float2half_rn(a));
  p[q++] = __bfloat162float(__float2bfloat16_rn(a));
}
__global__ void kh(const uint16_t *A, const uint16_t *B, const uint16_t *C,
                   uint16_t *O, uint16_t *Q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int k = 0;
  uint16_t *o = O + i * 16;
  __half a = __ushort_as_half(A[i]), b = __ushort_as_half(B[i]),
         c = __ushort_as_half(C[i]);
  o[k++] = __half_as_ushort(__hadd(a, b));
  o[k++] = __half_as_ushort(__hsub(a, b));
  o[k++] = __half_as_ushort(__hmul(a, b));
  o[k++] = __half_as_ushort(__hfma(a, b, c));
  o[k++] = __half_as_ushort(__hmin(a, b));
  o[k++] = __half_as_ushort(__hmax(a, b));
  o[k++] = __half_as_ushort(__hmin_nan(a, b));
  o[k++] = __half_as_ushort(__hmax_nan(a, b));
  o[k++] = __half_as_ushort(__hneg(a));
  o[k++] = __half_as_ushort(__habs(a));
  __half2 v =
      __hfma2(__halves2half2(a, b), __halves2half2(b, c), __halves2half2(c, a));
  o[k++] = __half_as_ushort(v.x);
  o[k++] = __half_as_ushort(v.y);
  o[k++] = __hlt(a, b) | __hge(a, b) << 1 | __heq(a, b) << 2 |
           __hne(a, b) << 3 | __hgtu(a, b) << 4;
  uint16_t *q = Q + i * 16;
  k = 0;
  __nv_bfloat16 x = __ushort_as_bfloat16(A[i]), y = __ushort_as_bfloat16(B[i]),
                z = __ushort_as_bfloat16(C[i]);
  q[k++] = __bfloat16_as_ushort(__hadd(x, y));
  q[k++] = __bfloat16_as_ushort(__hsub(x, y));
  q[k++] = __bfloat16_as_ushort(__hmul(x, y));
  q[k++] = __bfloat16_as_ushort(__hfma(x, y, z));
  q[k++] = __bfloat16_as_ushort(__hmin(x, y));
  q[k++] = __bfloat16_as_ushort(__hmax(x, y));
  q[k++] = __bfloat16_as_ushort(__hmin_nan(x, y));
  q[k++] = __bfloat16_as_ushort(__hmax_nan(x, y));
  q[k++] = __bfloat16_as_ushort(__hneg(x));
  q[k++] = __bfloat16_as_ushort(__habs(x));
  __nv_bfloat162 w = __hfma2(__halves2bfloat162(x, y), __halves2bfloat162(y, z),
                             __halves2bfloat162(z, x));
  q[k++] = __bfloat16_as_ushort(w.x);
  q[k++] = __bfloat16_as_ushort(w.y);
  q[k++] = __hlt(x, y) | __hge(x, y) << 1 | __heq(x, y) << 2 |
           __hne(x, y) << 3 | __hgtu(x, y) << 4;
}
__global__ void k8(uint32_t *O) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(i, __NV_E4M3),
              g = __nv_cvt_fp8x2_to_halfraw2(i, __NV_E5M2);
  O[2 * i] = h.x | (uint32_t)h.y << 16;
  O[2 * i + 1] = g.x | (uint32_t)g.y << 16;
}
static bool same16(uint16_t a, uint16_t b, int inf) {
  return a == b || ((a & 0x7fff) > inf && (b & 0x7fff) > inf);
}
// round a long double sum exactly to a small format by searching neighbours
static uint16_t roundTo(long double x, bool bf) {
  if (x != x)
    return 0x7fff;
  auto val = [&](uint16_t h) -> long double {
    return bf ? (long double)bf2f_h(h)
              : (long double)__half2float(__ushort_as_half(h));
  };
  bool neg = std::signbit(x);
  long double a = fabsl(x);
  uint16_t lo = 0, hi = bf ? 0x7f80 : 0x7c00; // hi = inf
  long double mx = val(hi - 1), ulp = mx - val(hi - 2);
  if (a >= mx + ulp / 2)
    return (neg ? 0x8000 : 0) | hi;
  while (hi - lo > 1) {
    uint16_t m = (lo + hi) / 2;
    if (m == (bf ? 0x7f80 : 0x7c00) || val(m) > a)
      hi = m;
    else
      lo = m;
  }
  long double vl = val(lo),
              vh = hi == (bf ? 0x7f80 : 0x7c00) ? mx + ulp : val(hi);
  uint16_t r = a - vl < vh - a ? lo : a - vl > vh - a ? hi : (lo & 1) ? hi : lo;
  return (neg ? 0x8000 : 0) | r;
}
int main() {
  std::mt19937 g(3);
  int n = 6000;
  std::vector<float> a(n), b(n);
  uint32_t sp[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                   0x7fc00000, 0x477fe000, 0x477ff000, 0x33000000,
                   0x33800000, 0x38800000, 0x43e00000, 0x43f00000,
                   0x47600000, 0x47700000, 0x3b000000, 0x3a800000};
  for (int i = 0; i < n; i++) {
    auto r = [&]() {
      int m = g() % 5;
      uint32_t v = g();
      if (m == 0)
        return bitsf(sp[v % 16]);
      if (m == 1)
        return bitsf(v);
      if (m == 2)
        return bitsf((v & 0x807fffff) | ((100 + v % 50) << 23));
      if (m == 3)
        return bitsf((v & 0x80ff0000) | 0x3f000000 | ((v & 1) << 15));
      return (int)v * 1e-6f;
    };
    a[i] = r();
    b[i] = r();
  }
  auto *O = dev<uint16_t>(n * 24);
  auto *P = dev<float>(n * 16);
  kcv<<<(n + 127) / 128, 128>>>(up(a), up(b), O, P, n);
  SYNC();
  auto o = down(O, n * 24);
  auto p = down(P, n * 16);
  for (int i = 0; i < n; i++) {
    uint16_t r[24];
    int k = 0;
    float A = a[i], B = b[i];
    r[k++] = __half_as_ushort(__float2half_rn(A));
    r[k++] = __half_as_ushort(__float2half_rz(A));
    r[k++] = __half_as_ushort(__float2half_ru(A));
    r[k++] = __half_as_ushort(__float2half_rd(A));
    int nh = k;
    r[k++] = __bfloat16_as_ushort(__float2bfloat16_rn(A));
    r[k++] = __bfloat16_as_ushort(__float2bfloat16_rz(A));
    r[k++] = __bfloat16_as_ushort(__float2bfloat16_ru(A));
    r[k++] = __bfloat16_as_ushort(__float2bfloat16_rd(A));
    r[k++] = __half_as_ushort(__float2half_rn(A));
    r[k++] = __half_as_ushort(__float2half_rn(B));
    r[k++] = __bfloat16_as_ushort(__float2bfloat16_rn(A));
    r[k++] = __bfloat16_as_ushort(__float2bfloat16_rn(B));
    for (int q = 0; q < k; q++) {
      bool hf = q < nh || q == 8 || q == 9;
      CHECK(same16(o[i * 24 + q], r[q], hf ? 0x7c00 : 0x7f80),
            "cvt %d of %a got %04x want %04x", q, q == 9 || q == 11 ? B : A,
            o[i * 24 + q], r[q]);
    }
    uint16_t e[4] = {
        __nv_cvt_float2_to_fp8x2(make_float2(A, B), __NV_SATFINITE, __NV_E4M3),
        __nv_cvt_float2_to_fp8x2(make_float2(A, B), __NV_SATFINITE, __NV_E5M2),
        0, 0};
    __half2 h = __floats2half2_rn(A, B);
    e[2] = __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E4M3);
    e[3] = __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E5M2);
    for (int q = 0; q < 4; q++)
      CHECK(o[i * 24 + 12 + q] == e[q], "fp8 %d of %a,%a got %04x want %04x", q,
            A, B, o[i * 24 + 12 + q], e[q]);
    float t = A;
    if (A == A && !std::isinf(A))
      t = bitsf((fbits(A) + 0x1000) & ~0x1fffu);
    CHECK(same(p[i * 16], t), "tf32");
    float ra = A < 0 ? 0 : A, rb = B < 0 ? 0 : B;
    if (ra == 0)
      ra = 0;
    CHECK(same16(o[i * 24 + 16], f2bf_h(ra + 0.f), 0x7f80) &&
              same16(o[i * 24 + 17], f2bf_h(rb + 0.f), 0x7f80),
          "relu bf16x2 %a %a", A, B);
    float s = A != A ? 0 : A < 0 ? 0 : A > 1 ? 1 : A;
    CHECK(o[i * 24 + 18] == __half_as_ushort(__float2half_rn(s + 0.f)),
          "sat f16 %a got %04x", A, o[i * 24 + 18]);
    CHECK(same(p[i * 16 + 1], __half2float(__float2half_rn(A))) &&
              same(p[i * 16 + 2], __bfloat162float(__float2bfloat16_rn(A))),
          "widen");
  }
  int m = 30000;
  std::vector<uint16_t> x(m), y(m), z(m);
  for (int i = 0; i < m; i++) {
    auto r = [&]() {
      uint16_t v = g();
      int c = g() % 4;
      return (uint16_t)(c == 0   ? (v & 0x83ff)
                        : c == 1 ? (v & 0x8fff) | 0x3000
                                 : v);
    };
    x[i] = r();
    y[i] = r();
    z[i] = r();
  }
  auto *OH = dev<uint16_t>(m * 16), *OB = dev<uint16_t>(m * 16);
  kh<<<(m + 255) / 256, 256>>>(up(x), up(y), up(z), OH, OB, m);
  SYNC();
  auto oh = down(OH, m * 16), ob = down(OB, m * 16);
  for (int i = 0; i < m; i++)
    for (int bf = 0; bf < 2; bf++) {
      auto val = [&](uint16_t h) -> long double {
        return bf ? (long double)bf2f_h(h)
                  : (long double)__half2float(__ushort_as_half(h));
      };
      uint16_t *q = bf ? &ob[i * 16] : &oh[i * 16];
      long double A = val(x[i]), B = val(y[i]), C = val(z[i]);
      int inf = bf ? 0x7f80 : 0x7c00;
      auto f3 = [&](long double a_, long double b_,
                    long double c_) -> uint16_t {
        long double pr = a_ * b_;
        long double s = pr + c_;
        if (s == 0 && !(pr == 0 && c_ == 0)) {
        }
        // exact sum of two long doubles, sticky via round-to-odd when it does
        // not fit
        if (std::isfinite((double)s) || std::isfinite(s)) {
          long double bb = s - pr, er = (pr - (s - bb)) + (c_ - bb);
          if (er != 0) {
            uint64_t mant;
            memcpy(&mant, &s, 8);
            return roundTo(
                mant & 1 ? s : nextafterl(s, er > 0 ? INFINITY : -INFINITY),
                bf);
          }
        }
        return roundTo(s, bf);
      };
      bool nan = A != A || B != B;
      uint16_t r[13];
      r[0] = roundTo(A + B, bf);
      r[1] = roundTo(A - B, bf);
      r[2] = roundTo(A * B, bf);
      r[3] = f3(A, B, C);
      auto mm = [&](bool mx) -> uint16_t {
        if (A != A)
          return y[i];
        if (B != B)
          return x[i];
        if (A == 0 && B == 0)
          return mx ? (x[i] & y[i]) : (x[i] | y[i]);
        return (A < B) != mx ? x[i] : y[i];
      };
      r[4] = mm(false);
      r[5] = mm(true);
      r[6] = nan ? 0x7fff : mm(false);
      r[7] = nan ? 0x7fff : mm(true);
      r[8] = x[i] ^ 0x8000;
      r[9] = x[i] & 0x7fff;
      r[10] = f3(A, B, C);
      r[11] = f3(B, C, A);
      r[12] = (A < B) | (A >= B) << 1 | (A == B) << 2 | (!nan && A != B) << 3 |
              (!(A <= B)) << 4;
      for (int k = 0; k < 13; k++)
        CHECK(k == 12 ? q[k] == r[k] : same16(q[k], r[k], inf),
              "%s op %d x=%04x y=%04x z=%04x got %04x want %04x",
              bf ? "bf16" : "f16", k, x[i], y[i], z[i], q[k], r[k]);
    }
  auto *E = dev<uint32_t>(131072);
  k8<<<256, 256>>>(E);
  SYNC();
  auto e = down(E, 131072);
  for (int i = 0; i < 65536; i++) {
    __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(i, __NV_E4M3),
                q = __nv_cvt_fp8x2_to_halfraw2(i, __NV_E5M2);
    auto eq = [&](uint32_t v, __half2_raw w) {
      return same16(v, w.x, 0x7c00) && same16(v >> 16, w.y, 0x7c00);
    };
    CHECK(eq(e[2 * i], h) && eq(e[2 * i + 1], q), "fp8 -> f16 %04x", i);
  }
  DONE("convert");
}
