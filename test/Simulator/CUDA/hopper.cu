//===- hopper.cu - mbarrier, bulk and tensor copies, clusters, wgmma ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %run_in_simulator | FileCheck %s
// CHECK: hopper: 58631 checks passed, 0 failed

#include "TestSupport.h"
#include <algorithm>
#include <cuda.h>
#include <cuda_bf16.h>
// mbarrier, bulk and tensor copies, clusters, cp.async, ldmatrix/stmatrix,
// mma.sync and wgmma with hand-written PTX.
typedef __nv_bfloat16 bf;
__device__ __forceinline__ unsigned sa(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void mb_init(uint64_t *b, int n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sa(b)), "r"(n)
               : "memory");
}
__device__ __forceinline__ void mb_expect(uint64_t *b, unsigned n) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sa(b)),
      "r"(n)
      : "memory");
}
__device__ __forceinline__ void mb_arrive(uint64_t *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sa(b))
               : "memory");
}
__device__ __forceinline__ void mb_wait(uint64_t *b, int ph) {
  asm volatile("{\n.reg .pred P;\nW: mbarrier.try_wait.parity.shared::cta.b64 "
               "P, [%0], %1;\n@P bra D;\nbra W;\nD:\n}" ::"r"(sa(b)),
               "r"(ph)
               : "memory");
}
__global__ void kcp(const float4 *A, float4 *O, int n) {
  extern __shared__ float4 s4[];
  int t = threadIdx.x, st = 0;
  const int S = 3;
  float4 acc = make_float4(0, 0, 0, 0);
  auto issue = [&](int i) {
    int idx = i * blockDim.x + t;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     sa(&s4[(i % S) * blockDim.x + t])),
                 "l"(A + (idx < n ? idx : 0)), "r"(idx < n ? 16 : 0)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  int it = (n + blockDim.x - 1) / blockDim.x;
  for (int i = 0; i < S - 1; i++)
    issue(i);
  for (int i = 0; i < it; i++) {
    if (i + S - 1 < it)
      issue(i + S - 1);
    else
      asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group %0;" ::"n"(S - 1) : "memory");
    __syncthreads();
    float4 v = s4[(i % S) * blockDim.x + (t ^ 5)];
    acc.x += v.x;
    acc.y += v.y;
    acc.z += v.z;
    acc.w += v.w;
    __syncthreads();
  }
  O[t] = acc;
  (void)st;
}
__global__ void kcpmb(const float *A, float *O) {
  __shared__ float s[128];
  __shared__ uint64_t b;
  int t = threadIdx.x;
  if (t == 0)
    mb_init(&b, 128);
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(sa(&s[t])),
               "l"(A + t)
               : "memory");
  asm volatile(
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(sa(&b))
      : "memory");
  mb_wait(&b, 0);
  O[t] = s[127 - t];
}
__global__ void kbulk(const char *A, char *O, int n) {
  extern __shared__ __align__(128) char smc[];
  char *sm = smc;
  __shared__ uint64_t b;
  if (threadIdx.x == 0) {
    mb_init(&b, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    mb_expect(&b, n);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                 "bytes [%0], [%1], %2, [%3];" ::"r"(sa(sm)),
                 "l"(A), "r"(n), "r"(sa(&b))
                 : "memory");
  }
  __syncthreads();
  mb_wait(&b, 0);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sm[i] += 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(O),
        "r"(sa(sm)), "r"(n)
        : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
                 "[%0], [%1], %2;" ::"l"(O + n),
                 "r"(sa(sm)), "r"(n)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::
                     : "memory");
  }
}
template <int R>
__device__ void tload(void *d, const CUtensorMap *m, uint64_t *b, const int *c);
template <>
__device__ void tload<1>(void *d, const CUtensorMap *m, uint64_t *b,
                         const int *c) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(sa(d)),
               "l"(m), "r"(sa(b)), "r"(c[0])
               : "memory");
}
template <>
__device__ void tload<2>(void *d, const CUtensorMap *m, uint64_t *b,
                         const int *c) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(sa(d)),
               "l"(m), "r"(sa(b)), "r"(c[0]), "r"(c[1])
               : "memory");
}
template <>
__device__ void tload<3>(void *d, const CUtensorMap *m, uint64_t *b,
                         const int *c) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(sa(d)),
      "l"(m), "r"(sa(b)), "r"(c[0]), "r"(c[1]), "r"(c[2])
      : "memory");
}
template <>
__device__ void tload<5>(void *d, const CUtensorMap *m, uint64_t *b,
                         const int *c) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes.L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(
          sa(d)),
      "l"(m), "r"(sa(b)), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]),
      "l"(0x14F0000000000000ull)
      : "memory");
}
struct C5 {
  int c[5];
};
template <int R>
__global__ void ktma(const __grid_constant__ CUtensorMap m, unsigned char *O,
                     C5 c, int bytes) {
  extern __shared__ __align__(1024) unsigned char sm[];
  __shared__ uint64_t b;
  if (threadIdx.x == 0) {
    mb_init(&b, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    mb_expect(&b, bytes);
    tload<R>(sm, &m, &b, c.c);
  }
  __syncthreads();
  mb_wait(&b, 0);
  for (int i = threadIdx.x; i < bytes; i += blockDim.x)
    O[i] = sm[i];
}
__global__ void ktst(const __grid_constant__ CUtensorMap m, const float *A,
                     int n, int c0, int c1, int add) {
  extern __shared__ __align__(1024) unsigned char sm[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int row = i / 32, a = i * 4;
    a ^= (row & 7) << 4;
    *(float *)(sm + a) = A[i];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    if (add)
      asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile."
                   "bulk_group [%0, {%2, %3}], [%1];" ::"l"(&m),
                   "r"(sa(sm)), "r"(c0), "r"(c1)
                   : "memory");
    else
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                   "[%0, {%2, %3}], [%1];" ::"l"(&m),
                   "r"(sa(sm)), "r"(c0), "r"(c1)
                   : "memory");
    asm volatile(
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::
            : "memory");
  }
}
__global__ void __cluster_dims__(4, 1, 1)
    kclus(const __grid_constant__ CUtensorMap m, int *O) {
  __shared__ __align__(128) int tile[4 * 64];
  __shared__ uint64_t b, rb;
  __shared__ int mine;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int t = threadIdx.x;
  if (t == 0) {
    mb_init(&b, 1);
    mb_init(&rb, 3);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    mb_expect(&b, 4 * 256);
  }
  if (t == 0)
    mine = 0;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait."
               "acquire.aligned;" ::
                   : "memory");
  // each CTA loads one row of 64 ints and multicasts it to all four
  if (t == 0) {
    int c0 = 0, c1 = blockIdx.x;
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
        "bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(
            sa(&tile[rank * 64])),
        "l"(&m), "r"(sa(&b)), "r"(c0), "r"(c1), "h"((unsigned short)0xF)
        : "memory");
  }
  mb_wait(&b, 0);
  int s = 0;
  for (int i = 0; i < 4; i++)
    s += tile[i * 64 + t] * (i + 1);
  // tell the other CTAs: remote store plus remote arrive
  if (t < 4 && t != rank) {
    unsigned a, r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(a)
        : "r"(sa(&mine)), "r"(t));
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(a),
                 "r"(rank + 10)
                 : "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(r)
        : "r"(sa(&rb)), "r"(t));
    asm volatile(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(r)
        : "memory");
  }
  mb_wait(&rb, 0);
  O[blockIdx.x * 64 + t] = s + 100000 * *(volatile int *)&mine;
  asm volatile(
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::
          : "memory");
}
__global__ void kring(int *O,
                      int n) { // producer warp and consumer warps over a
                               // two-stage ring of full/empty barriers
  __shared__ int buf[2][128];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0)
    for (int i = 0; i < 2; i++) {
      mb_init(&full[i], 32);
      mb_init(&empty[i], 128);
    }
  __syncthreads();
  if (t >= 128) {
    for (int k = 0; k < n; k++) {
      int s = k & 1;
      if (k >= 2)
        mb_wait(&empty[s], (k / 2 + 1) & 1);
      for (int i = t - 128; i < 128; i += 32)
        buf[s][i] = k * 1000 + i;
      mb_arrive(&full[s]);
    }
  } else {
    int acc = 0;
    for (int k = 0; k < n; k++) {
      int s = k & 1;
      mb_wait(&full[s], (k / 2) & 1);
      acc += buf[s][t];
      mb_arrive(&empty[s]);
    }
    O[t] = acc;
  }
}
__global__ void kmat(const uint16_t *A, uint32_t *O, uint16_t *T) {
  __shared__ __align__(16) uint16_t s[32 * 8], q[32 * 8];
  int t = threadIdx.x;
  for (int i = 0; i < 8; i++)
    s[t * 8 + i] = A[t * 8 + i];
  __syncwarp();
  unsigned r[4], u[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sa(&s[t * 8])));
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(u[0]), "=r"(u[1]), "=r"(u[2]), "=r"(u[3])
      : "r"(sa(&s[t * 8])));
  for (int i = 0; i < 4; i++) {
    O[t * 8 + i] = r[i];
    O[t * 8 + 4 + i] = u[i];
  }
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::
          "r"(sa(&q[t * 8])),
      "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
      : "memory");
  __syncwarp();
  for (int i = 0; i < 8; i++)
    T[t * 8 + i] = q[t * 8 + i];
}
__global__ void
kwg(const __grid_constant__ CUtensorMap ma,
    const __grid_constant__ CUtensorMap mb, float *D,
    int K) { // D[64][128] = A[64][K] * B[128][K]^T, bf16, 128B swizzle
  extern __shared__ __align__(1024) unsigned char sm[];
  __shared__ uint64_t b;
  float d[64];
  for (int i = 0; i < 64; i++)
    d[i] = 0;
  if (threadIdx.x == 0) {
    mb_init(&b, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int k0 = 0, ph = 0; k0 < K; k0 += 64, ph ^= 1) {
    if (threadIdx.x == 0) {
      mb_expect(&b, 64 * 128 + 128 * 128);
      int c[2] = {k0, 0};
      tload<2>(sm, &ma, &b, c);
      tload<2>(sm + 8192, &mb, &b, c);
    }
    mb_wait(&b, ph);
    auto desc = [](unsigned a) {
      return (uint64_t)((a & 0x3FFFF) >> 4) | 1ull << 16 |
             (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
    };
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int kk = 0; kk < 4; kk++) {
      uint64_t da = desc(sa(sm) + kk * 32), db = desc(sa(sm + 8192) + kk * 32);
      asm volatile(
          "{.reg .pred p; setp.ne.b32 p, %66, 0; "
          "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
          "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%"
          "19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%"
          "36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%"
          "53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, p, 1, 1, 0, "
          "0;}"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]),
            "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
            "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
            "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
            "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
            "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
            "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
            "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
            "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]),
            "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),
            "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]),
            "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
            "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
          : "l"(da), "l"(db), "r"(k0 + kk)
          : "memory");
    }
    asm volatile(
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::
            : "memory");
    __syncthreads();
  }
  int w = threadIdx.x / 32, l = threadIdx.x % 32;
  for (int j = 0; j < 16; j++)
    for (int c = 0; c < 4; c++)
      D[(16 * w + l / 4 + 8 * (c >> 1)) * 128 + 8 * j + (l % 4) * 2 + (c & 1)] =
          d[4 * j + c];
}
static CUtensorMap
mk(CUtensorMapDataType dt, int rank, void *p, std::vector<uint64_t> dims,
   std::vector<uint64_t> st, std::vector<uint32_t> box, CUtensorMapSwizzle sw,
   CUtensorMapFloatOOBfill f = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
   std::vector<uint32_t> es = {1, 1, 1, 1, 1}) {
  CUtensorMap m;
  CUresult r = cuTensorMapEncodeTiled(
      &m, dt, rank, p, (cuuint64_t *)dims.data(), (cuuint64_t *)st.data(),
      box.data(), es.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, sw,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, f);
  CHECK(r == CUDA_SUCCESS, "encode");
  return m;
}
int main() {
  std::mt19937 g(5);
  {
    int n = 1000;
    std::vector<float4> a(n);
    for (int i = 0; i < n; i++)
      a[i] = make_float4(i, 2 * i, -i, 1);
    auto *O = dev<float4>(128);
    kcp<<<1, 128, 3 * 128 * 16>>>(up(a), O, n);
    SYNC();
    auto o = down(O, 128);
    for (int t = 0; t < 128; t++) {
      float s = 0, c = 0;
      for (int i = t ^ 5; i < n; i += 128) {
        s += i;
        c++;
      }
      CHECK(o[t].x == s && o[t].y == 2 * s && o[t].z == -s && o[t].w == c,
            "cp.async %d", t);
    }
  }
  {
    std::vector<float> a(128);
    for (int i = 0; i < 128; i++)
      a[i] = i * 3;
    auto *O = dev<float>(128);
    kcpmb<<<1, 128>>>(up(a), O);
    SYNC();
    auto o = down(O, 128);
    for (int t = 0; t < 128; t++)
      CHECK(o[t] == 3 * (127 - t), "cp.async mbarrier");
  }
  {
    int n = 4096;
    std::vector<char> a(n), z(2 * n, 1);
    for (int i = 0; i < n; i++)
      a[i] = g() & 0x3f;
    auto *O = up(z);
    kbulk<<<1, 64, n>>>(up(a), O, n);
    SYNC();
    auto o = down(O, 2 * n);
    for (int i = 0; i < n; i++)
      CHECK(o[i] == a[i] + 1 && o[n + i] == a[i] + 2, "bulk");
  }
  {
    int *O = dev<int>(128);
    kring<<<1, 160>>>(O, 11);
    SYNC();
    auto o = down(O, 128);
    for (int t = 0; t < 128; t++)
      CHECK(o[t] == 55000 + 11 * t, "ring %d", o[t]);
  }
  // tensor loads: swizzles, out-of-bounds boxes, strides
  for (int sw = 0; sw < 4; sw++)
    for (int f = 0; f < 2; f++) {
      int W = 50, H = 37;
      std::vector<uint16_t> a(H * 64);
      for (auto &x : a)
        x = g();
      auto *A = up(a);
      int bw = sw == 1 ? 16 : sw == 2 ? 32 : 64, bh = 24;
      auto m =
          mk(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, A, {(uint64_t)W, (uint64_t)H},
             {128}, {(uint32_t)bw, (uint32_t)bh}, (CUtensorMapSwizzle)sw,
             f ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
               : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
      int bytes = bw * bh * 2;
      auto *O = dev<unsigned char>(bytes);
      for (auto c : {std::pair<int, int>{0, 0},
                     {-5, -3},
                     {20, 20},
                     {48, 36},
                     {100, 5}}) {
        C5 cc = {{c.first, c.second}};
        ktma<2><<<1, 64, bytes>>>(m, O, cc, bytes);
        SYNC();
        auto o = down(O, bytes);
        for (int r = 0; r < bh; r++)
          for (int x = 0; x < bw; x++) {
            int gx = x + c.first, gy = r + c.second;
            uint16_t want = gx >= 0 && gx < W && gy >= 0 && gy < H
                                ? a[gy * 64 + gx]
                            : f ? 0x7fff
                                : 0;
            unsigned ad = r * bw * 2 + x * 2;
            int mask = sw == 3 ? 7 : sw == 2 ? 3 : sw == 1 ? 1 : 0;
            ad ^= ((ad >> 7) & mask) << 4;
            uint16_t got = o[ad] | o[ad + 1] << 8;
            CHECK(got == want,
                  "tma2d swizzle %d coord %d,%d at %d,%d got %04x want %04x",
                  sw, c.first, c.second, r, x, got, want);
          }
      }
    }
  {
    std::vector<uint32_t> d{7, 6, 5, 4, 3};
    std::vector<uint64_t> dims{8, 6, 5, 4, 3},
        st{48, 48 * 7, 48 * 7 * 5, 48 * 7 * 5 * 4};
    std::vector<float> a(48 / 4 * 7 * 5 * 4 * 3);
    for (auto &x : a)
      x = g() % 1000;
    auto *A = up(a);
    std::vector<uint32_t> box{4, 3, 2, 2, 2};
    auto m = mk(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 5, A, dims, st, box,
                CU_TENSOR_MAP_SWIZZLE_NONE);
    int n = 4 * 3 * 2 * 2 * 2;
    auto *O = dev<unsigned char>(n * 4);
    C5 c = {{6, 2, 4, -1, 1}};
    ktma<5><<<1, 32, n * 4>>>(m, O, c, n * 4);
    SYNC();
    auto o = down((float *)O, n);
    int q = 0;
    for (int e = 0; e < 2; e++)
      for (int w = 0; w < 2; w++)
        for (int z = 0; z < 2; z++)
          for (int y = 0; y < 3; y++)
            for (int x = 0; x < 4; x++) {
              int X = x + 6, Y = y + 2, Z = z + 4, Wv = w - 1, E = e + 1;
              float want = X < 8 && Y < 6 && Z < 5 && Wv >= 0 && Wv < 4 && E < 3
                               ? a[(((E * 4 + Wv) * 5 + Z) * 7 + Y) * 12 + X]
                               : 0;
              CHECK(o[q] == want, "tma5d %d got %g want %g", q, o[q], want);
              q++;
            }
    auto m3 = mk(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, A, {8, 6, 5}, {48, 48 * 7},
                 {8, 3, 5}, CU_TENSOR_MAP_SWIZZLE_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, {2, 1, 3, 1, 1});
    int n3 = 4 * 3 * 2;
    C5 c3 = {{1, 1, 0}};
    ktma<3><<<1, 32, n3 * 4>>>(m3, O, c3, n3 * 4);
    SYNC();
    o = down((float *)O, n3);
    q = 0;
    for (int z = 0; z < 2; z++)
      for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++) {
          int X = 1 + 2 * x, Y = 1 + y, Z = 3 * z;
          float want = X < 8 && Y < 6 && Z < 5 ? a[(Z * 7 + Y) * 12 + X] : 0;
          CHECK(o[q] == want, "tma3d element strides %d", q);
          q++;
        }
  }
  for (int add = 0; add < 2; add++) {
    int W = 40, H = 20;
    std::vector<float> a(32 * 16), z(H * 64, 1000);
    for (int i = 0; i < 512; i++)
      a[i] = i;
    auto *Z = up(z);
    auto m =
        mk(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, Z, {(uint64_t)W, (uint64_t)H},
           {256}, {32, 16}, CU_TENSOR_MAP_SWIZZLE_128B);
    ktst<<<1, 64, 4096>>>(m, up(a), 512, 16, 10, add);
    SYNC();
    auto o = down(Z, H * 64);
    for (int y = 0; y < H; y++)
      for (int x = 0; x < 64; x++) {
        float want = 1000;
        if (x >= 16 && x < 40 && y >= 10)
          want = (add ? 1000 : 0) + (y - 10) * 32 + x - 16;
        CHECK(o[y * 64 + x] == want, "tma store add=%d %d,%d got %g want %g",
              add, y, x, o[y * 64 + x], want);
      }
  }
  {
    std::vector<int> a(8 * 64);
    for (auto &x : a)
      x = g() % 100;
    auto *A = up(a);
    auto m = mk(CU_TENSOR_MAP_DATA_TYPE_INT32, 2, A, {64, 8}, {256}, {64, 1},
                CU_TENSOR_MAP_SWIZZLE_NONE);
    int *O = dev<int>(8 * 64);
    kclus<<<8, 64>>>(m, O);
    SYNC();
    auto o = down(O, 512);
    for (int b = 0; b < 8; b++)
      for (int t = 0; t < 64; t++) {
        int s = 0, r = b & 3;
        for (int i = 0; i < 4; i++)
          s += a[(b / 4 * 4 + i) * 64 + t] * (i + 1);
        CHECK(o[b * 64 + t] == s + 100000 * (46 - r - 10),
              "cluster b %d t %d got %d want %d", b, t, o[b * 64 + t], s);
      }
  }
  {
    std::vector<uint16_t> a(256);
    for (int i = 0; i < 256; i++)
      a[i] = i;
    uint32_t *O = dev<uint32_t>(256);
    uint16_t *T = dev<uint16_t>(256);
    kmat<<<1, 32>>>(up(a), O, T);
    SYNC();
    auto o = down(O, 256);
    auto tt = down(T, 256);
    for (int t = 0; t < 32; t++)
      for (int m = 0; m < 4; m++) {
        int r = t / 4, c = t % 4 * 2;
        CHECK(o[t * 8 + m] == (uint32_t)(a[m * 64 + r * 8 + c] |
                                         a[m * 64 + r * 8 + c + 1] << 16),
              "ldmatrix");
        CHECK(o[t * 8 + 4 + m] == (uint32_t)(a[m * 64 + c * 8 + r] |
                                             a[m * 64 + (c + 1) * 8 + r] << 16),
              "ldmatrix trans");
      }
    for (int m = 0; m < 4; m++)
      for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++)
          CHECK(tt[m * 64 + r * 8 + c] == a[m * 64 + c * 8 + r],
                "stmatrix trans");
  }
  {
    int K = 192;
    std::vector<uint16_t> a(64 * K), b(128 * K);
    std::vector<float> fa(64 * K), fb(128 * K);
    for (int i = 0; i < 64 * K; i++) {
      fa[i] = ((int)(g() % 17) - 8) * 0.25f;
      a[i] = f2bf_h(fa[i]);
    }
    for (int i = 0; i < 128 * K; i++) {
      fb[i] = ((int)(g() % 17) - 8) * 0.25f;
      b[i] = f2bf_h(fb[i]);
    }
    auto ma = mk(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, up(a), {(uint64_t)K, 64},
                 {(uint64_t)K * 2}, {64, 64}, CU_TENSOR_MAP_SWIZZLE_128B),
         mb = mk(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, up(b), {(uint64_t)K, 128},
                 {(uint64_t)K * 2}, {64, 128}, CU_TENSOR_MAP_SWIZZLE_128B);
    float *D = dev<float>(64 * 128);
    kwg<<<1, 128, 24576>>>(ma, mb, D, K);
    SYNC();
    auto d = down(D, 8192);
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 128; j++) {
        float s = 0;
        for (int k = 0; k < K; k++)
          s += fa[i * K + k] * fb[j * K + k];
        CHECK(d[i * 128 + j] == s, "wgmma %d,%d got %g want %g", i, j,
              d[i * 128 + j], s);
      }
  }
  DONE("hopper");
}
