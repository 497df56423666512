// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches the kernel of attention.mlir and holds its result against a plain
// computation on the host.
#include "attention.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

using attn_launch::Driver;
using attn_launch::Status;
using attn_launch::Tensor;
using BFloat16 = uint16_t;

static constexpr int64_t B = 2, Hq = 4, Hkv = 2, M = 100, N = 130, D = 64;

static BFloat16 toBFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16; // to nearest even
}

static float toFloat(BFloat16 value) {
  uint32_t bits = uint32_t(value) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

static std::vector<BFloat16> getRandom(size_t size) {
  static std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  std::vector<BFloat16> values(size);
  for (BFloat16 &value : values)
    value = toBFloat16(normal(engine));
  return values;
}

/// Row `i` of head `h`: softmax(q k^T / sqrt(D)) v over the keys that it sees.
static std::vector<double> computeRow(const BFloat16 *q, const BFloat16 *k,
                                      const BFloat16 *v, int64_t i) {
  std::vector<double> row(D);
  double sum = 0;
  for (int64_t j = 0; j <= i + N - M; ++j) { // causal, aligned at the last key
    double score = 0;
    for (int64_t d = 0; d < D; ++d)
      score += toFloat(q[d]) * toFloat(k[j * D + d]);
    double p = std::exp(score / std::sqrt(double(D)));
    sum += p;
    for (int64_t d = 0; d < D; ++d)
      row[d] += p * toFloat(v[j * D + d]);
  }
  for (double &value : row)
    value /= sum;
  return row;
}

static int fail(const Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message.c_str());
  return 1;
}

int main() {
  // A program that uses the CUDA runtime or a framework has a context already.
  if (Status status = attn_launch::useDevice(0); !status)
    return fail(status);
  const Driver &cuda = Driver::get();
  auto upload = [&](const std::vector<BFloat16> &values) {
    CUdeviceptr address = 0;
    cuda.cuMemAlloc(&address, values.size() * sizeof(BFloat16));
    cuda.cuMemcpyHtoD(address, values.data(), values.size() * sizeof(BFloat16));
    return address;
  };
  std::vector<BFloat16> q = getRandom(B * Hq * M * D),
                        k = getRandom(B * Hkv * N * D),
                        v = getRandom(B * Hkv * N * D), output(q.size());

  attention_Args args;
  args.query = Tensor<4>::rowMajor(upload(q), {B, Hq, M, D});
  args.key = Tensor<4>::rowMajor(upload(k), {B, Hkv, N, D});
  args.value = Tensor<4>::rowMajor(upload(v), {B, Hkv, N, D});
  args.output = Tensor<4>::rowMajor(upload(output), {B, Hq, M, D});
  if (Status status = attention_launch(args, /*stream=*/nullptr); !status)
    return fail(status);
  cuda.cuCtxSynchronize();
  cuda.cuMemcpyDtoH(output.data(), args.output.data,
                    output.size() * sizeof(BFloat16));

  double error = 0;
  for (int64_t b = 0; b < B; ++b)
    for (int64_t h = 0; h < Hq; ++h)
      for (int64_t i = 0; i < M; ++i) {
        int64_t row = (b * Hq + h) * M + i,
                head = (b * Hkv + h / (Hq / Hkv)) * N;
        std::vector<double> expected =
            computeRow(&q[row * D], &k[head * D], &v[head * D], i);
        for (int64_t d = 0; d < D; ++d)
          error = std::fmax(
              error, std::fabs(expected[d] - toFloat(output[row * D + d])));
      }
  std::printf("largest error %.4f\n", error);
  return error < 0.01 ? 0 : 1; // outputs are rounded to 8 bits
}
