//===- warp.cu - Warps, barriers, atomics and control flow ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %run_in_simulator | FileCheck %s
// CHECK: warp: 3376 checks passed, 0 failed

#include "TestSupport.h"
#include <cooperative_groups.h>
__global__ void kshfl(int *O) {
  int l = threadIdx.x;
  int v = l * l + 3;
  int *o = O + l * 24;
  int k = 0;
  o[k++] = __shfl_sync(~0u, v, 5);
  o[k++] = __shfl_up_sync(~0u, v, 3);
  o[k++] = __shfl_down_sync(~0u, v, 7);
  o[k++] = __shfl_xor_sync(~0u, v, 9);
  o[k++] = __shfl_sync(~0u, v, 2, 8);
  o[k++] = __shfl_up_sync(~0u, v, 3, 16);
  o[k++] = __shfl_down_sync(~0u, v, 5, 8);
  o[k++] = __shfl_xor_sync(~0u, v, 12, 8);
  o[k++] = __ballot_sync(~0u, l % 3 == 0);
  o[k++] = __any_sync(~0u, l == 40);
  o[k++] = __all_sync(~0u, l < 32);
  o[k++] = __match_any_sync(~0u, l / 5);
  int p;
  o[k++] = __match_all_sync(~0u, 7, &p);
  o[k++] = p;
  o[k++] = __reduce_add_sync(~0u, l);
  o[k++] = __reduce_max_sync(~0u, l - 10);
  o[k++] = __reduce_min_sync(~0u, l - 10);
  o[k++] = __reduce_xor_sync(~0u, l * 77);
  if (l & 1) {
    o[k++] = __shfl_sync(0xAAAAAAAA, v, 7);
    o[k++] = __activemask();
    o[k++] = __ballot_sync(0xAAAAAAAA, l > 8);
  } else {
    o[k++] = __shfl_sync(0x55555555, v, 6);
    o[k++] = __activemask();
    o[k++] = __ballot_sync(0x55555555, l > 8);
  }
}
__device__ __noinline__ int collatz(int n) {
  int s = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    s++;
  }
  return s;
}
__device__ __noinline__ int sw(int i) {
  switch (i % 9) {
  case 0:
    return 3;
  case 1:
    return i * 2;
  case 2:
    return i - 7;
  case 3:
    return i ^ 5;
  case 4:
    return 11;
  case 5:
    return i * i;
  case 6:
    return -i;
  case 7:
    return i << 2;
  default:
    return 99;
  }
}
typedef int (*fp)(int);
__device__ fp tab[2] = {collatz, sw};
__global__ void kind(int *O, int n) {
  int i = threadIdx.x;
  fp f = tab[(i * 7 + n) % 3 == 0];
  O[i] = f(i + 1);
}
__global__ void kdiv(int *O, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int a = collatz(i + 1);
  int b = 0;
  for (int j = 0; j < i % 13; j++) {
    if (j == 7)
      break;
    if ((i + j) % 3 == 0)
      continue;
    b += j * i;
    if (b > 5000)
      return;
  }
  int loc[16];
  for (int j = 0; j < 16; j++)
    loc[j] = i * j;
  for (int j = 0; j < 16; j++)
    loc[(j * 7 + i) & 15] += j;
  int c = loc[i & 15] + loc[(i >> 4) & 15];
  O[i] = a + 1000 * b + c + sw(i);
}
__global__ void kshared(const int *A, int *O, int n) {
  extern __shared__ int s[];
  __shared__ int t[32];
  int i = threadIdx.x;
  s[i] = A[blockIdx.x * blockDim.x + i];
  __syncthreads();
  for (int d = blockDim.x / 2; d; d >>= 1) {
    if (i < d)
      s[i] += s[i + d];
    __syncthreads();
  }
  if (i < 32)
    t[i] = s[0] * (i + 1);
  __syncthreads();
  O[blockIdx.x * blockDim.x + i] = t[i & 31] + __syncthreads_count(i % 3 == 0) +
                                   1000 * __syncthreads_or(i == 70) +
                                   2000 * __syncthreads_and(i < 1000);
}
__global__ void katom(int *I, float *F, unsigned *U, unsigned long long *L,
                      int *out) {
  __shared__ int s;
  __shared__ float f;
  if (threadIdx.x == 0) {
    s = 0;
    f = 0;
  }
  __syncthreads();
  atomicAdd(&s, threadIdx.x);
  atomicAdd(&f, 0.5f);
  atomicAdd(I, 1);
  atomicMax(I + 1, (int)threadIdx.x - 5);
  atomicMin(I + 2, -(int)threadIdx.x);
  atomicAnd(U, ~(1u << (threadIdx.x & 31)));
  atomicOr(U + 1, 1u << (threadIdx.x & 31));
  atomicXor(U + 2, threadIdx.x);
  atomicAdd(L, (unsigned long long)threadIdx.x << 30);
  atomicInc(U + 3, 9);
  atomicAdd(F, 0.25f);
  int old, v = I[3];
  do {
    old = v;
    v = atomicCAS(I + 3, old, old + 3);
  } while (v != old);
  asm volatile("red.global.add.v4.f32 [%0], {%1,%1,%2,%2};" ::"l"(F + 4),
               "f"(1.0f), "f"(2.0f)
               : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = s;
    out[1] = (int)(f * 2);
    atomicExch(U + 4, 77);
  }
}
struct Big {
  int a[9];
  double d;
  char c[5];
};
__constant__ int ctab[8] = {1, 2, 4, 8, 16, 32, 64, -128};
__device__ int gcount = 5;
__global__ void kmisc(Big b, int4 *v, float2 *w, double *d) {
  int i = threadIdx.x;
  int4 x = v[i];
  x.x += b.a[i % 9];
  x.y ^= ctab[i & 7];
  x.z = b.c[i % 5];
  x.w = (int)(b.d * i);
  v[i] = x;
  w[i] = make_float2(w[i].y, w[i].x);
  d[i] = sqrt((double)i) + sin(0.1f * i);
  if (i == 3)
    atomicAdd(&gcount, 4);
  if (i == 0)
    printf("hello %d %s %.2f %llx\n", 42, "str", 1.5, 0x123456789abcull);
}
__global__ void knamed(int *O) {
  __shared__ int s[256];
  int t = threadIdx.x;
  if (t < 128) {
    for (int k = 0; k < 4; k++) {
      asm volatile("bar.sync 1, 256;" ::: "memory");
      s[t] = t * (k + 1);
      s[t + 128] = k;
      asm volatile("bar.arrive 2, 256;" ::: "memory");
    }
  } else {
    int acc = 0;
    for (int k = 0; k < 4; k++) {
      asm volatile("bar.arrive 1, 256;" ::: "memory");
      asm volatile("bar.sync 2, 256;" ::: "memory");
      acc += s[t - 128] + s[t];
    }
    O[t - 128] = acc;
  }
}
__global__ void kspin(volatile int *flag, int *O) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      while (flag[0] != 7) {
      }
      O[0] = flag[1];
    }
  } else if (threadIdx.x == 0) {
    flag[1] = 99;
    __threadfence();
    flag[0] = 7;
  }
}
__global__ void kwarpspin(int *O) {
  __shared__ volatile int lock;
  if (threadIdx.x == 0)
    lock = 0;
  __syncthreads();
  if (threadIdx.x % 2) {
    while (lock == 0) {
    }
    O[threadIdx.x] = lock;
  } else {
    O[threadIdx.x] = 1;
    if (threadIdx.x == 2)
      lock = 5;
  }
}
int main() {
  {
    int *O = dev<int>(32 * 24);
    kshfl<<<1, 32>>>(O);
    SYNC();
    auto o = down(O, 32 * 24);
    int X = 0;
    for (int l = 0; l < 32; l++)
      X ^= l * 77;
    for (int l = 0; l < 32; l++) {
      auto V = [](int x) { return x * x + 3; };
      int r[21], k = 0;
      r[k++] = V(5);
      r[k++] = V(l >= 3 ? l - 3 : l);
      r[k++] = V(l + 7 < 32 ? l + 7 : l);
      r[k++] = V(l ^ 9);
      r[k++] = V((l & ~7) + 2);
      r[k++] = V((l & 15) >= 3 ? l - 3 : l);
      r[k++] = V((l & 7) + 5 < 8 ? l + 5 : l);
      r[k++] = V(((l ^ 12) & ~7) <= (l & ~7) ? l ^ 12 : l);
      unsigned bm = 0, mm = 0;
      for (int j = 0; j < 32; j++) {
        if (j % 3 == 0)
          bm |= 1u << j;
        if (j / 5 == l / 5)
          mm |= 1u << j;
      }
      r[k++] = bm;
      r[k++] = 0;
      r[k++] = 1;
      r[k++] = mm;
      r[k++] = -1;
      r[k++] = 1;
      r[k++] = 496;
      r[k++] = 21;
      r[k++] = -10;
      r[k++] = X;
      unsigned half = l & 1 ? 0xAAAAAAAA : 0x55555555;
      r[k++] = V(l & 1 ? 7 : 6);
      r[k++] = half;
      r[k++] = half & ~0x1ffu;
      for (int q = 0; q < k; q++)
        CHECK(o[l * 24 + q] == r[q], "shfl op %d lane %d got %d want %d", q, l,
              o[l * 24 + q], r[q]);
    }
  }
  {
    int n = 1000;
    std::vector<int> z(n, -1);
    int *O = up(z);
    kdiv<<<8, 128>>>(O, n);
    SYNC();
    auto o = down(O, n);
    auto swh = [](int i) {
      switch (i % 9) {
      case 0:
        return 3;
      case 1:
        return i * 2;
      case 2:
        return i - 7;
      case 3:
        return i ^ 5;
      case 4:
        return 11;
      case 5:
        return i * i;
      case 6:
        return -i;
      case 7:
        return i << 2;
      }
      return 99;
    };
    for (int i = 0; i < n; i++) {
      int s = 0;
      long m = i + 1;
      while (m != 1) {
        m = m & 1 ? 3 * m + 1 : m / 2;
        s++;
      }
      int b = 0;
      bool ret = false;
      for (int j = 0; j < i % 13; j++) {
        if (j == 7)
          break;
        if ((i + j) % 3 == 0)
          continue;
        b += j * i;
        if (b > 5000) {
          ret = true;
          break;
        }
      }
      int loc[16];
      for (int j = 0; j < 16; j++)
        loc[j] = i * j;
      for (int j = 0; j < 16; j++)
        loc[(j * 7 + i) & 15] += j;
      int w =
          ret ? -1 : s + 1000 * b + loc[i & 15] + loc[(i >> 4) & 15] + swh(i);
      CHECK(o[i] == w, "divergence %d got %d want %d", i, o[i], w);
    }
  }
  {
    int *O = dev<int>(64);
    kind<<<1, 64>>>(O, 5);
    SYNC();
    auto o = down(O, 64);
    for (int i = 0; i < 64; i++) {
      int x = i + 1, w;
      if ((i * 7 + 5) % 3 == 0) {
        switch (x % 9) {
        case 0:
          w = 3;
          break;
        case 1:
          w = x * 2;
          break;
        case 2:
          w = x - 7;
          break;
        case 3:
          w = x ^ 5;
          break;
        case 4:
          w = 11;
          break;
        case 5:
          w = x * x;
          break;
        case 6:
          w = -x;
          break;
        case 7:
          w = x << 2;
          break;
        default:
          w = 99;
        }
      } else {
        w = 0;
        while (x != 1) {
          x = x & 1 ? 3 * x + 1 : x / 2;
          w++;
        }
      }
      CHECK(o[i] == w, "indirect call %d got %d want %d", i, o[i], w);
    }
  }
  {
    int nb = 5, bs = 256;
    std::vector<int> a(nb * bs);
    for (int i = 0; i < nb * bs; i++)
      a[i] = i * 7 % 101;
    int *O = dev<int>(nb * bs);
    kshared<<<nb, bs, bs * 4>>>(up(a), O, nb * bs);
    SYNC();
    auto o = down(O, nb * bs);
    for (int b = 0; b < nb; b++) {
      int s = 0;
      for (int i = 0; i < bs; i++)
        s += a[b * bs + i];
      for (int i = 0; i < bs; i++)
        CHECK(o[b * bs + i] == s * ((i & 31) + 1) + 86 + 1000 + 2000,
              "shared reduce");
    }
  }
  {
    std::vector<int> I(4, 0);
    I[2] = 5;
    std::vector<unsigned> U(8, 0);
    U[0] = ~0u;
    std::vector<float> F(8, 0);
    std::vector<unsigned long long> L(1, 0);
    auto *i = up(I);
    auto *u = up(U);
    auto *f = up(F);
    auto *l = up(L);
    int *out = dev<int>(4);
    katom<<<7, 96>>>(i, f, u, l, out);
    SYNC();
    auto ri = down(i, 4);
    auto ru = down(u, 8);
    auto rf = down(f, 8);
    auto rl = down(l, 1);
    auto ro = down(out, 2);
    CHECK(ri[0] == 672 && ri[1] == 90 && ri[2] == -95 && ri[3] == 2016,
          "atom int %d %d %d %d", ri[0], ri[1], ri[2], ri[3]);
    CHECK(ru[0] == 0 && ru[1] == ~0u && ru[3] == 672 % 10 && ru[4] == 77,
          "atom u %x %x %u %u", ru[0], ru[1], ru[3], ru[4]);
    unsigned x = 0;
    for (int b = 0; b < 7; b++)
      for (int t = 0; t < 96; t++)
        x ^= t;
    CHECK(ru[2] == x, "xor");
    CHECK(rl[0] == (7ull * 95 * 96 / 2) << 30, "atom 64");
    CHECK(rf[0] == 168 && rf[4] == 672 && rf[5] == 672 && rf[6] == 1344,
          "atom f32");
    CHECK(ro[0] == 4560 && ro[1] == 96, "shared atom");
  }
  {
    Big b;
    for (int i = 0; i < 9; i++)
      b.a[i] = i * 11;
    b.d = 2.5;
    for (int i = 0; i < 5; i++)
      b.c[i] = 65 - 30 * i;
    std::vector<int4> v(64);
    std::vector<float2> w(64);
    for (int i = 0; i < 64; i++) {
      v[i] = make_int4(i, i, i, i);
      w[i] = make_float2(i, -i);
    }
    auto *dv = up(v);
    auto *dw = up(w);
    auto *dd = dev<double>(64);
    kmisc<<<1, 64>>>(b, dv, dw, dd);
    SYNC();
    auto rv = down(dv, 64);
    auto rw = down(dw, 64);
    auto rd = down(dd, 64);
    int ct[8] = {1, 2, 4, 8, 16, 32, 64, -128};
    for (int i = 0; i < 64; i++) {
      CHECK(rv[i].x == i + b.a[i % 9] && rv[i].y == (i ^ ct[i & 7]) &&
                rv[i].z == b.c[i % 5] && rv[i].w == (int)(2.5 * i),
            "misc %d", i);
      CHECK(rw[i].x == -i && rw[i].y == i, "float2");
      CHECK(fabs(rd[i] - (sqrt((double)i) + sin(0.1f * i))) < 1e-6,
            "double/sin");
    }
    int gc;
    cudaMemcpyFromSymbol(&gc, gcount, 4);
    CHECK(gc == 9, "global variable %d", gc);
  }
  {
    int *O = dev<int>(128);
    knamed<<<1, 256>>>(O);
    SYNC();
    auto o = down(O, 128);
    for (int t = 0; t < 128; t++)
      CHECK(o[t] == t * 10 + 6, "named barriers %d got %d", t, o[t]);
  }
  {
    std::vector<int> f(2, 0);
    int *d = up(f);
    int *O = dev<int>(1);
    kspin<<<2, 32>>>(d, O);
    SYNC();
    CHECK(down(O, 1)[0] == 99, "spin on a later CTA");
  }
  {
    int *O = dev<int>(32);
    kwarpspin<<<1, 32>>>(O);
    SYNC();
    auto o = down(O, 32);
    for (int i = 0; i < 32; i++)
      CHECK(o[i] == (i % 2 ? 5 : 1), "intra-warp spin");
  }
  DONE("warp");
}
