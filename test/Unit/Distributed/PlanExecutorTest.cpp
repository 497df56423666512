//===- PlanExecutorTest.cpp - Plans carried out by threads ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks are threads, kernels are loops, and what they give is held against the
// attention of the whole in f64.
//
//===----------------------------------------------------------------------===//

#include "attn/Distributed/PlanExecutor.h"

#include "ThreadRanks.h"
#include "WholeAttention.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <thread>

using namespace attn;

namespace {

constexpr double kLimit = 20; ///< seconds that ranks wait for each other

/// What a rank has of the whole, and what it got.
struct RankRun {
  Status forward, backward;
  std::vector<float> output, lse, dQuery, dKey, dValue, dBias, dSink;
  int64_t forwardBytes = 0, backwardBytes = 0;
};

using MakePlan = std::function<Plan(int64_t rank)>;

class Ranks {
public:
  Ranks(const WholeAttention &whole, int64_t size, double limit = kLimit)
      : whole(whole), size(size), limit(limit) {}

  PlanMemory memory = getHostMemory();
  std::function<PlanKernels(int64_t rank)> makeKernels = [&](int64_t) {
    return whole.makeKernels();
  };

  std::vector<RankRun> run(const MakePlan &plan) {
    std::vector<RankRun> runs(size);
    Mailboxes mailboxes(limit);
    std::vector<std::thread> threads;
    for (int64_t rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        runs[rank] = runRank(plan(rank), makeThreadRank(mailboxes, rank, size));
      });
    for (std::thread &thread : threads)
      thread.join();
    return runs;
  }

private:
  RankRun runRank(Plan plan, PlanCommunicator communicator) {
    RankRun run;
    int64_t rank = communicator.rank;
    TokenRanges rows = rank < int64_t(plan.ranks.size()) ? plan.ranks[rank].rows
                                                         : TokenRanges();
    const PlanSizes &s = whole.sizes;
    int64_t outer = s.batch * s.heads * rows.count();
    int64_t keyOuter = s.batch * s.keyHeads * rows.count();
    run.output.resize(outer * s.valueDim);
    run.lse.resize(outer);
    run.dQuery.resize(outer * s.headDim);
    run.dKey.resize(keyOuter * s.headDim);
    run.dValue.resize(keyOuter * s.valueDim);
    auto take = [&](const std::vector<float> &all, int64_t dim) {
      return takeTokens(all, rows, whole.tokens, dim);
    };
    std::vector<float> query = take(whole.query, s.headDim),
                       key = take(whole.key, s.headDim),
                       value = take(whole.value, s.valueDim),
                       dOutput = take(whole.dOutput, s.valueDim),
                       bias = take(whole.bias, whole.tokens);
    PlanInputs inputs{query.data(), key.data(), value.data()};
    if (!whole.sink.empty())
      inputs.sink = whole.sink.data();
    if (!whole.lengths.empty())
      inputs.lengths = whole.lengths.data();
    if (!whole.bias.empty())
      inputs.bias = bias.data();
    run.dBias.resize(bias.size());
    PlanExecutor executor(std::move(plan), s, std::move(communicator),
                          makeKernels(rank), memory);
    CallResults results{run.output.data(), run.lse.data()};
    auto saved = executor.forward(inputs, results);
    run.forwardBytes = executor.getSentBytes();
    if (!saved) {
      run.forward = run.backward = Error{saved.error()};
      return run;
    }
    run.backward = executor.backward(
        **saved, dOutput.data(),
        {run.dQuery.data(), run.dKey.data(), run.dValue.data(),
         bias.empty() ? nullptr : run.dBias.data()});
    run.dSink.resize(whole.sink.size());
    if (inputs.sink)
      computeSinkGradient(s, rows.count(), inputs.sink, results, dOutput.data(),
                          run.dSink.data());
    run.backwardBytes = executor.getSentBytes() - run.forwardBytes;
    return run;
  }

  const WholeAttention &whole;
  int64_t size;
  double limit;
};

void expectNear(const std::vector<float> &got, const std::vector<double> &whole,
                const TokenRanges &rows, int64_t tokens, int64_t dim,
                const std::string &what) {
  std::vector<double> expected = takeTokens(whole, rows, tokens, dim);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isinf(expected[i]))
      ASSERT_EQ(got[i], expected[i]) << what << " " << i;
    else
      ASSERT_NEAR(got[i], expected[i], 2e-5) << what << " " << i;
  }
}

/// Runs the plan, after a way through JSON, and compares all ranks with f64.
std::vector<RankRun> expectRight(const WholeAttention &whole, const Plan &plan,
                                 const PlanMemory &memory = getHostMemory()) {
  std::string name = plan.printScheme() + ", " + plan.placement;
  Result<Plan> read = readPlan(getPlanJson(plan).dump());
  EXPECT_TRUE(read) << name << ": " << read.error();
  EXPECT_EQ(getPlanJson(*read), getPlanJson(plan));
  Ranks ranks(whole, plan.ranks.size());
  ranks.memory = memory;
  std::vector<RankRun> runs = ranks.run([&](int64_t) { return *read; });
  WholeResults expected = whole.compute();
  for (size_t rank = 0; rank < runs.size(); ++rank) {
    const RankRun &run = runs[rank];
    EXPECT_TRUE(run.forward) << name << ": " << run.forward.error();
    EXPECT_TRUE(run.backward) << name << ": " << run.backward.error();
    auto compare = [&](const std::vector<float> &got,
                       const std::vector<double> &all, int64_t dim,
                       const char *what) {
      expectNear(got, all, plan.ranks[rank].rows, whole.tokens, dim,
                 name + ": rank " + std::to_string(rank) + " " + what);
    };
    compare(run.output, expected.output, whole.sizes.valueDim, "output");
    compare(run.lse, expected.lse, 1, "lse");
    compare(run.dQuery, expected.dQuery, whole.sizes.headDim, "dQuery");
    compare(run.dKey, expected.dKey, whole.sizes.headDim, "dKey");
    compare(run.dValue, expected.dValue, whole.sizes.valueDim, "dValue");
    if (!whole.bias.empty())
      compare(run.dBias, expected.dBias, whole.tokens, "dBias");
  }
  for (size_t head = 0; head < whole.sink.size(); ++head) {
    double sum = 0;
    for (const RankRun &run : runs)
      sum += run.dSink[head];
    EXPECT_NEAR(sum, expected.dSink[head], 2e-5) << name;
  }
  return runs;
}

Placement getPlacement(const Visibility &visibility, int64_t ranks,
                       int64_t chunk, const std::string &name) {
  for (Placement &placement : getPlacements(visibility, ranks, chunk))
    if (placement.name == name)
      return placement;
  ADD_FAILURE() << "no placement " << name;
  return {};
}

bool seesBefore(int64_t i, int64_t j) { return j <= i; }

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

// Every scheme, over every placement of random masks, of which some rows see
// nothing, and with tokens that ranks cannot share out evenly.
TEST(PlanExecutor, RandomMasksByAllSchemes) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    int64_t tokens = 61 + int64_t(seed), chunk = 8, ranks = 4;
    auto sees = [=](int64_t i, int64_t j) {
      bool isLone = i % 11 == 3;
      return !isLone && (i * 7919 + j * 104729 + seed * 31 + i * j) % 5 < 2 &&
             (seed == 0 || std::abs(i - j) < 30);
    };
    PredicateVisibility visibility(tokens, sees);
    WholeAttention whole(tokens, {2, 4, 2, 8, 6, 4}, sees, seed);
    for (int64_t shards : {1, 2, 4})
      for (const Placement &placement :
           getPlacements(visibility, ranks / shards, chunk))
        for (Scheme scheme : {Scheme::GroupCast, Scheme::AllGather,
                              Scheme::Ring, Scheme::QueryCast})
          for (KeyOrder order : {KeyOrder::Ascending, KeyOrder::OwnFirst})
            if (scheme != Scheme::QueryCast ||
                (shards == 1 && order == KeyOrder::OwnFirst))
              expectRight(whole, buildPlan(visibility, placement, scheme, order,
                                           shards, chunk));
  }
}

// One rank, ranks without tokens, and documents: no special cases.
TEST(PlanExecutor, RanksWithoutWork) {
  WholeAttention causal(16, {1, 2, 1, 4, 4, 4}, seesBefore, 1);
  BandVisibility band(16, MaskPattern::causal());
  for (int64_t ranks : {1, 2, 3})
    expectRight(causal,
                buildPlan(band, getPlacement(band, ranks, 4, "contiguous"),
                          Scheme::GroupCast, KeyOrder::OwnFirst, 1, 4));
  Placement idle{"idle", {{}, {{0, 4}, {12, 16}}, {}, {{4, 12}}}};
  for (Scheme scheme :
       {Scheme::GroupCast, Scheme::AllGather, Scheme::Ring, Scheme::QueryCast})
    expectRight(causal,
                buildPlan(band, idle, scheme, KeyOrder::OwnFirst, 1, 4));
  DocumentVisibility documents({5, 20, 7}, MaskPattern::causal());
  auto sees = [&](int64_t i, int64_t j) {
    return documents.countPairs({i, i + 1}, {j, j + 1}) == 1;
  };
  WholeAttention whole(32, {1, 2, 2, 4, 4, 4}, sees, 2);
  for (const Placement &placement : getPlacements(documents, 3, 4))
    expectRight(whole, buildPlan(documents, placement, Scheme::GroupCast,
                                 KeyOrder::Ascending, 1, 4));
}

// Beside scores, in every way that rows and keys move: rows that see nothing
// but the sink, batches that end before a rank begins.
TEST(PlanExecutor, SinkLengthsAndBias) {
  int64_t tokens = 40;
  auto sees = [](int64_t i, int64_t j) { return j <= i && i != 5; };
  PredicateVisibility visibility(tokens, sees);
  WholeAttention whole(tokens, {2, 4, 2, 8, 6, 4}, sees, 6);
  whole.sink = {0.5f, -1, 2, 0};
  whole.lengths = {40, 13};
  struct Way {
    Scheme scheme;
    int64_t shards;
  };
  auto makePlan = [&](Way way) {
    return buildPlan(visibility,
                     getPlacement(visibility, 4 / way.shards, 4, "zigzag"),
                     way.scheme, KeyOrder::OwnFirst, way.shards, 4);
  };
  Way moving[] = {{Scheme::QueryCast, 1}, {Scheme::Ring, 2}};
  for (Way way : moving)
    expectRight(whole, makePlan(way));
  std::mt19937 engine(8);
  std::normal_distribution<float> normal;
  whole.bias.resize(2 * 4 * tokens * tokens);
  for (float &value : whole.bias)
    value = normal(engine);
  for (Scheme scheme : {Scheme::GroupCast, Scheme::AllGather, Scheme::Ring})
    expectRight(whole, makePlan({scheme, 1}), getHiddenMemory());
  for (Way way : moving) {
    Plan plan = makePlan(way);
    for (const RankRun &run :
         Ranks(whole, 4).run([&](int64_t) { return plan; }))
      EXPECT_EQ(run.forward.error(),
                "expected a plan that moves keys, with head_shards 1, for a "
                "bias, whose rows do not travel, got " +
                    plan.printScheme());
  }
}

// One call over keys in ascending order: bits do not depend on the ranks.
TEST(PlanExecutor, BitsOfOneRank) {
  WholeAttention whole(48, {1, 2, 1, 8, 8, 4}, seesBefore, 3);
  BandVisibility band(48, MaskPattern::causal());
  auto makePlan = [&](int64_t ranks, const std::string &placement) {
    return buildPlan(band, getPlacement(band, ranks, 4, placement),
                     Scheme::GroupCast, KeyOrder::Ascending, 1, 4);
  };
  RankRun one = expectRight(whole, makePlan(1, "contiguous"))[0];
  Plan plan = makePlan(4, "zigzag");
  std::vector<RankRun> four = expectRight(whole, plan);
  for (size_t rank = 0; rank < four.size(); ++rank) {
    auto take = [&](const std::vector<float> &all, int64_t dim) {
      return takeTokens(all, plan.ranks[rank].rows, 48, dim);
    };
    EXPECT_EQ(four[rank].output, take(one.output, 8));
    EXPECT_EQ(four[rank].lse, take(one.lse, 1));
    EXPECT_EQ(four[rank].dQuery, take(one.dQuery, 8));
  }
}

// (P-1)/P n e (Hq + max(1, P/Hkv) Hkv)(D + Dv) of an exchange of heads; of the
// others the tokens of the plan, and as many again in f32.
TEST(PlanExecutor, BytesAreThoseOfThePlan) {
  int64_t tokens = 64, ranks = 4;
  BandVisibility band(tokens, MaskPattern::causal());
  WholeAttention whole(tokens, {2, 4, 2, 8, 6, 4}, seesBefore, 4);
  Plan heads = buildPlan(band, getPlacement(band, 1, 4, "contiguous"),
                         Scheme::GroupCast, KeyOrder::Ascending, ranks, 4);
  for (const RankRun &run : expectRight(whole, heads)) {
    int64_t lse = 3 * 16 * 4 * 2;
    EXPECT_EQ(run.forwardBytes, 3 * 16 * (4 + 2 * 2) * (8 + 6) * 2 + lse);
    EXPECT_EQ(run.backwardBytes, 3 * 16 * (4 + 2 * 2) * (8 + 6) * 2);
  }
  Plan cast = buildPlan(band, getPlacement(band, ranks, 4, "contiguous"),
                        Scheme::GroupCast, KeyOrder::OwnFirst, 1, 4);
  std::vector<RankRun> runs = expectRight(whole, cast);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    // Rank r sends its 16 tokens to those behind it, of which r get sums back.
    int64_t tokenBytes = 2 * 2 * (8 + 6) * 4, behind = ranks - 1 - rank;
    EXPECT_EQ(runs[rank].forwardBytes, behind * 16 * tokenBytes);
    EXPECT_EQ(runs[rank].backwardBytes, (behind + rank) * 16 * tokenBytes);
  }
  // Its queries go to those before it, and results of rows behind it return.
  Plan queries = buildPlan(band, getPlacement(band, ranks, 4, "contiguous"),
                           Scheme::QueryCast, KeyOrder::OwnFirst, 1, 4);
  runs = expectRight(whole, queries);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t behind = 16 * (ranks - 1 - rank), before = 16 * rank, rows = 2 * 4;
    int64_t query = 8 * 4, output = 6 * 4, lse = 4;
    EXPECT_EQ(runs[rank].forwardBytes,
              rows * (before * query + behind * (output + lse)));
    // dO and O of f32 go with them, and dQ comes back.
    EXPECT_EQ(runs[rank].backwardBytes,
              rows * (before * (query + 2 * output + lse) + behind * query));
  }
}

// Addresses that cannot be read but by the table: the executor touches nothing.
TEST(PlanExecutor, AnotherMemory) {
  BandVisibility band(32, MaskPattern::causal());
  WholeAttention whole(32, {1, 4, 2, 4, 4, 4}, seesBefore, 5);
  for (int64_t shards : {1, 2})
    expectRight(whole,
                buildPlan(band, getPlacement(band, 4 / shards, 4, "contiguous"),
                          Scheme::Ring, KeyOrder::OwnFirst, shards, 4),
                getHiddenMemory());
  expectRight(whole,
              buildPlan(band, getPlacement(band, 4, 4, "zigzag"),
                        Scheme::QueryCast, KeyOrder::OwnFirst, 1, 4),
              getHiddenMemory());
}

//===----------------------------------------------------------------------===//
// Errors, on all ranks
//===----------------------------------------------------------------------===//

class PlanExecutorErrors : public ::testing::Test {
protected:
  Plan makePlan(int64_t ranks, const std::string &placement = "contiguous") {
    return buildPlan(band, getPlacement(band, ranks, 4, placement),
                     Scheme::GroupCast, KeyOrder::OwnFirst, 1, 4);
  }
  void expectErrors(Ranks &ranks, const MakePlan &plan,
                    const std::string &message) {
    for (const RankRun &run : ranks.run(plan)) {
      EXPECT_FALSE(run.backward);
      EXPECT_NE(run.backward.error().find(message), std::string::npos)
          << run.backward.error();
    }
  }

  BandVisibility band{32, MaskPattern::causal()};
  WholeAttention whole{32, {1, 2, 1, 4, 4, 4}, seesBefore, 6};
};

TEST_F(PlanExecutorErrors, AnotherPlan) {
  Ranks ranks(whole, 4);
  expectErrors(
      ranks,
      [&](int64_t rank) {
        return makePlan(4, rank == 2 ? "zigzag" : "contiguous");
      },
      "rank 2: expected what rank 0 has, plan ");
}

TEST_F(PlanExecutorErrors, AnotherKernel) {
  Ranks ranks(whole, 4);
  ranks.makeKernels = [&](int64_t rank) {
    PlanKernels kernels = whole.makeKernels();
    kernels.description = rank == 3 ? "scale 1" : "scale 2";
    return kernels;
  };
  expectErrors(
      ranks, [&](int64_t) { return makePlan(4); },
      "rank 3: expected what rank 0 has, plan ");
}

TEST_F(PlanExecutorErrors, PlanOfAnotherNumberOfRanks) {
  Ranks ranks(whole, 3);
  expectErrors(
      ranks, [&](int64_t) { return makePlan(4); },
      "expected a plan for 3 ranks, as there are, got one for 4");
}

TEST_F(PlanExecutorErrors, WrongSizes) {
  auto expectFault = [&](PlanSizes sizes, int64_t shards,
                         const std::string &message) {
    WholeAttention other(32, {1, 2, 1, 4, 4, 4}, seesBefore, 6);
    other.sizes = sizes;
    Plan plan = buildPlan(band, getPlacement(band, 4 / shards, 4, "contiguous"),
                          Scheme::GroupCast, KeyOrder::OwnFirst, shards, 4);
    Mailboxes mailboxes(kLimit);
    std::vector<std::thread> threads;
    for (int64_t rank = 0; rank < 4; ++rank)
      threads.emplace_back([&, rank] {
        PlanExecutor executor(plan, sizes, makeThreadRank(mailboxes, rank, 4),
                              whole.makeKernels());
        auto saved = executor.forward({}, {});
        EXPECT_FALSE(saved);
        EXPECT_EQ(saved.error(), message);
      });
    for (std::thread &thread : threads)
      thread.join();
  };
  expectFault({1, 0, 1, 4, 4, 4}, 1, "expected sizes of at least 1, got 0");
  expectFault({1, 4, 3, 4, 4, 4}, 1,
              "expected key heads that divide the 4 query heads, got 3");
  expectFault({1, 2, 1, 4, 4, 4}, 4,
              "expected heads that 4 ranks share out, got 2 query heads and 1 "
              "key heads");
}

// A rank that fails sends nothing any more: the others wait for as long as
// their limit is, and none of them hangs.
TEST_F(PlanExecutorErrors, RankThatDies) {
  Ranks ranks(whole, 4, 0.2);
  ranks.makeKernels = [&](int64_t rank) {
    PlanKernels kernels = whole.makeKernels();
    if (rank == 1)
      kernels.forward = [](const CallInputs &, const CallResults &) {
        return Status(Error{"rank 1 is no more: expected rank 1 to send"});
      };
    return kernels;
  };
  expectErrors(
      ranks, [&](int64_t) { return makePlan(4); }, "expected rank 1 to send");
}

TEST_F(PlanExecutorErrors, RankThatDoesNotCome) {
  Mailboxes mailboxes(0.1);
  PlanExecutor executor(makePlan(2), whole.sizes,
                        makeThreadRank(mailboxes, 0, 2), whole.makeKernels());
  auto saved = executor.forward({}, {});
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error(),
            "rank 0: expected rank 1 to send within 0.1 s, got nothing");
}

TEST_F(PlanExecutorErrors, NoMemory) {
  Ranks ranks(whole, 1);
  ranks.memory.allocate = [](size_t) { return std::shared_ptr<void>(); };
  expectErrors(
      ranks, [&](int64_t) { return makePlan(1); },
      "expected memory for 512 bytes, got none");
}

TEST_F(PlanExecutorErrors, NoBackward) {
  Ranks ranks(whole, 2);
  ranks.makeKernels = [&](int64_t) {
    PlanKernels kernels = whole.makeKernels();
    kernels.backward = nullptr;
    return kernels;
  };
  expectErrors(
      ranks, [&](int64_t) { return makePlan(2); },
      "expected a backward among the kernels, got none");
}

//===----------------------------------------------------------------------===//
// Reading plans
//===----------------------------------------------------------------------===//

TEST(PlanJson, SaysWhatIsWrong) {
  BandVisibility band(16, MaskPattern::causal());
  nlohmann::json good =
      getPlanJson(buildPlan(band, getPlacement(band, 2, 4, "contiguous"),
                            Scheme::GroupCast, KeyOrder::OwnFirst, 1, 4));
  auto expectError = [&](auto damage, const std::string &message) {
    nlohmann::json plan = good;
    damage(plan);
    Result<Plan> read = readPlan(plan.dump());
    ASSERT_FALSE(read) << message;
    EXPECT_EQ(read.error(), message);
  };
  using Json = nlohmann::json &;
  EXPECT_TRUE(readPlan(nlohmann::json{{"plan", good}}.dump()));
  EXPECT_EQ(readPlan("{").error(),
            "cannot read a plan: expected an object of JSON");
  expectError([](Json p) { p["schema"] = "x"; },
              "expected a plan of schema attn-mlir/plan/1, got \"x\"");
  auto expectField = [&](auto damage, const std::string &field) {
    expectError(damage, "expected a plan of schema attn-mlir/plan/1, got one "
                        "without a valid '" +
                            field + "'");
  };
  expectField([](Json p) { p["scheme"] = "rng"; }, "scheme");
  expectField([](Json p) { p["ranks"] = 4; }, "ranks");
  expectField([](Json p) { p["ranks"][0].erase("rows"); }, "rows");
  expectField([](Json p) { p["ranks"][0]["rows"] = {1, 2}; }, "rows");
  expectField([](Json p) { p["ranks"][1]["stages"][1]["receive"] = {1}; },
              "from");
  expectError([](Json p) { p["head_shards"] = 3; },
              "expected head_shards to divide 2 ranks, got 3");
  expectError(
      [](Json p) { p["ranks"] = nlohmann::json::array(), p["tokens"] = 0; },
      "expected head_shards to divide 0 ranks, got 1");
  expectError([](Json p) { p["ranks"][0]["stages"][1]["send"][0]["to"] = 2; },
              "rank 0, stage 1: expected rank 2 to receive what is sent to it");
  expectError(
      [](Json p) { p["ranks"][1]["stages"][1]["receive"][0]["from"] = 7; },
      "rank 0, stage 1: expected rank 1 to receive what is sent to it");
  expectError(
      [](Json p) {
        Json transfers = p["ranks"][1]["stages"][1]["receive"];
        transfers.push_back(transfers[0]);
      },
      "rank 0, stage 1: expected rank 1 to receive what is sent to it");
  expectError(
      [](Json p) {
        p["ranks"][0]["stages"][1]["send"][0]["keys"] = {{8, 9}};
        p["ranks"][1]["stages"][1]["receive"][0]["keys"] = {{8, 9}};
      },
      "rank 0, stage 1: expected to have what is sent to rank 1");
  expectError(
      [](Json p) {
        p["ranks"][1]["stages"][1]["calls"][0]["rows"] = {{8, 9}};
      },
      "rank 1, stage 1: expected calls of all rows that the rank has");
}

} // namespace
