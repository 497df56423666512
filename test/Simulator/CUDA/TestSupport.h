//===- TestSupport.h - Host side of the CUDA tests --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_SIMULATOR_CUDA_TESTSUPPORT_H
#define ATTN_TEST_SIMULATOR_CUDA_TESTSUPPORT_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <random>
#include <vector>
static int g_fail = 0, g_pass = 0;
#define CHECK(c, ...)                                                          \
  do {                                                                         \
    if (c)                                                                     \
      g_pass++;                                                                \
    else {                                                                     \
      g_fail++;                                                                \
      if (g_fail < 40) {                                                       \
        printf("FAIL %s:%d: ", __FILE__, __LINE__);                            \
        printf(__VA_ARGS__);                                                   \
        printf("\n");                                                          \
      }                                                                        \
    }                                                                          \
  } while (0)
#define DONE(n)                                                                \
  do {                                                                         \
    printf("%s: %d checks passed, %d failed\n", n, g_pass, g_fail);            \
    return g_fail != 0;                                                        \
  } while (0)
template <class T>
T *up(const std::vector<T> &v) {
  T *p;
  cudaMalloc((void **)&p, v.size() * sizeof(T) + 16);
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
std::vector<T> down(const T *p, size_t n) {
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return v;
}
template <class T>
T *dev(size_t n) {
  T *p;
  cudaMalloc((void **)&p, n * sizeof(T) + 16);
  return p;
}
static inline uint32_t fbits(float f) {
  uint32_t b;
  memcpy(&b, &f, 4);
  return b;
}
static inline float bitsf(uint32_t b) {
  float f;
  memcpy(&f, &b, 4);
  return f;
}
static inline bool same(float a, float b) {
  return (a != a && b != b) || fbits(a) == fbits(b);
}
static inline uint16_t f2bf_h(float f) {
  uint32_t b = fbits(f);
  if (f != f)
    return 0x7fff;
  return (b + 0x7fff + ((b >> 16) & 1)) >> 16;
}
static inline float bf2f_h(uint16_t h) { return bitsf((uint32_t)h << 16); }
#define SYNC()                                                                 \
  do {                                                                         \
    cudaError_t e_ = cudaDeviceSynchronize();                                  \
    if (e_ != cudaSuccess) {                                                   \
      printf("FAIL %s:%d launch failed\n", __FILE__, __LINE__);                \
      g_fail++;                                                                \
      cudaGetLastError();                                                      \
    }                                                                          \
  } while (0)

#endif // ATTN_TEST_SIMULATOR_CUDA_TESTSUPPORT_H
