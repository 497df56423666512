// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the model of model.mlir: its two attentions by their kernels, the sums
// between them by this program, which holds the result against a plain
// computation.
#include "model.h"

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

using attn_launch::Driver;
using attn_launch::Status;
using attn_launch::Tensor;
using Half = _Float16;
using Values = std::vector<Half>;

static constexpr int64_t H = 2, M = 100, N = 130, D = 64;

static Values getRandom(size_t size) {
  static std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  Values values(size);
  for (Half &value : values)
    value = Half(normal(engine));
  return values;
}

/// softmax(q k^T / sqrt(D)) k, in which row `i` sees the keys up to `i` or all.
static Values attend(const Values &q, const Values &k, bool isCausal) {
  Values output(q.size());
  int64_t keys = k.size() / (H * D);
  for (int64_t row = 0; row < H * M; ++row) {
    const Half *head = &k[row / M * keys * D];
    std::vector<double> sums(D);
    double total = 0;
    for (int64_t j = 0; j < (isCausal ? row % M + 1 : keys); ++j) {
      double score = 0;
      for (int64_t d = 0; d < D; ++d)
        score += double(q[row * D + d]) * double(head[j * D + d]);
      double p = std::exp(score / 8);
      total += p;
      for (int64_t d = 0; d < D; ++d)
        sums[d] += p * double(head[j * D + d]);
    }
    for (int64_t d = 0; d < D; ++d)
      output[row * D + d] = Half(sums[d] / total);
  }
  return output;
}

/// What the model does between its attentions: here on the host, in a real
/// program by its own kernels.
static Values add(const Values &a, const Values &b) {
  Values sum(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    sum[i] = a[i] + b[i];
  return sum;
}

static int fail(const Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message.c_str());
  return 1;
}

int main() {
  if (Status status = attn_launch::useDevice(0); !status)
    return fail(status);
  const Driver &cuda = Driver::get();
  auto upload = [&](const Values &values) {
    CUdeviceptr address = 0;
    cuda.cuMemAlloc(&address, values.size() * sizeof(Half));
    cuda.cuMemcpyHtoD(address, values.data(), values.size() * sizeof(Half));
    return address;
  };
  auto download = [&](CUdeviceptr address) {
    Values values(H * M * D);
    cuda.cuCtxSynchronize();
    cuda.cuMemcpyDtoH(values.data(), address, values.size() * sizeof(Half));
    return values;
  };
  Values x = getRandom(H * M * D), memory = getRandom(H * N * D);

  // The causal attention reads one tensor as query, key and value.
  model_decoder_attention_Args self;
  self.query = Tensor<4>::rowMajor(upload(x), {1, H, M, D});
  self.output = Tensor<4>::rowMajor(upload(x), {1, H, M, D});
  if (Status status = model_decoder_attention_launch(self, nullptr); !status)
    return fail(status);
  Values y = add(x, download(self.output.data));

  model_decoder_attention_0_Args cross;
  cross.query = Tensor<4>::rowMajor(upload(y), {1, H, M, D});
  cross.key = Tensor<4>::rowMajor(upload(memory), {1, H, N, D});
  cross.output = Tensor<4>::rowMajor(upload(y), {1, H, M, D});
  if (Status status = model_decoder_attention_0_launch(cross, nullptr); !status)
    return fail(status);
  Values z = add(y, download(cross.output.data));

  Values expected = add(x, attend(x, x, /*isCausal=*/true));
  expected = add(expected, attend(expected, memory, /*isCausal=*/false));
  double error = 0;
  for (size_t i = 0; i < z.size(); ++i)
    error = std::fmax(error, std::fabs(double(z[i]) - double(expected[i])));
  std::printf("largest error %.4f\n", error);
  return error < 0.02 ? 0 : 1; // two sums of values below 8, rounded to 11 bits
}
