//===- ManifestBindingTest.cpp - Actual operands against a manifest -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestManifest.h"
#include "attn/Runtime/Manifest.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::runtime;

namespace {

class Binding : public ::testing::Test {
protected:
  void SetUp() override {
    Result<Manifest> result = readManifest(testManifestText);
    ASSERT_TRUE(bool(result)) << result.error();
    manifest = *result;
    operands = {OperandBinding{{2, 8, 300, 128}, {}, 0},
                OperandBinding{{2, 4, 500, 128}, {}, 0}, std::nullopt};
  }

  std::string bindError() {
    Result<BoundProblem> problem = bindOperands(manifest, operands);
    EXPECT_FALSE(bool(problem));
    return problem ? "" : problem.error();
  }

  Manifest manifest;
  std::vector<std::optional<OperandBinding>> operands;
};

TEST_F(Binding, InfersTheOutput) {
  Result<BoundProblem> problem = bindOperands(manifest, operands);
  ASSERT_TRUE(bool(problem)) << problem.error();
  EXPECT_EQ(problem->symbols.at("N"), 500);
  EXPECT_EQ(problem->operands[2].shape, (std::vector<int64_t>{2, 8, 300, 128}));
  EXPECT_EQ(problem->operands[2].strides,
            (std::vector<int64_t>{307200, 38400, 128, 1}));
}

/// A size that only the output has follows from the constraint that names it.
TEST_F(Binding, SolvesASizeOfTheOutput) {
  manifest.operands[2].shape[3] = {0, "chunks"};
  EXPECT_EQ(bindError(),
            "operand output: no other operand gives the size chunks");
  manifest.constraints.push_back(
      {"2 * dim(output, 3) - ceildiv(M, 64)", 1, "expected chunks"});
  Result<BoundProblem> problem = bindOperands(manifest, operands);
  ASSERT_TRUE(bool(problem)) << problem.error();
  EXPECT_EQ(problem->operands[2].shape, (std::vector<int64_t>{2, 8, 300, 3}));
  manifest.constraints.back().equals = 2; // of which 5 is no even number
  EXPECT_EQ(bindError(), "expected chunks: expected 2 * dim(output, 3) - "
                         "ceildiv(M, 64) to be 2, got 1");
  manifest.constraints.back().equals = -8;
  EXPECT_EQ(bindError(),
            "operand output: no other operand gives the size chunks");
  manifest.constraints.back().expr = "mod(dim(output, 3), 1)";
  EXPECT_EQ(bindError(),
            "operand output: no other operand gives the size chunks");
}

TEST_F(Binding, ResolvesTheLaunch) {
  Result<BoundProblem> problem = bindOperands(manifest, operands);
  ASSERT_TRUE(bool(problem));
  Result<std::vector<KernelLaunch>> launches = resolveLaunches(*problem);
  ASSERT_TRUE(bool(launches)) << launches.error();
  const KernelLaunch &launch = launches->front();
  EXPECT_EQ(launch.grid, (std::array<int64_t, 3>{3, 8, 2}));
  EXPECT_EQ(launch.sharedBytes, 65536);
  EXPECT_EQ(launch.parameters[0].dims, (std::vector<uint64_t>{128, 500, 8}));
  EXPECT_EQ(launch.parameters[0].stridesBytes,
            (std::vector<uint64_t>{256, 128000}));
  EXPECT_EQ(launch.parameters[2].byteOffset, 1200);
  EXPECT_EQ(launch.parameters[4].scalar.integer, 300);
  EXPECT_EQ(launch.parameters[5].scalar.integer, 307200);
  EXPECT_EQ(launch.parameters[6].scalar.real, 0.1875);
  Result<std::vector<int64_t>> sizes = workspaceBytes(*problem);
  ASSERT_TRUE(bool(sizes));
  EXPECT_EQ(sizes->front(), 2 * 8 * 300 * 4);
}

TEST_F(Binding, StridesOfAnotherLayout) {
  // BNHD: [B, M, H, D] in memory.
  operands[0]->strides = {300 * 8 * 128, 128, 8 * 128, 1};
  Result<BoundProblem> problem = bindOperands(manifest, operands);
  ASSERT_TRUE(bool(problem)) << problem.error();
  EXPECT_EQ(*evaluateInteger("stride(query, 2)", *problem, "test"), 1024);
}

TEST_F(Binding, ShapeErrors) {
  operands[0]->shape[3] = 64;
  EXPECT_EQ(bindError(), "operand query: expected dim 3 to be 128, got 64");
  operands[0]->shape = {2, 8, 300};
  EXPECT_EQ(bindError(), "operand query: expected rank 4, got 3");
  operands[0]->shape = {3, 8, 300, 128};
  EXPECT_EQ(bindError(), "operand key: expected dim 0 (B) to be 3, got 2");
  operands[0]->shape = {2, 8, -1, 128};
  EXPECT_EQ(bindError(),
            "operand query: expected dim 2 to be at least 0, got -1");
}

TEST_F(Binding, StrideErrors) {
  operands[0]->strides = {307200, 38400, 128, 2};
  EXPECT_EQ(bindError(), "operand query: expected stride 3 to be 1, got 2");
  operands[0]->strides = {307200, 38400, 132, 1};
  EXPECT_EQ(bindError(),
            "operand query: expected stride 2 to be a multiple of 8, got "
            "132");
  operands[0]->strides = {307200, 38400, 128};
  EXPECT_EQ(bindError(), "operand query: expected 4 strides, got 3");
}

TEST_F(Binding, OtherErrors) {
  operands[0]->address = 1000;
  EXPECT_EQ(bindError(), "operand query: expected alignment to 16 bytes, got "
                         "address 1000");
  operands[0]->address = 0;
  operands[1]->shape[1] = 3;
  EXPECT_EQ(bindError(),
            "query heads must be a multiple of key heads: expected "
            "mod(dim(query, 1), dim(key, 1)) to be 0, got 2");
  operands[1].reset();
  EXPECT_EQ(bindError(), "operand key: not given");
  operands.pop_back();
  EXPECT_EQ(bindError(), "expected 3 operands, got 2");
}

TEST_F(Binding, OutputsHaveMemoryOfTheirOwn) {
  const uint64_t bytes = 2 * 8 * 300 * 128 * 2;
  operands[0]->address = 1 << 20;
  operands[2] = OperandBinding{{2, 8, 300, 128}, {}, 1 << 20};
  std::string fault = "operand output: expected memory of its own, got that of "
                      "operand query";
  EXPECT_EQ(bindError(), fault);
  operands[2]->address = (1 << 20) + bytes - 16;
  EXPECT_EQ(bindError(), fault);
  operands[2]->address = (1 << 20) + bytes;
  EXPECT_TRUE(bool(bindOperands(manifest, operands)));
  // Rows of one tensor between those of the other; both at one place are not.
  for (auto *operand : {&operands[0], &operands[2]})
    (*operand)->strides = {2 * 8 * 300 * 128, 2 * 300 * 128, 2 * 128, 1};
  operands[2]->address = (1 << 20) + 128 * 2;
  EXPECT_TRUE(bool(bindOperands(manifest, operands)));
  operands[2]->address = 1 << 20;
  EXPECT_EQ(bindError(), fault);
}

TEST_F(Binding, EmptyProblem) {
  operands[0]->shape[2] = 0;
  Result<BoundProblem> problem = bindOperands(manifest, operands);
  ASSERT_TRUE(bool(problem)) << problem.error();
  Result<std::vector<KernelLaunch>> launches = resolveLaunches(*problem);
  ASSERT_TRUE(bool(launches));
  EXPECT_EQ(launches->front().grid[0], 0);
}

TEST_F(Binding, RepeatsTheKernels) {
  manifest.repeat = "ceildiv(M, 128)";
  manifest.kernels[0].grid[1] = "1 + iteration";
  manifest.kernels[0].parameters[2].byteOffset = "-(iteration * 512)";
  EXPECT_FALSE(validate(manifest));
  Result<Manifest> reread = readManifest(writeManifest(manifest));
  ASSERT_TRUE(bool(reread)) << reread.error();
  EXPECT_EQ(reread->repeat, manifest.repeat);
  Result<BoundProblem> problem = bindOperands(manifest, operands);
  ASSERT_TRUE(bool(problem)) << problem.error();
  Result<std::vector<KernelLaunch>> launches = resolveLaunches(*problem);
  ASSERT_TRUE(bool(launches)) << launches.error();
  ASSERT_EQ(launches->size(), 3u);
  EXPECT_EQ((*launches)[2].grid[1], 3);
  EXPECT_EQ((*launches)[2].parameters[2].byteOffset, -1024);
  EXPECT_EQ(problem->symbols.count("iteration"), 0u);
}

TEST_F(Binding, RepeatErrors) {
  manifest.repeat = "iteration";
  ASSERT_TRUE(validate(manifest));
  EXPECT_EQ(validate(manifest)->message,
            "repeat: unknown name 'iteration' in 'iteration'");
  manifest.repeat = "M - 301";
  Result<BoundProblem> problem = bindOperands(manifest, operands);
  ASSERT_TRUE(bool(problem)) << problem.error();
  EXPECT_EQ(resolveLaunches(*problem).error(),
            "repeat: expected 0 to 1048576, got -1");
}

TEST_F(Binding, ProgrammaticLaunches) {
  manifest.kernels.resize(3, manifest.kernels[0]);
  manifest.kernels[1].after = LaunchOrder::Programmatic;
  manifest.kernels[2].after = LaunchOrder::Programmatic;
  manifest.repeat = "2";
  auto resolve = [&] {
    Result<BoundProblem> problem = bindOperands(manifest, operands);
    EXPECT_TRUE(bool(problem));
    std::vector<bool> isProgrammatic;
    for (const KernelLaunch &launch : *resolveLaunches(*problem))
      isProgrammatic.push_back(launch.isProgrammatic);
    return isProgrammatic;
  };
  // A round begins when the one before has ended.
  EXPECT_EQ(resolve(),
            (std::vector<bool>{false, true, true, false, true, true}));
  // The first that has CTAs follows what is not of this manifest.
  manifest.kernels[0].grid[0] = "0";
  EXPECT_EQ(resolve(),
            (std::vector<bool>{false, false, true, false, true, true}));
}

TEST_F(Binding, LaunchErrors) {
  manifest.kernels[0].cluster[0] = 2;
  Result<BoundProblem> problem = bindOperands(manifest, operands);
  ASSERT_TRUE(bool(problem));
  EXPECT_EQ(resolveLaunches(*problem).error(),
            "kernels[0].grid[0]: expected a multiple of the cluster's 2 "
            "CTAs, got 3");
  manifest.kernels[0].cluster[0] = 1;
  manifest.kernels[0].parameters[4].value = "M * 100000000";
  EXPECT_EQ(resolveLaunches(*problem).error(),
            "kernels[0].parameters[4]: expected -2147483648 to 2147483647, "
            "got 30000000000");
  manifest.kernels[0].parameters[4].value = "1.5";
  EXPECT_EQ(resolveLaunches(*problem).error(),
            "kernels[0].parameters[4]: expected an integer, got a float in "
            "'1.5'");
}

} // namespace
