// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As main.cpp, forward, by a kernel of attention.mlir on each rank's GPU:
// `gpu-ranks PLAN LIMIT`. Arrays that ranks exchange are in the host's memory.
#include "Loops.h"
#include "attention.h"

#include "attn/Distributed/MpiCommunicator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

using namespace attn;
using attn_launch::Driver;
using attn_launch::Tensor;
using BFloat16 = uint16_t;

static constexpr int64_t D = 64;
static constexpr PlanSizes sizes{
    /*batch=*/1, /*heads=*/4, /*keyHeads=*/2, D, D, sizeof(BFloat16)};

static float toFloat(BFloat16 value) {
  uint32_t bits = uint32_t(value) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

/// [heads, tokens, D], the same on all ranks; cut, not rounded, to 16 bits.
static std::vector<BFloat16> getRandom(int64_t heads, int64_t tokens,
                                       unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<BFloat16> values(heads * tokens * D);
  for (BFloat16 &value : values) {
    float number = normal(engine);
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    value = BFloat16(bits >> 16);
  }
  return values;
}

static std::vector<BFloat16> take(const std::vector<BFloat16> &whole,
                                  int64_t tokens, const TokenRanges &rows) {
  std::vector<BFloat16> part;
  for (size_t head = 0; head < whole.size() / (tokens * D); ++head)
    forEachToken(rows, [&](int64_t, int64_t token) {
      auto row = whole.begin() + (head * tokens + token) * D;
      part.insert(part.end(), row, row + D);
    });
  return part;
}

/// Memory of the GPU, for as long as a call takes.
class Buffer {
public:
  Buffer(const void *data, size_t bytes) {
    Driver::get().cuMemAlloc(&address, bytes);
    if (data)
      Driver::get().cuMemcpyHtoD(address, data, bytes);
  }
  ~Buffer() { Driver::get().cuMemFree(address); }

  CUdeviceptr address = 0;
};

static std::vector<int32_t> getPositions(const TokenRanges &tokens) {
  std::vector<int32_t> positions;
  forEachToken(tokens, [&](int64_t, int64_t token) {
    positions.push_back(int32_t(token));
  });
  return positions;
}

static Status launchForward(const CallInputs &in, const CallResults &out) {
  int64_t M = in.call.rows.count(), N = in.call.keys.count();
  int64_t H = sizes.heads, Hkv = sizes.keyHeads;
  std::vector<int32_t> rows = getPositions(in.call.rows);
  std::vector<int32_t> keys = getPositions(in.call.keys);
  size_t outputBytes = H * M * D * sizeof(float), lseBytes = H * M * 4;
  Buffer query(in.query, H * M * D * 2), key(in.key, Hkv * N * D * 2),
      value(in.value, Hkv * N * D * 2), rowPlaces(rows.data(), M * 4),
      keyPlaces(keys.data(), N * 4), output(nullptr, outputBytes),
      lse(nullptr, lseBytes);
  attention_Args args;
  args.query = Tensor<4>::rowMajor(query.address, {1, H, M, D});
  args.key = Tensor<4>::rowMajor(key.address, {1, Hkv, N, D});
  args.value = Tensor<4>::rowMajor(value.address, {1, Hkv, N, D});
  args.capture0 = Tensor<1>::rowMajor(rowPlaces.address, {M});
  args.capture1 = Tensor<1>::rowMajor(keyPlaces.address, {N});
  args.output = Tensor<4>::rowMajor(output.address, {1, H, M, D});
  args.lse = Tensor<3>::rowMajor(lse.address, {1, H, M});
  auto status = attention_launch(args, /*stream=*/nullptr);
  if (!status)
    return Error{status.message};
  Driver::get().cuCtxSynchronize();
  Driver::get().cuMemcpyDtoH(out.output, output.address, outputBytes);
  Driver::get().cuMemcpyDtoH(out.lse, lse.address, lseBytes);
  return {};
}

/// Row `i` of the whole, in f64: softmax(q k^T / sqrt(D)) v over keys up to i.
static std::vector<double> computeRow(const BFloat16 *q, const BFloat16 *k,
                                      const BFloat16 *v, int64_t i) {
  std::vector<double> row(D);
  double sum = 0;
  for (int64_t j = 0; j <= i; ++j) {
    double score = 0;
    for (int64_t d = 0; d < D; ++d)
      score += double(toFloat(q[d])) * toFloat(k[j * D + d]);
    double p = std::exp(score / std::sqrt(double(D)));
    sum += p;
    for (int64_t d = 0; d < D; ++d)
      row[d] += p * toFloat(v[j * D + d]);
  }
  for (double &value : row)
    value /= sum;
  return row;
}

/// This rank's part; the largest difference of its tokens.
static Result<double> run(const Plan &plan, const PlanCommunicator &ranks) {
  if (auto status = attn_launch::useDevice(0); !status)
    return Error{status.message};
  int64_t N = plan.tokens;
  TokenRanges rows;
  if (ranks.rank < int64_t(plan.ranks.size()))
    rows = plan.ranks[ranks.rank].rows;
  auto q = getRandom(sizes.heads, N, 1), k = getRandom(sizes.keyHeads, N, 2),
       v = getRandom(sizes.keyHeads, N, 3);
  auto query = take(q, N, rows), key = take(k, N, rows),
       value = take(v, N, rows);
  std::vector<float> output(query.size());
  PlanExecutor executor(plan, sizes, ranks,
                        {"causal, attention.mlir", launchForward, nullptr});
  auto saved = executor.forward({query.data(), key.data(), value.data()},
                                {output.data(), nullptr});
  if (!saved)
    return Error{saved.error()};
  double most = 0;
  for (int64_t h = 0; h < sizes.heads; ++h)
    forEachToken(rows, [&](int64_t number, int64_t token) {
      int64_t head = h / (sizes.heads / sizes.keyHeads) * N * D;
      std::vector<double> expected =
          computeRow(&q[(h * N + token) * D], &k[head], &v[head], token);
      for (int64_t d = 0; d < D; ++d) {
        int64_t at = (h * rows.count() + number) * D + d;
        most = std::max(most, std::abs(output[at] - expected[d]));
      }
    });
  return most;
}

static int fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fail("expected PLAN LIMIT");
  std::ifstream file(argv[1]);
  std::string text(std::istreambuf_iterator<char>(file), {});
  Result<Plan> plan = readPlan(text);
  if (!plan)
    return fail(argv[1] + (": " + plan.error()));
  MPI_Init(&argc, &argv);
  PlanCommunicator ranks =
      makeMpiCommunicator(MPI_COMM_WORLD, std::atof(argv[2]));
  Result<double> most = run(*plan, ranks);
  if (!most) {
    fail(most.error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  double all = 0;
  MPI_Reduce(&*most, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (ranks.rank == 0)
    std::printf("largest difference from the whole: %.4f\n", all);
  MPI_Finalize();
  return all < 0.01 ? 0 : 1; // weights are rounded to 8 bits
}
