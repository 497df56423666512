// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As main.cpp, by kernels of attention.mlir and gradients.mlir on each rank's
// GPU: `gpu-ranks PLAN LIMIT`. Arrays that ranks exchange are in the host's
// memory.
#include "Loops.h"
#include "Whole.h"
#include "attention.h"
#include "gradients.h"

#include "attn/Distributed/MpiCommunicator.h"

#include <algorithm>
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

/// The nearest of 16 bits, of two the even one.
static BFloat16 toBFloat16(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return BFloat16((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// [heads, tokens, D], the same on all ranks.
static std::vector<BFloat16> getRandom(int64_t heads, int64_t tokens,
                                       unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<BFloat16> values(heads * tokens * D);
  for (BFloat16 &value : values)
    value = toBFloat16(normal(engine));
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

static Status launchBackward(const CallInputs &in, const CallResults &out,
                             const void *dOutput,
                             const CallGradients &gradients) {
  int64_t M = in.call.rows.count(), N = in.call.keys.count();
  int64_t H = sizes.heads, Hkv = sizes.keyHeads;
  std::vector<int32_t> rows = getPositions(in.call.rows);
  std::vector<int32_t> keys = getPositions(in.call.keys);
  std::vector<BFloat16> rounded(H * M * D);
  std::transform(out.output, out.output + rounded.size(), rounded.begin(),
                 toBFloat16);
  size_t rowBytes = H * M * D * 2, keyBytes = Hkv * N * D * 2;
  Buffer query(in.query, rowBytes), key(in.key, keyBytes),
      value(in.value, keyBytes), rowPlaces(rows.data(), M * 4),
      keyPlaces(keys.data(), N * 4), output(rounded.data(), rowBytes),
      lse(out.lse, H * M * 4), dOut(dOutput, rowBytes),
      dQuery(nullptr, 2 * rowBytes), dKey(nullptr, 2 * keyBytes),
      dValue(nullptr, 2 * keyBytes);
  gradients_Args args;
  args.query = Tensor<4>::rowMajor(query.address, {1, H, M, D});
  args.key = Tensor<4>::rowMajor(key.address, {1, Hkv, N, D});
  args.value = Tensor<4>::rowMajor(value.address, {1, Hkv, N, D});
  args.output = Tensor<4>::rowMajor(output.address, {1, H, M, D});
  args.lse = Tensor<3>::rowMajor(lse.address, {1, H, M});
  args.d_output = Tensor<4>::rowMajor(dOut.address, {1, H, M, D});
  args.capture0 = Tensor<1>::rowMajor(rowPlaces.address, {M});
  args.capture1 = Tensor<1>::rowMajor(keyPlaces.address, {N});
  args.d_query = Tensor<4>::rowMajor(dQuery.address, {1, H, M, D});
  args.d_key = Tensor<4>::rowMajor(dKey.address, {1, Hkv, N, D});
  args.d_value = Tensor<4>::rowMajor(dValue.address, {1, Hkv, N, D});
  auto status = gradients_launch(args, /*stream=*/nullptr);
  if (!status)
    return Error{status.message};
  Driver::get().cuCtxSynchronize();
  Driver::get().cuMemcpyDtoH(gradients.query, dQuery.address, 2 * rowBytes);
  Driver::get().cuMemcpyDtoH(gradients.key, dKey.address, 2 * keyBytes);
  Driver::get().cuMemcpyDtoH(gradients.value, dValue.address, 2 * keyBytes);
  return {};
}

/// The largest difference of the rank's rows from those of the whole, as a part
/// of the largest element.
static double compare(const std::vector<float> &part,
                      const std::vector<double> &whole, int64_t tokens,
                      const TokenRanges &rows) {
  double most = 0, largest = 0;
  for (double value : whole)
    largest = std::max(largest, std::abs(value));
  for (size_t head = 0; head < whole.size() / (tokens * D); ++head)
    forEachToken(rows, [&](int64_t number, int64_t token) {
      for (int64_t d = 0; d < D; ++d)
        most = std::max(most,
                        std::abs(part[(head * rows.count() + number) * D + d] -
                                 whole[(head * tokens + token) * D + d]));
    });
  return most / largest;
}

/// The largest difference of output and gradients.
struct Differences {
  double output = 0, gradients = 0;
};

/// This rank's part.
static Result<Differences> run(const Plan &plan,
                               const PlanCommunicator &ranks) {
  if (auto status = attn_launch::useDevice(0); !status)
    return Error{status.message};
  int64_t N = plan.tokens;
  TokenRanges rows;
  if (ranks.rank < int64_t(plan.ranks.size()))
    rows = plan.ranks[ranks.rank].rows;
  Whole whole{N,  D,  sizes.heads, sizes.keyHeads, {}, {}, {}, {}, {},
              {}, {}, {}};
  auto draw = [&](std::vector<double> &all, int64_t heads, unsigned seed) {
    std::vector<BFloat16> drawn = getRandom(heads, N, seed);
    std::transform(drawn.begin(), drawn.end(), std::back_inserter(all),
                   toFloat);
    return take(drawn, N, rows);
  };
  auto query = draw(whole.query, sizes.heads, 1),
       key = draw(whole.key, sizes.keyHeads, 2),
       value = draw(whole.value, sizes.keyHeads, 3),
       dOutput = draw(whole.dOutput, sizes.heads, 4);
  std::vector<float> output(query.size()), dQuery(query.size()),
      dKey(key.size()), dValue(key.size());
  PlanExecutor executor(
      plan, sizes, ranks,
      {"causal, attention.mlir", launchForward, launchBackward});
  auto saved = executor.forward({query.data(), key.data(), value.data()},
                                {output.data(), nullptr});
  if (!saved)
    return Error{saved.error()};
  Status status = executor.backward(
      **saved, dOutput.data(), {dQuery.data(), dKey.data(), dValue.data()});
  if (!status)
    return Error{status.error()};
  whole.compute();
  return Differences{compare(output, whole.output, N, rows),
                     std::max({compare(dQuery, whole.dQuery, N, rows),
                               compare(dKey, whole.dKey, N, rows),
                               compare(dValue, whole.dValue, N, rows)})};
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
  Result<Differences> most = run(*plan, ranks);
  if (!most) {
    fail(most.error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  Differences all;
  MPI_Reduce(&*most, &all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (ranks.rank == 0)
    std::printf("largest difference from the whole: %.4f\n"
                "of gradients: %.4f\n",
                all.output, all.gradients);
  MPI_Finalize();
  // Weights are rounded to 8 bits.
  return std::max(all.output, all.gradients) < 0.01 ? 0 : 1;
}
