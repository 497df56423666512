//===- faults.cu - Faulty kernels, each of which must be diagnosed --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %run_in_simulator | FileCheck %s
// CHECK: faults: 24 checks passed, 0 failed

#include "TestSupport.h"
#include <cassert>
#include <string>
#include <unistd.h>
// Faulty kernels: each must be reported, with the right diagnosis. Runs itself
// once per case.
__device__ __forceinline__ unsigned sa(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}
#define INIT(b, n)                                                             \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], "                          \
               "%1;fence.mbarrier_init.release.cluster;" ::"r"(sa(b)),         \
               "r"(n)                                                          \
               : "memory")
#define EXPECT(b, n)                                                           \
  asm volatile(                                                                \
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sa(b)),   \
      "r"(n)                                                                   \
      : "memory")
#define WAIT(b, ph)                                                            \
  asm volatile(                                                                \
      "{\n.reg .pred P;\nW: mbarrier.try_wait.parity.shared::cta.b64 P, "      \
      "[%0], %1;\n@P bra D;\nbra W;\nD:\n}" ::"r"(sa(b)),                      \
      "r"(ph)                                                                  \
      : "memory")
#define G2S(d, s, n, b)                                                        \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"  \
               "bytes [%0], [%1], %2, [%3];" ::"r"(sa(d)),                     \
               "l"(s), "r"(n), "r"(sa(b))                                      \
               : "memory")
__global__ void oob(int *p, int n) { p[threadIdx.x + n] = 1; }
__global__ void oobs(int *p, int k) {
  extern __shared__ int s[];
  s[threadIdx.x * k] = 1;
  p[threadIdx.x] = s[0];
}
__global__ void mis(char *p) { *(int *)(p + threadIdx.x) = 1; }
__global__ void early(int *p, int wait) {
  __shared__ __align__(16) int s[64];
  __shared__ uint64_t b;
  if (threadIdx.x == 0) {
    INIT(&b, 1);
    EXPECT(&b, 256);
    G2S(s, p, 256, &b);
  }
  __syncthreads();
  if (wait)
    WAIT(&b, 0);
  p[threadIdx.x + 64] = ((volatile int *)s)[threadIdx.x];
}
__global__ void cpearly(int *p) {
  __shared__ int s[32];
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.commit_group;" ::"r"(
          sa(&s[threadIdx.x])),
      "l"(p + threadIdx.x)
      : "memory");
  __syncthreads();
  p[threadIdx.x + 64] = ((volatile int *)s)[31 - threadIdx.x];
}
__global__ void wge(float *p, int mode) {
  extern __shared__ __align__(1024) unsigned char sm[];
  for (int i = threadIdx.x; i < 4096; i += 128)
    ((uint16_t *)sm)[i] = 0;
  if (mode != 2)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float a, b, c, d, x = 0;
  a = b = c = d = 0;
  uint64_t desc = (uint64_t)(sa(sm) >> 4) | (8ull << 16) | (16ull << 32);
  asm volatile("wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned."
               "m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %4, 0, 1, 1, 0, "
               "0;\nwgmma.commit_group.sync.aligned;"
               : "+f"(a), "+f"(b), "+f"(c), "+f"(d)
               : "l"(desc)
               : "memory");
  if (mode == 0)
    asm volatile("add.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  if (mode == 1) {
    ((volatile uint16_t *)sm)[threadIdx.x] = 7;
    __syncthreads();
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;"
               : "+f"(a), "+f"(b), "+f"(c), "+f"(d)::"memory");
  p[threadIdx.x] = a + b + c + d + x;
}
__global__ void dead(int *p) {
  __shared__ uint64_t b;
  if (threadIdx.x == 0)
    INIT(&b, 2);
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sa(&b))
                 : "memory");
  WAIT(&b, 0);
  p[0] = 1;
}
__global__ void deadtx(int *p) {
  __shared__ __align__(16) int s[64];
  __shared__ uint64_t b;
  if (threadIdx.x == 0) {
    INIT(&b, 1);
    EXPECT(&b, 512);
    G2S(s, p, 256, &b);
  }
  __syncthreads();
  WAIT(&b, 0);
  p[0] = s[1];
}
__global__ void deadbar(int *p) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 3, 128;" ::: "memory");
  else
    asm volatile("bar.sync 4, 128;" ::: "memory");
  p[0] = 1;
}
__global__ void uninit(int *p) {
  __shared__ int s[64];
  if (threadIdx.x < 16)
    s[threadIdx.x] = 1;
  __syncthreads();
  p[threadIdx.x] = ((volatile int *)s)[threadIdx.x];
}
__global__ void stover(int *p) {
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], "
                 "128;\ncp.async.bulk.commit_group;" ::"l"(p),
                 "r"(sa(s))
                 : "memory");
  __syncthreads();
  ((volatile int *)s)[threadIdx.x] = 5;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__global__ void nofence(int *p) {
  __shared__ __align__(16) int s[64];
  ((volatile int *)s)[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], "
        "128;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(
            p),
        "r"(sa(s))
        : "memory");
}
__global__ void over(int *p) {
  __shared__ uint64_t b;
  if (threadIdx.x == 0) {
    INIT(&b, 1);
    EXPECT(&b, 64);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sa(&b))
                 : "memory");
  }
  p[0] = 1;
}
__global__ void noinit(int *p) {
  __shared__ uint64_t b;
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sa(&b))
               : "memory");
  p[0] = 1;
}
__global__ void asrt(int *p) { assert(p == nullptr); }
__global__ void spin(volatile int *p) {
  while (p[0] == 0) {
  }
}
__global__ void race1(int *p, int sync) {
  __shared__ int s[128];
  int t = threadIdx.x;
  ((volatile int *)s)[t] = 0;
  __syncthreads();
  s[t] = t;
  if (sync)
    __syncthreads();
  else
    asm volatile("" ::: "memory");
  p[t & 127] = s[t ^ 32];
  if (sync) {
    __syncthreads();
    s[t ^ 64] = 5;
  }
}
__global__ void race2(int *p, int rel) {
  __shared__ __align__(16) int s[64];
  __shared__ uint64_t full, empty;
  int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    INIT(&empty, 64);
  }
  __syncthreads();
  int acc = 0;
  for (int k = 0; k < 2; k++) {
    if (t == 0) {
      if (k && rel)
        WAIT(&empty, 0);
      EXPECT(&full, 256);
      G2S(s, p, 256, &full);
    }
    WAIT(&full, k);
    __syncthreads();
    acc += s[t];
    if (rel)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sa(&empty))
                   : "memory");
    else
      __syncwarp();
  }
  p[64 + t] = acc;
}
static int runCase(int c) {
  int *p = dev<int>(128);
  cudaMemset(p, 0, 512);
  float *f = (float *)dev<float>(128);
  switch (c) {
  case 0:
    oob<<<1, 32>>>(p, 120);
    break;
  case 1:
    oobs<<<1, 32, 128>>>(p, 2);
    break;
  case 2:
    mis<<<1, 32>>>((char *)p);
    break;
  case 3:
    setenv("ATTN_SIM_OPTIONS", "race=0", 1);
    early<<<1, 64>>>(p, 0);
    break;
  case 4:
    cpearly<<<1, 32>>>(p);
    break;
  case 5:
    wge<<<1, 128, 8192>>>(f, 0);
    break;
  case 6:
    wge<<<1, 128, 8192>>>(f, 1);
    break;
  case 7:
    dead<<<1, 32>>>(p);
    break;
  case 8:
    deadtx<<<1, 32>>>(p);
    break;
  case 9:
    deadbar<<<1, 128>>>(p);
    break;
  case 10:
    setenv("ATTN_SIM_OPTIONS", "uninit-shared", 1);
    uninit<<<1, 64>>>(p);
    break;
  case 11:
    stover<<<1, 64>>>(p);
    break;
  case 12:
    setenv("ATTN_SIM_OPTIONS", "proxy", 1);
    nofence<<<1, 64>>>(p);
    break;
  case 13:
    over<<<1, 32>>>(p);
    break;
  case 14:
    noinit<<<1, 32>>>(p);
    break;
  case 15:
    asrt<<<1, 32>>>(p);
    break;
  case 16:
    setenv("ATTN_SIM_OPTIONS", "max-instructions=2000000", 1);
    spin<<<1, 32>>>(p);
    break;
  case 17:
    setenv("ATTN_SIM_OPTIONS", "proxy", 1);
    wge<<<1, 128, 8192>>>(f, 2);
    break;
  case 18:
    setenv("ATTN_SIM_OPTIONS", "race", 1);
    race1<<<1, 128>>>(p, 0);
    break;
  case 19:
    setenv("ATTN_SIM_OPTIONS", "race", 1);
    race2<<<1, 64>>>(p, 0);
    break;
  case 102:
    setenv("ATTN_SIM_OPTIONS", "race", 1);
    race1<<<1, 128>>>(p, 1);
    break;
  case 103:
    setenv("ATTN_SIM_OPTIONS", "race", 1);
    race2<<<1, 64>>>(p, 1);
    break;
  // correct controls
  case 100:
    early<<<1, 64>>>(p, 1);
    break;
  case 101:
    wge<<<1, 128, 8192>>>(f, 9);
    break;
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
int main(int n, char **v) {
  if (n > 1)
    return runCase(atoi(v[1]));
  struct {
    int c;
    const char *want;
  } T[] = {{0, "invalid __global__ write of size 4"},
           {1, "invalid __shared__ write of size 4"},
           {2, "misaligned address"},
           {3, "early read: shared"},
           {4, "early read: shared"},
           {5, "has not been waited for"},
           {6, "has not been waited for"},
           {7, "pending 1 of 2 arrivals"},
           {8, "tx-count 256"},
           {9, "deadlock"},
           {10, "uninitialized __shared__ memory read"},
           {11, "has not been waited for"},
           {12, "without fence.proxy.async"},
           {13, "only 0 pending"},
           {14, "was not initialized"},
           {15, "device assertion failed"},
           {16, "instruction limit"},
           {17, "without fence.proxy.async"},
           {18, "racecheck: "},
           {19, "racecheck: "},
           {102, ""},
           {103, ""},
           {100, ""},
           {101, ""}};
  for (auto &t : T) {
    std::string cmd = std::string(v[0]) + " " + std::to_string(t.c) + " 2>&1";
    FILE *f = popen(cmd.c_str(), "r");
    std::string out;
    char b[4096];
    while (fgets(b, sizeof b, f))
      out += b;
    int rc = pclose(f);
    if (*t.want)
      CHECK(rc != 0 && out.find(t.want) != std::string::npos,
            "case %d: rc %d, output: %s", t.c, rc, out.substr(0, 600).c_str());
    else
      CHECK(rc == 0 && out.empty(), "case %d: rc %d, output: %s", t.c, rc,
            out.substr(0, 600).c_str());
  }
  DONE("faults");
}
