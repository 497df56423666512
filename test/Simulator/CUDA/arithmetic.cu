//===- arithmetic.cu - Integer and float arithmetic against the host ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %run_in_simulator | FileCheck %s
// CHECK: arithmetic: 459374 checks passed, 0 failed

#include "TestSupport.h"
#include <algorithm>
#include <cfenv>
#include <climits>
// ---- integer
struct IOut {
  uint32_t v[48];
  uint64_t w[24];
};
__device__ __noinline__ uint32_t helper(uint32_t a, int n) {
  uint32_t r = a;
  for (int i = 0; i < n; i++)
    r = r * 1664525u + 1013904223u;
  return r;
}
__global__ void kint(const uint32_t *A, const uint32_t *B, const uint32_t *C,
                     IOut *O, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  uint32_t a = A[i], b = B[i], c = C[i];
  IOut &o = O[i];
  int sa = a, sb = b;
  uint64_t A64 = (uint64_t)a << 32 | c, B64 = (uint64_t)b << 32 | a;
  int k = 0, q = 0;
  uint32_t t;
  uint64_t T;
  o.v[k++] = a + b;
  o.v[k++] = a - b;
  o.v[k++] = a * b;
  o.v[k++] = __umulhi(a, b);
  o.v[k++] = __mulhi(sa, sb);
  o.v[k++] = b ? a / b : 0;
  o.v[k++] = b ? a % b : 0;
  o.v[k++] = (b && !(sa == INT_MIN && sb == -1)) ? sa / sb : 0;
  o.v[k++] = (b && !(sa == INT_MIN && sb == -1)) ? sa % sb : 0;
  o.v[k++] = a << (c & 31);
  o.v[k++] = a >> (c & 31);
  o.v[k++] = sa >> (c & 31);
  o.v[k++] = __popc(a);
  o.v[k++] = __clz(a);
  o.v[k++] = __brev(a);
  o.v[k++] = __ffs(a);
  o.v[k++] = min(sa, sb);
  o.v[k++] = max(sa, sb);
  o.v[k++] = min(a, b);
  o.v[k++] = max(a, b);
  o.v[k++] = abs(sa);
  o.v[k++] = __funnelshift_l(a, b, c);
  o.v[k++] = __funnelshift_r(a, b, c);
  o.v[k++] = __funnelshift_lc(a, b, c & 63);
  o.v[k++] = __funnelshift_rc(a, b, c & 63);
  o.v[k++] = __byte_perm(a, b, c & 0x7777);
  o.v[k++] = __sad(sa, sb, c);
  o.v[k++] = __dp4a((int)a, (int)b, (int)c);
  o.v[k++] = __dp4a(a, b, c);
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(t) : "r"(a), "r"(b & 31), "r"(c & 31));
  o.v[k++] = t;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(t) : "r"(a), "r"(b & 31), "r"(c & 31));
  o.v[k++] = t;
  asm("bfi.b32 %0, %1, %2, %3, %4;"
      : "=r"(t)
      : "r"(a), "r"(b), "r"(c & 31), "r"((c >> 8) & 31));
  o.v[k++] = t;
  asm("bfind.u32 %0, %1;" : "=r"(t) : "r"(a));
  o.v[k++] = t;
  asm("bfind.s32 %0, %1;" : "=r"(t) : "r"(a));
  o.v[k++] = t;
  asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(t) : "r"(a), "r"(b), "r"(c));
  o.v[k++] = t;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(t) : "r"(a), "r"(b), "r"(c));
  o.v[k++] = t;
  asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(t) : "r"(a), "r"(b), "r"(c));
  o.v[k++] = t;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(t) : "r"(a), "r"(b));
  o.v[k++] = t;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(t) : "r"(a), "r"(b), "r"(c));
  o.v[k++] = t;
  asm("prmt.b32 %0, %1, %2, 0xBA98;" : "=r"(t) : "r"(a), "r"(b));
  o.v[k++] = t;
  o.v[k++] = (uint32_t)(int)(signed char)a;
  o.v[k++] = (uint32_t)(short)b;
  o.v[k++] = (uint16_t)c;
  o.v[k++] = helper(a, c & 7);
  o.w[q++] = A64 + B64;
  o.w[q++] = A64 - B64;
  o.w[q++] = A64 * B64;
  o.w[q++] = __umul64hi(A64, B64);
  o.w[q++] = __mul64hi((long long)A64, (long long)B64);
  o.w[q++] = B64 ? A64 / B64 : 0;
  o.w[q++] = (uint64_t)a * b;
  o.w[q++] = (int64_t)sa * sb;
  o.w[q++] = A64 >> (c & 63);
  o.w[q++] = (int64_t)A64 >> (c & 63);
  o.w[q++] = A64 << (c & 63);
  o.w[q++] = __popcll(A64);
  o.w[q++] = __clzll(A64);
  o.w[q++] = __brevll(A64);
  o.w[q++] = (uint64_t)a * b + A64;
  asm("{ .reg .u32 l,h; .reg .u32 al,ah,bl,bh; mov.b64 {al,ah}, %1; mov.b64 "
      "{bl,bh}, %2; add.cc.u32 l, al, bl; addc.u32 h, ah, bh; mov.b64 %0, "
      "{l,h}; }"
      : "=l"(T)
      : "l"(A64), "l"(B64));
  o.w[q++] = T;
  asm("{ .reg .u32 l,h; .reg .u32 al,ah,bl,bh; mov.b64 {al,ah}, %1; mov.b64 "
      "{bl,bh}, %2; sub.cc.u32 l, al, bl; subc.u32 h, ah, bh; mov.b64 %0, "
      "{l,h}; }"
      : "=l"(T)
      : "l"(A64), "l"(B64));
  o.w[q++] = T;
}
static uint32_t perm(uint32_t a, uint32_t b, uint32_t s) {
  uint64_t v = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t n = (s >> 4 * i) & 15;
    uint8_t x = v >> 8 * (n & 7);
    if (n & 8)
      x = x & 0x80 ? 0xFF : 0;
    r |= (uint32_t)x << 8 * i;
  }
  return r;
}
static void refint(uint32_t a, uint32_t b, uint32_t c, IOut &o) {
  int sa = a, sb = b;
  uint64_t A64 = (uint64_t)a << 32 | c, B64 = (uint64_t)b << 32 | a;
  int k = 0, q = 0;
  typedef unsigned __int128 X;
  auto clz = [](uint32_t x) { return x ? __builtin_clz(x) : 32; };
  auto brev = [](uint64_t x, int n) {
    uint64_t r = 0;
    for (int i = 0; i < n; i++)
      if (x >> i & 1)
        r |= 1ull << (n - 1 - i);
    return r;
  };
  o.v[k++] = a + b;
  o.v[k++] = a - b;
  o.v[k++] = a * b;
  o.v[k++] = (uint64_t)a * b >> 32;
  o.v[k++] = (int64_t)sa * sb >> 32;
  o.v[k++] = b ? a / b : 0;
  o.v[k++] = b ? a % b : 0;
  bool ok = b && !(sa == INT_MIN && sb == -1);
  o.v[k++] = ok ? sa / sb : 0;
  o.v[k++] = ok ? sa % sb : 0;
  o.v[k++] = a << (c & 31);
  o.v[k++] = a >> (c & 31);
  o.v[k++] = sa >> (c & 31);
  o.v[k++] = __builtin_popcount(a);
  o.v[k++] = clz(a);
  o.v[k++] = brev(a, 32);
  o.v[k++] = __builtin_ffs(a);
  o.v[k++] = std::min(sa, sb);
  o.v[k++] = std::max(sa, sb);
  o.v[k++] = std::min(a, b);
  o.v[k++] = std::max(a, b);
  o.v[k++] = sa < 0 ? 0u - a : a;
  uint64_t f = (uint64_t)b << 32 | a;
  o.v[k++] = (f << (c & 31)) >> 32;
  o.v[k++] = f >> (c & 31);
  uint32_t cc = std::min(c & 63, 32u);
  o.v[k++] = (f << cc) >> 32;
  o.v[k++] = cc == 32 ? b : (uint32_t)(f >> cc);
  o.v[k++] = perm(a, b, c & 0x7777);
  o.v[k++] = c + (uint32_t)std::llabs((long long)sa - sb);
  {
    int s = c;
    uint32_t u = c;
    for (int i = 0; i < 4; i++) {
      s += (int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i);
      u += (uint8_t)(a >> 8 * i) * (uint8_t)(b >> 8 * i);
    }
    o.v[k++] = s;
    o.v[k++] = u;
  }
  uint32_t p = b & 31, n = c & 31;
  {
    uint64_t x = (uint64_t)a >> p;
    uint32_t r = n ? (uint32_t)(x & ((1ull << n) - 1)) : 0;
    o.v[k++] = r;
    uint32_t sp = std::min(p + n - 1, 31u);
    bool sg = n && (a >> sp & 1);
    uint32_t av = std::min(n, 32 - p);
    uint32_t r2 =
        n ? (uint32_t)((a >> p) & (av >= 32 ? ~0u : (1u << av) - 1)) : 0;
    if (sg && av < 32)
      r2 |= ~((1u << av) - 1);
    o.v[k++] = r2;
  }
  {
    uint32_t pp = c & 31, nn = (c >> 8) & 31;
    uint32_t m = (uint32_t)(((1ull << nn) - 1) << pp);
    o.v[k++] = (b & ~m) | ((a << pp) & m);
  }
  o.v[k++] = a ? 31 - clz(a) : ~0u;
  {
    uint32_t x = sa < 0 ? ~a : a;
    o.v[k++] = x ? 31 - clz(x) : ~0u;
  }
  o.v[k++] = (a & b) | (~a & c);
  o.v[k++] = a ^ b ^ c;
  o.v[k++] = (uint32_t)((uint64_t)a * b >> 32) + c;
  {
    int64_t s = (int64_t)sa + sb;
    o.v[k++] =
        (uint32_t)std::max<int64_t>(std::min<int64_t>(s, INT_MAX), INT_MIN);
  }
  {
    int z = c & 3;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++)
      r |= (uint32_t)(uint8_t)(f >> 8 * (z + i)) << 8 * i;
    o.v[k++] = r;
  }
  o.v[k++] = perm(a, b, 0xBA98);
  o.v[k++] = (uint32_t)(int)(signed char)a;
  o.v[k++] = (uint32_t)(short)b;
  o.v[k++] = (uint16_t)c;
  uint32_t h = a;
  for (uint32_t i = 0; i < (c & 7); i++)
    h = h * 1664525u + 1013904223u;
  o.v[k++] = h;
  o.w[q++] = A64 + B64;
  o.w[q++] = A64 - B64;
  o.w[q++] = A64 * B64;
  o.w[q++] = (uint64_t)((X)A64 * B64 >> 64);
  o.w[q++] = (uint64_t)((__int128)(int64_t)A64 * (int64_t)B64 >> 64);
  o.w[q++] = B64 ? A64 / B64 : 0;
  o.w[q++] = (uint64_t)a * b;
  o.w[q++] = (int64_t)sa * sb;
  o.w[q++] = A64 >> (c & 63);
  o.w[q++] = (int64_t)A64 >> (c & 63);
  o.w[q++] = A64 << (c & 63);
  o.w[q++] = __builtin_popcountll(A64);
  o.w[q++] = A64 ? __builtin_clzll(A64) : 64;
  o.w[q++] = brev(A64, 64);
  o.w[q++] = (uint64_t)a * b + A64;
  o.w[q++] = A64 + B64;
  o.w[q++] = A64 - B64;
}
// ---- float
struct FOut {
  float v[40];
  double d[12];
  int i[24];
  long long l[8];
};
__global__ void kflt(const float *A, const float *B, const float *C, FOut *O,
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float a = A[i], b = B[i], c = C[i];
  FOut &o = O[i];
  int k = 0;
  o.v[k++] = __fadd_rn(a, b);
  o.v[k++] = __fadd_rz(a, b);
  o.v[k++] = __fadd_ru(a, b);
  o.v[k++] = __fadd_rd(a, b);
  o.v[k++] = __fmul_rn(a, b);
  o.v[k++] = __fmul_rz(a, b);
  o.v[k++] = __fmul_ru(a, b);
  o.v[k++] = __fmul_rd(a, b);
  o.v[k++] = __fmaf_rn(a, b, c);
  o.v[k++] = __fmaf_rz(a, b, c);
  o.v[k++] = __fmaf_ru(a, b, c);
  o.v[k++] = __fmaf_rd(a, b, c);
  o.v[k++] = __fdiv_rn(a, b);
  o.v[k++] = __fsqrt_rn(fabsf(a));
  o.v[k++] = __frcp_rn(a);
  o.v[k++] = __fdiv_rz(a, b);
  o.v[k++] = fminf(a, b);
  o.v[k++] = fmaxf(a, b);
  float t;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(t) : "f"(a), "f"(b));
  o.v[k++] = t;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(t) : "f"(a), "f"(b));
  o.v[k++] = t;
  asm("add.sat.f32 %0, %1, %2;" : "=f"(t) : "f"(a), "f"(b));
  o.v[k++] = t;
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(t) : "f"(a), "f"(b));
  o.v[k++] = t;
  asm("mul.ftz.f32 %0, %1, %2;" : "=f"(t) : "f"(a), "f"(b));
  o.v[k++] = t;
  o.v[k++] = rintf(a);
  o.v[k++] = floorf(a);
  o.v[k++] = ceilf(a);
  o.v[k++] = truncf(a);
  o.v[k++] = copysignf(a, b);
  o.v[k++] = (float)(a < b) + 2 * (float)(a >= b) + 4 * (float)(a == b) +
             8 * (float)(a != b) + 16 * (float)(!(a < b));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(t) : "f"(c));
  o.v[k++] = t;
  asm("lg2.approx.f32 %0, %1;" : "=f"(t) : "f"(fabsf(a)));
  o.v[k++] = t;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(t) : "f"(fabsf(a)));
  o.v[k++] = t;
  asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(c));
  o.v[k++] = t;
  int d = 0;
  o.d[d++] = (double)a + b;
  o.d[d++] = (double)a * b;
  o.d[d++] = fma((double)a, (double)b, (double)c);
  o.d[d++] = (double)a / b;
  o.d[d++] = sqrt(fabs((double)a));
  o.v[k++] = __double2float_rn((double)a * b);
  o.v[k++] = __double2float_rz((double)a * b);
  o.v[k++] = __double2float_ru((double)a * b);
  int q = 0;
  o.i[q++] = __float2int_rn(a);
  o.i[q++] = __float2int_rz(a);
  o.i[q++] = __float2int_ru(a);
  o.i[q++] = __float2int_rd(a);
  o.i[q++] = (int)__float2uint_rn(a);
  o.i[q++] = (int)__float2uint_rz(a);
  o.i[q++] = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 |
             (a == b) << 4 | (a != b) << 5 | isnan(a) << 6 | isinf(a) << 7;
  {
    unsigned p;
    asm("{.reg .pred p; setp.ltu.f32 p, %1, %2; selp.u32 %0, 1, 0, p;}"
        : "=r"(p)
        : "f"(a), "f"(b));
    o.i[q++] = p;
    asm("{.reg .pred p,q; setp.gt.and.f32 p|q, %1, %2, 1; selp.u32 %0, 2, 0, "
        "p; @q add.u32 %0, %0, 5;}"
        : "=r"(p)
        : "f"(a), "f"(b));
    o.i[q++] = p;
  }
  o.v[k++] = __int2float_rn(__float_as_int(a));
  o.v[k++] = __uint2float_rz(__float_as_uint(a));
  o.l[0] = __float2ll_rn(a);
  o.l[1] = __float2ll_rz(a);
  o.l[2] = (long long)__float2ull_rn(a);
  o.l[3] = __double2ll_rz((double)a * 1e10);
}
#pragma GCC push_options
static float ftz(float x) {
  return fabsf(x) < 1.17549435e-38f ? copysignf(0, x) : x;
}
template <class F>
static auto rnd(int m, F f) {
  int o = fegetround();
  fesetround(m);
  auto r = f();
  fesetround(o);
  return r;
}
int main() {
  std::mt19937 g(1);
  int n = 4000;
  std::vector<uint32_t> a(n), b(n), c(n);
  uint32_t sp[] = {0,          1,          2,          31,     32,
                   0x7fffffff, 0x80000000, 0xffffffff, 0xffff, 0x10000};
  for (int i = 0; i < n; i++) {
    auto r = [&]() {
      uint32_t v = g();
      int m = g() % 6;
      return m == 0 ? sp[v % 10] : m == 1 ? v & 0xff : v;
    };
    a[i] = r();
    b[i] = r();
    c[i] = r();
  }
  auto *da = up(a), *db = up(b), *dc = up(c);
  auto *O = dev<IOut>(n);
  kint<<<(n + 127) / 128, 128>>>(da, db, dc, O, n);
  SYNC();
  auto o = down(O, n);
  for (int i = 0; i < n; i++) {
    IOut r;
    memset(&r, 0, sizeof r);
    refint(a[i], b[i], c[i], r);
    for (int k = 0; k < 44; k++)
      CHECK(o[i].v[k] == r.v[k],
            "int op %d a=%08x b=%08x c=%08x got %08x want %08x", k, a[i], b[i],
            c[i], o[i].v[k], r.v[k]);
    for (int k = 0; k < 17; k++)
      CHECK(o[i].w[k] == r.w[k],
            "int64 op %d a=%08x b=%08x c=%08x got %llx want %llx", k, a[i],
            b[i], c[i], (long long)o[i].w[k], (long long)r.w[k]);
  }
  std::vector<float> fa(n), fbv(n), fc(n);
  uint32_t fsp[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                    1,          0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
                    0x4f000000, 0xcf000000, 0x3f000000, 0x40200000};
  for (int i = 0; i < n; i++) {
    auto r = [&]() {
      int m = g() % 6;
      uint32_t v = g();
      if (m == 0)
        return bitsf(fsp[v % 14]);
      if (m == 1)
        return bitsf(v);
      if (m == 2)
        return ((int)(v % 2001) - 1000) * 0.5f;
      return ((int)v) * 1e-7f;
    };
    fa[i] = r();
    fbv[i] = r();
    fc[i] = r();
  }
  auto *F = dev<FOut>(n);
  kflt<<<(n + 127) / 128, 128>>>(up(fa), up(fbv), up(fc), F, n);
  SYNC();
  auto f = down(F, n);
  for (int i = 0; i < n; i++) {
    volatile float A = fa[i], B = fbv[i], C = fc[i];
    float r[40];
    int k = 0;
    int M[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    for (int m : M)
      r[k++] = rnd(m, [&] {
        volatile float x = A + B;
        return (float)x;
      });
    for (int m : M)
      r[k++] = rnd(m, [&] {
        volatile float x = A * B;
        return (float)x;
      });
    for (int m : M)
      r[k++] = rnd(m, [&] {
        volatile float x = fmaf(A, B, C);
        return (float)x;
      });
    r[k++] = A / B;
    r[k++] = sqrtf(fabsf(A));
    r[k++] = 1 / A;
    r[k++] = rnd(FE_TOWARDZERO, [&] {
      volatile float x = A / B;
      return (float)x;
    });
    auto mn = [&](bool mx) {
      if (A != A)
        return (float)B;
      if (B != B)
        return (float)A;
      if (A == 0 && B == 0)
        return mx ? (std::signbit(A) ? (float)B : (float)A)
                  : (std::signbit(A) ? (float)A : (float)B);
      return mx ? std::max<float>((float)A, (float)B)
                : std::min<float>((float)A, (float)B);
    };
    r[k++] = mn(false);
    r[k++] = mn(true);
    bool nn = A != A || B != B;
    r[k++] = nn ? NAN : mn(false);
    r[k++] = nn ? NAN : mn(true);
    float s = A + B;
    r[k++] = s != s ? 0 : s <= 0 ? 0.f : s > 1 ? 1.f : s;
    r[k++] = ftz(ftz(A) + ftz(B));
    r[k++] = ftz(ftz(A) * ftz(B));
    r[k++] = rintf(A);
    r[k++] = floorf(A);
    r[k++] = ceilf(A);
    r[k++] = truncf(A);
    r[k++] = copysignf(A, B);
    r[k++] = (float)(A < B) + 2 * (float)(A >= B) + 4 * (float)(A == B) +
             8 * (float)(A != B) + 16 * (float)(!(A < B));
    for (int q = 0; q < k; q++)
      CHECK(same(f[i].v[q], r[q]), "float op %d a=%a b=%a c=%a got %a want %a",
            q, A, B, C, f[i].v[q], r[q]);
    auto near = [&](float x, double y) {
      if (std::isnan(y))
        return std::isnan(x);
      if (std::isinf(y) || fabs(y) > 3.4e38)
        return std::isinf(x);
      if (fabs(y) < 1.2e-38)
        return fabs(x) < 2.4e-38;
      return fabs(x - y) <= 3e-7 * fabs(y) + 1e-7 * 0;
    };
    CHECK(near(f[i].v[k], exp2((double)C)), "ex2 %a", C);
    k++;
    CHECK(near(f[i].v[k], log2(fabs((double)A))) ||
              fabs(f[i].v[k] - log2(fabs((double)A))) < 1e-6,
          "lg2 %a got %a", A, f[i].v[k]);
    k++;
    CHECK(near(f[i].v[k], 1 / sqrt(fabs((double)A))), "rsqrt %a", A);
    k++;
    CHECK(near(f[i].v[k], tanh((double)C)), "tanh %a", C);
    k++;
    double D[5] = {(double)A + B, (double)A * B,
                   fma((double)A, (double)B, (double)C), (double)A / B,
                   sqrt(fabs((double)A))};
    for (int q = 0; q < 5; q++)
      CHECK(f[i].d[q] == D[q] || (D[q] != D[q] && f[i].d[q] != f[i].d[q]),
            "double op %d", q);
    volatile double P = (double)A * B;
    CHECK(same(f[i].v[k], (float)P), "d2f rn");
    k++;
    CHECK(same(f[i].v[k], rnd(FE_TOWARDZERO,
                              [&] {
                                volatile float x = (float)P;
                                return (float)x;
                              })),
          "d2f rz");
    k++;
    CHECK(same(f[i].v[k], rnd(FE_UPWARD,
                              [&] {
                                volatile float x = (float)P;
                                return (float)x;
                              })),
          "d2f ru");
    k++;
    auto ci = [&](double x) {
      if (A != A)
        return 0;
      if (x >= 2147483647.0)
        return INT_MAX;
      if (x <= -2147483648.0)
        return INT_MIN;
      return (int)x;
    };
    auto cu = [&](double x) {
      if (A != A || x <= 0)
        return 0u;
      if (x >= 4294967295.0)
        return 0xffffffffu;
      return (unsigned)x;
    };
    int I[8] = {ci(rint(A)),
                ci(trunc(A)),
                ci(ceil(A)),
                ci(floor(A)),
                (int)cu(rint(A)),
                (int)cu(trunc(A)),
                (A < B) | (A <= B) << 1 | (A > B) << 2 | (A >= B) << 3 |
                    (A == B) << 4 | (A != B) << 5 | (A != A) << 6 |
                    (int)(std::isinf(A) ? 1 : 0) << 7,
                !(A >= B)};
    for (int q = 0; q < 8; q++)
      CHECK(f[i].i[q] == I[q], "f2i %d a=%a b=%a got %d want %d", q, A, B,
            f[i].i[q], I[q]);
    CHECK(f[i].i[8] == (A > B ? 2 : 5), "setp pair a=%a b=%a got %d", A, B,
          f[i].i[8]);
    CHECK(same(f[i].v[k], (float)(int)fbits(A)), "i2f");
    k++;
    CHECK(same(f[i].v[k], rnd(FE_TOWARDZERO,
                              [&] {
                                volatile uint32_t x = fbits(A);
                                volatile float y = (float)(int64_t)x;
                                return (float)y;
                              })),
          "u2f rz %08x got %a", fbits(A), f[i].v[k]);
    k++;
    if (A == A && fabs(A) < 9e18) {
      CHECK(f[i].l[0] == (long long)rint(A), "f2ll");
      CHECK(f[i].l[1] == (long long)trunc(A), "f2ll rz");
    }
  }
  DONE("arithmetic");
}
