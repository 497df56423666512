// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Causal attention of one sequence on the ranks of MPI, forward and backward,
// by a plan of attn-schedule, and the largest difference from the attention of
// the whole. `ranks PLAN LIMIT [DELAY]`: seconds that a rank waits for the
// others, and that this one takes before it computes, to see what happens then.
#include "Loops.h"

#include "attn/Distributed/MpiCommunicator.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

using namespace attn;

static constexpr PlanSizes sizes{
    /*batch=*/2,   /*heads=*/4,    /*keyHeads=*/2,
    /*headDim=*/8, /*valueDim=*/8, sizeof(float)};

/// [batch, heads, tokens, dim], the same on all ranks.
struct Array {
  int64_t heads, tokens, dim;
  std::vector<float> values;

  Array(int64_t heads, int64_t tokens, int64_t dim)
      : heads(heads), tokens(tokens), dim(dim),
        values(sizes.batch * heads * tokens * dim) {}

  void fillRandomly(unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    for (float &value : values)
      value = normal(engine);
  }

  /// The tokens that a rank has.
  Array take(const TokenRanges &rows) const {
    Array part(heads, rows.count(), dim);
    for (int64_t head = 0; head < sizes.batch * heads; ++head)
      forEachToken(rows, [&](int64_t number, int64_t token) {
        const float *from = &values[(head * tokens + token) * dim];
        float *to = &part.values[(head * part.tokens + number) * dim];
        std::copy(from, from + dim, to);
      });
    return part;
  }
};

/// Inputs and what is computed of them.
struct Attention {
  Array query, key, value, dOutput, output, lse, dQuery, dKey, dValue;

  explicit Attention(int64_t tokens)
      : query(sizes.heads, tokens, sizes.headDim),
        key(sizes.keyHeads, tokens, sizes.headDim),
        value(sizes.keyHeads, tokens, sizes.valueDim),
        dOutput(sizes.heads, tokens, sizes.valueDim), output(dOutput),
        lse(sizes.heads, tokens, 1), dQuery(query), dKey(key), dValue(value) {}

  CallResults getResults() { return {output.values.data(), lse.values.data()}; }
  CallGradients getGradients() {
    return {dQuery.values.data(), dKey.values.data(), dValue.values.data()};
  }
};

/// All tokens, by one call.
static Attention computeWhole(int64_t tokens) {
  Attention whole(tokens);
  whole.query.fillRandomly(1);
  whole.key.fillRandomly(2);
  whole.value.fillRandomly(3);
  whole.dOutput.fillRandomly(4);
  Call call{TokenRanges{{0, tokens}}, TokenRanges{{0, tokens}}, 0};
  CallInputs inputs{call,
                    {0, sizes.heads},
                    {0, sizes.keyHeads},
                    whole.query.values.data(),
                    whole.key.values.data(),
                    whole.value.values.data()};
  (void)computeForward(sizes, inputs, whole.getResults());
  (void)computeBackward(sizes, inputs, whole.getResults(),
                        whole.dOutput.values.data(), whole.getGradients());
  return whole;
}

static double getDifference(const Array &part, const Array &whole,
                            const TokenRanges &rows) {
  std::vector<float> expected = whole.take(rows).values;
  double most = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    most = std::max(most, std::abs(double(part.values[i]) - expected[i]));
  return most;
}

static PlanKernels makeKernels(double delay) {
  PlanKernels kernels;
  kernels.description = "causal, loops";
  kernels.forward = [=](const CallInputs &inputs, const CallResults &results) {
    std::this_thread::sleep_for(std::chrono::duration<double>(delay));
    return computeForward(sizes, inputs, results);
  };
  kernels.backward = [](const CallInputs &inputs, const CallResults &results,
                        const void *dOutput, const CallGradients &gradients) {
    return computeBackward(sizes, inputs, results, dOutput, gradients);
  };
  return kernels;
}

/// This rank's part; the largest difference of its tokens.
static Result<double> run(const Plan &plan, const PlanCommunicator &ranks,
                          double delay) {
  Attention whole = computeWhole(plan.tokens);
  TokenRanges rows;
  if (ranks.rank < int64_t(plan.ranks.size()))
    rows = plan.ranks[ranks.rank].rows;
  Attention part(rows.count());
  Array query = whole.query.take(rows), key = whole.key.take(rows),
        value = whole.value.take(rows), dOutput = whole.dOutput.take(rows);
  PlanExecutor executor(plan, sizes, ranks, makeKernels(delay));
  auto saved = executor.forward(
      {query.values.data(), key.values.data(), value.values.data()},
      part.getResults());
  if (!saved)
    return Error{saved.error()};
  if (Status status = executor.backward(**saved, dOutput.values.data(),
                                        part.getGradients());
      !status)
    return Error{status.error()};
  std::printf("rank %d: %d tokens, %d bytes sent\n", int(ranks.rank),
              int(rows.count()), int(executor.getSentBytes()));
  double most = 0;
  for (Array Attention::*array :
       {&Attention::output, &Attention::lse, &Attention::dQuery,
        &Attention::dKey, &Attention::dValue})
    most = std::max(most, getDifference(part.*array, whole.*array, rows));
  return most;
}

static int fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return fail("expected PLAN LIMIT [DELAY]");
  std::ifstream file(argv[1]);
  std::string text(std::istreambuf_iterator<char>(file), {});
  Result<Plan> plan = readPlan(text);
  if (!plan)
    return fail(argv[1] + (": " + plan.error()));
  MPI_Init(&argc, &argv);
  PlanCommunicator ranks =
      makeMpiCommunicator(MPI_COMM_WORLD, std::atof(argv[2]));
  Result<double> most = run(*plan, ranks, argc > 3 ? std::atof(argv[3]) : 0);
  if (!most) {
    // Others may still wait for this rank's messages.
    fail(most.error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  double all = 0;
  MPI_Reduce(&*most, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (ranks.rank == 0)
    std::printf("largest difference from the whole: %.6f\n", all);
  MPI_Finalize();
  return all < 1e-4 ? 0 : 1;
}
