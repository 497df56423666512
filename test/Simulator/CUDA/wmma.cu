//===- wmma.cu - nvcuda::wmma and f64 mma ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RUN: %run_in_simulator | FileCheck %s
// CHECK: wmma: 18368 checks passed, 0 failed

#include "TestSupport.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

/// C = 2 A B in tiles of 64 x 64 x 32, with a pipeline of two stages.
__global__ void tiledProduct(const half *a, const half *b, float *c, int n,
                             int k) {
  __shared__ __align__(128) half tileA[2][64 * 32], tileB[2][32 * 64];
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  int warpRow = threadIdx.x / 64 * 32, warpColumn = threadIdx.x / 32 % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (auto &line : sums)
    for (auto &sum : line)
      wmma::fill_fragment(sum, 0.f);
  auto load = [&](int stage, int depth) {
    for (int i = threadIdx.x; i < 64 * 32 / 8; i += blockDim.x)
      __pipeline_memcpy_async(&tileA[stage][i * 8],
                              &a[(row + i / 4) * k + depth + i % 4 * 8], 16);
    for (int i = threadIdx.x; i < 32 * 64 / 8; i += blockDim.x)
      __pipeline_memcpy_async(&tileB[stage][i * 8],
                              &b[(depth + i / 8) * n + column + i % 8 * 8], 16);
    __pipeline_commit();
  };
  load(0, 0);
  for (int depth = 0, stage = 0; depth < k; depth += 32, stage ^= 1) {
    if (depth + 32 < k)
      load(stage ^ 1, depth + 32);
    else
      __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int step = 0; step < 32; step += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(
            fa[i], &tileA[stage][(warpRow + i * 16) * 32 + step], 32);
        wmma::load_matrix_sync(
            fb[i], &tileB[stage][step * 64 + warpColumn + i * 16], 64);
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          wmma::mma_sync(sums[i][j], fa[i], fb[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      for (int e = 0; e < sums[i][j].num_elements; ++e)
        sums[i][j].x[e] *= 2;
      wmma::store_matrix_sync(
          &c[(row + warpRow + i * 16) * n + column + warpColumn + j * 16],
          sums[i][j], n, wmma::mem_row_major);
    }
}

/// C = C + A B in one step; C is column-major.
template <int M, int N, int K, class Element, class Storage, class Result,
          class LayoutA, class LayoutB>
__global__ void oneStep(const Storage *a, const Storage *b, Result *c) {
  constexpr bool rowsA = std::is_same<LayoutA, wmma::row_major>::value;
  constexpr bool rowsB = std::is_same<LayoutB, wmma::row_major>::value;
  wmma::fragment<wmma::matrix_a, M, N, K, Element, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Element, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Result> fc;
  wmma::load_matrix_sync(fc, c, M, wmma::mem_col_major);
  wmma::load_matrix_sync(fa, a, rowsA ? K : M);
  wmma::load_matrix_sync(fb, b, rowsB ? N : K);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, M, wmma::mem_col_major);
}

/// m16n8k16 of f64, whose fragments PTX lays out.
__global__ void doubleMma(const double *a, const double *b, double *c) {
  int group = threadIdx.x / 4, quad = threadIdx.x % 4;
  double fa[8], fb[4], fc[4] = {};
  for (int i = 0; i < 8; ++i)
    fa[i] = a[(group + 8 * (i % 2)) * 16 + 4 * (i / 2) + quad];
  for (int i = 0; i < 4; ++i)
    fb[i] = b[(4 * i + quad) * 8 + group];
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
      "{%0, %1, %2, %3};"
      : "+d"(fc[0]), "+d"(fc[1]), "+d"(fc[2]), "+d"(fc[3])
      : "d"(fa[0]), "d"(fa[1]), "d"(fa[2]), "d"(fa[3]), "d"(fa[4]), "d"(fa[5]),
        "d"(fa[6]), "d"(fa[7]), "d"(fb[0]), "d"(fb[1]), "d"(fb[2]), "d"(fb[3]));
  for (int i = 0; i < 4; ++i)
    c[(group + 8 * (i / 2)) * 8 + quad * 2 + i % 2] = fc[i];
}

/// Small multiples of 1/4: all sums are exact.
static double draw() { return (rand() % 17 - 8) / 4.0; }
template <class T>
static std::vector<T> drawMany(size_t count) {
  std::vector<T> values(count);
  for (T &value : values)
    value = T(float(int(draw() * 4) / (std::is_integral<T>::value ? 1 : 4.0)));
  return values;
}

template <int M, int N, int K, class Element, class Storage, class Result,
          class LayoutA, class LayoutB>
static void testStep() {
  constexpr bool rowsA = std::is_same<LayoutA, wmma::row_major>::value;
  constexpr bool rowsB = std::is_same<LayoutB, wmma::row_major>::value;
  auto a = drawMany<Storage>(M * K), b = drawMany<Storage>(K * N);
  auto c = drawMany<Result>(M * N);
  Result *output = up(c);
  oneStep<M, N, K, Element, Storage, Result, LayoutA, LayoutB>
      <<<1, 32>>>(up(a), up(b), output);
  SYNC();
  auto result = down(output, M * N);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = double(float(c[j * M + i]));
      for (int k = 0; k < K; ++k)
        sum += double(float(a[rowsA ? i * K + k : k * M + i])) *
               double(float(b[rowsB ? k * N + j : j * K + k]));
      double got = double(float(result[j * M + i]));
      // f16 accumulators round once to 11 bits here.
      bool isHalf = std::is_same<Result, half>::value;
      CHECK(fabs(got - sum) <= (isHalf ? fabs(sum) / 2048 : 0),
            "m%dn%dk%d (%d, %d): %g, expected %g", M, N, K, i, j, got, sum);
    }
}

static void testTiled() {
  const int m = 128, n = 128, k = 96;
  auto a = drawMany<half>(m * k), b = drawMany<half>(k * n);
  float *output = dev<float>(m * n);
  tiledProduct<<<dim3(n / 64, m / 64), 128>>>(up(a), up(b), output, n, k);
  SYNC();
  auto c = down(output, m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += double(float(a[i * k + l])) * double(float(b[l * n + j]));
      CHECK(c[i * n + j] == 2 * sum, "(%d, %d): %g, expected %g", i, j,
            c[i * n + j], 2 * sum);
    }
}

static void testDoubleMma() {
  auto a = drawMany<double>(16 * 16), b = drawMany<double>(16 * 8);
  double *output = dev<double>(16 * 8);
  doubleMma<<<1, 32>>>(up(a), up(b), output);
  SYNC();
  auto c = down(output, 16 * 8);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      double sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += a[i * 16 + k] * b[k * 8 + j];
      CHECK(c[i * 8 + j] == sum, "(%d, %d)", i, j);
    }
}

int main() {
  using Row = wmma::row_major;
  using Col = wmma::col_major;
  using BF16 = __nv_bfloat16;
  testTiled();
  testStep<16, 16, 16, BF16, BF16, float, Row, Col>();
  testStep<32, 8, 16, BF16, BF16, float, Col, Row>();
  testStep<8, 32, 16, half, half, float, Row, Row>();
  testStep<32, 8, 16, half, half, float, Col, Col>();
  testStep<16, 16, 16, half, half, half, Col, Col>();
  testStep<16, 16, 8, wmma::precision::tf32, float, float, Row, Col>();
  testStep<16, 16, 16, signed char, signed char, int, Row, Col>();
  testStep<8, 8, 4, double, double, double, Row, Col>();
  testDoubleMma();
  DONE("wmma");
}
