//===- libcu.cu - libcu++ and cooperative groups --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %run_in_simulator | FileCheck %s
// CHECK: libcu: 1238 checks passed, 0 failed

#include "TestSupport.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
// The CUDA C++ libraries' own barriers, pipelines and groups.
__global__ void kbar(const int *A, int *O, int n) {
  __shared__ int s[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  auto g = cg::this_thread_block();
  if (threadIdx.x == 0)
    init(&b, blockDim.x);
  g.sync();
  int acc = 0;
  for (int i = 0; i < n; i++) {
    cuda::memcpy_async(g, s, A + i * 256, sizeof(int) * 256, b);
    b.arrive_and_wait();
    acc += s[(threadIdx.x * 5 + i) % 256];
    auto tok = b.arrive();
    acc ^= i;
    b.wait(std::move(tok));
  }
  O[threadIdx.x] = acc;
}
__global__ void kpipe(const int4 *A, int *O, int n) {
  __shared__ int4 s[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
  auto g = cg::this_thread_block();
  auto p = cuda::make_pipeline(g, &st);
  int acc = 0;
  for (int f = 0, c = 0; c < n; c++) {
    for (; f < n && f < c + 2; f++) {
      p.producer_acquire();
      cuda::memcpy_async(g, s[f % 2], A + f * 64, sizeof(int4) * 64, p);
      p.producer_commit();
    }
    p.consumer_wait();
    int4 v = s[c % 2][63 - threadIdx.x];
    acc += v.x + 2 * v.y + 3 * v.z + 4 * v.w;
    p.consumer_release();
  }
  O[threadIdx.x] = acc;
}
__global__ void kgrp(int *O) {
  auto b = cg::this_thread_block();
  auto w = cg::tiled_partition<32>(b);
  auto t = cg::tiled_partition<8>(w);
  int v = threadIdx.x * 3 + 1;
  int *o = O + threadIdx.x * 6;
  o[0] = cg::reduce(w, v, cg::plus<int>());
  o[1] = cg::reduce(t, v, cg::greater<int>());
  o[2] = cg::inclusive_scan(t, v);
  if (threadIdx.x % 3 == 1) {
    auto c = cg::coalesced_threads();
    o[3] = c.size();
    o[4] = c.thread_rank();
    o[5] = cg::reduce(c, v, cg::plus<int>());
  }
}
__global__ void __cluster_dims__(2, 2, 1) kclu(int *O) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  s[threadIdx.x] = c.block_rank() * 100 + threadIdx.x;
  c.sync();
  int acc = 0;
  for (unsigned r = 0; r < c.num_blocks(); r++)
    acc += c.map_shared_rank(s, r)[31 - threadIdx.x] * (r + 1);
  c.sync();
  O[(blockIdx.y * gridDim.x + blockIdx.x) * 32 + threadIdx.x] = acc;
}
__global__ void kgrid(int *A, int *O) {
  auto g = cg::this_grid();
  for (int r = 0; r < 3; r++) {
    A[g.thread_rank()] = r * 7 + (int)g.thread_rank();
    g.sync();
    O[g.thread_rank()] = A[(g.thread_rank() + 33 * (r + 1)) % g.size()];
    g.sync();
  }
}
__global__ void kato(int *O) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> a;
  if (threadIdx.x == 0)
    a = 0;
  __syncthreads();
  for (int turn = 0; turn < 4; turn++) {
    if (threadIdx.x / 32 == turn) {
      while (a.load(cuda::memory_order_acquire) != turn * 32) {
      }
      __syncwarp();
      a.fetch_add(1, cuda::memory_order_release);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0)
    O[0] = a;
}
int main() {
  {
    int n = 5;
    std::vector<int> a(256 * n);
    for (size_t i = 0; i < a.size(); i++)
      a[i] = i * 7 % 1001;
    int *O = dev<int>(256);
    kbar<<<1, 256>>>(up(a), O, n);
    SYNC();
    auto o = down(O, 256);
    for (int t = 0; t < 256; t++) {
      int acc = 0;
      for (int i = 0; i < n; i++) {
        acc += a[i * 256 + (t * 5 + i) % 256];
        acc ^= i;
      }
      CHECK(o[t] == acc, "cuda::barrier %d", t);
    }
  }
  {
    int n = 7;
    std::vector<int4> a(64 * n);
    for (size_t i = 0; i < a.size(); i++)
      a[i] = make_int4(i, i * 3 % 50, -(int)i, i % 9);
    int *O = dev<int>(64);
    kpipe<<<1, 64>>>(up(a), O, n);
    SYNC();
    auto o = down(O, 64);
    for (int t = 0; t < 64; t++) {
      int acc = 0;
      for (int i = 0; i < n; i++) {
        auto v = a[i * 64 + 63 - t];
        acc += v.x + 2 * v.y + 3 * v.z + 4 * v.w;
      }
      CHECK(o[t] == acc, "cuda::pipeline %d got %d want %d", t, o[t], acc);
    }
  }
  {
    int *O = dev<int>(64 * 6);
    kgrp<<<1, 64>>>(O);
    SYNC();
    auto o = down(O, 384);
    for (int t = 0; t < 64; t++) {
      int s = 0, sc = 0, cs = 0, cn = 0, cr = 0;
      for (int j = t & ~31; j < (t & ~31) + 32; j++) {
        s += j * 3 + 1;
        if (j % 3 == 1) {
          cs += j * 3 + 1;
          cn++;
          if (j < t)
            cr++;
        }
      }
      for (int j = t & ~7; j <= t; j++)
        sc += j * 3 + 1;
      CHECK(o[t * 6] == s && o[t * 6 + 1] == ((t | 7) * 3 + 1) &&
                o[t * 6 + 2] == sc,
            "groups %d", t);
      if (t % 3 == 1)
        CHECK(o[t * 6 + 3] == cn && o[t * 6 + 4] == cr && o[t * 6 + 5] == cs,
              "coalesced %d", t);
    }
  }
  {
    int *O = dev<int>(16 * 32);
    kclu<<<dim3(4, 4), 32>>>(O);
    SYNC();
    auto o = down(O, 512);
    for (int b = 0; b < 16; b++)
      for (int t = 0; t < 32; t++) {
        int acc = 0;
        for (int r = 0; r < 4; r++)
          acc += (r * 100 + 31 - t) * (r + 1);
        CHECK(o[b * 32 + t] == acc, "cluster group");
      }
  }
  {
    int *A = dev<int>(320), *O = dev<int>(320);
    void *args[] = {&A, &O};
    cudaLaunchCooperativeKernel((void *)kgrid, dim3(5), dim3(64), args, 0, 0);
    SYNC();
    auto o = down(O, 320);
    for (int i = 0; i < 320; i++)
      CHECK(o[i] == 14 + (i + 99) % 320, "grid sync %d got %d", i, o[i]);
  }
  {
    int *O = dev<int>(1);
    kato<<<1, 128>>>(O);
    SYNC();
    CHECK(down(O, 1)[0] == 128, "cuda::atomic");
  }
  DONE("libcu");
}
