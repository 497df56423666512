//===- RunnerTest.cpp - PTX and manifest on host buffers ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// D = A B^T with TMA and wgmma from stored PTX: numbers, traffic, schedules,
/// mutants, and every way in which PTX, manifest and operands may disagree.
///
//===----------------------------------------------------------------------===//

#include "attn/Simulator/ManifestRunner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>

using namespace attn;
using namespace attn::sim;
using runtime::HostTensor;

namespace {

constexpr int64_t rowsA = 64, rowsB = 128, depth = 128;

std::string readInput(const char *name) {
  std::ifstream file(std::string(ATTN_TEST_INPUTS) + "/" + name);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

/// Multiples of 1/4 of a few bits: all sums of products are exact in f32.
float element(int64_t row, int64_t k) {
  return float((row * 7 + k * 13 + row * k) % 17 - 8) * 0.25f;
}

HostTensor makeMatrix(int64_t rows) {
  HostTensor tensor(runtime::DType::BF16, {rows, depth});
  char *target = tensor.data.data();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t k = 0; k < depth; ++k) {
      float value = element(row, k);
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      *target++ = char(bits >> 16);
      *target++ = char(bits >> 24);
    }
  return tensor;
}

class Runner : public ::testing::Test {
protected:
  void SetUp() override {
    auto result = runtime::readManifest(readInput("wgmma-tma.json"));
    ASSERT_TRUE(bool(result)) << result.error();
    manifest = *result;
    ptx = readInput("wgmma-tma.ptx");
    operands = {makeMatrix(rowsA), makeMatrix(rowsB), std::nullopt};
  }

  Result<ManifestRun> run(const std::string &text,
                          const Options &options = {}) {
    RunOptions runOptions;
    runOptions.simulator = options;
    runOptions.strides = strides;
    return runManifest(manifest, text, "wgmma-tma.ptx", operands, runOptions);
  }
  std::string runError() {
    auto result = run(ptx);
    EXPECT_FALSE(bool(result));
    return result ? "" : result.error();
  }

  /// The number of wrong elements of D.
  int64_t wrongElements() const {
    int64_t wrong = 0;
    for (int64_t m = 0; m < rowsA; ++m)
      for (int64_t n = 0; n < rowsB; ++n) {
        float expected = 0, got;
        for (int64_t k = 0; k < depth; ++k)
          expected += element(m, k) * element(n, k);
        std::memcpy(&got, &operands[2]->data[(m * rowsB + n) * 4], 4);
        wrong += got != expected;
      }
    return wrong;
  }

  runtime::Manifest manifest;
  std::string ptx;
  std::vector<std::optional<HostTensor>> operands;
  std::map<std::string, std::vector<int64_t>> strides;
};

TEST_F(Runner, ExactAndCounted) {
  auto result = run(ptx);
  ASSERT_TRUE(bool(result)) << result.error();
  ASSERT_TRUE(result->clean()) << result->diagnostics().front().str();
  EXPECT_EQ(wrongElements(), 0);
  EXPECT_EQ(result->counters.mmaFlops, uint64_t(2 * rowsA * rowsB * depth));
  EXPECT_EQ(result->counters.tmaLoadBytes,
            uint64_t((rowsA + rowsB) * depth * 2));
  for (const BufferTraffic &buffer : result->counters.buffers) {
    const PathBytes &tma = buffer.paths[size_t(GlobalPath::Tma)];
    const PathBytes &ldst = buffer.paths[size_t(GlobalPath::LoadStore)];
    if (buffer.name == "a") {
      EXPECT_EQ(tma.read, uint64_t(rowsA * depth * 2));
    } else if (buffer.name == "b") {
      EXPECT_EQ(tma.read, uint64_t(rowsB * depth * 2));
    } else if (buffer.name == "d") {
      EXPECT_EQ(ldst.write, uint64_t(rowsA * rowsB * 4));
    }
  }
  std::string json = result->json();
  EXPECT_NE(json.find("\"predicted\""), std::string::npos);
}

TEST_F(Runner, EveryScheduleWithAllChecks) {
  for (uint64_t seed = 0; seed <= 10; ++seed) {
    Options options;
    options.checks = Checks::all();
    options.seed = seed;
    options.slice = 20;
    operands[2].reset();
    auto result = run(ptx, options);
    ASSERT_TRUE(bool(result)) << result.error();
    ASSERT_TRUE(result->clean()) << result->diagnostics().front().str();
    EXPECT_EQ(wrongElements(), 0) << seed;
  }
}

TEST_F(Runner, StridesAreLayoutsInDeviceMemory) {
  // Rows of A are 24 elements apart from their ends, those of B far apart.
  strides = {{"a", {depth + 24, 1}}, {"b", {1024, 1}}};
  auto result = run(ptx);
  ASSERT_TRUE(bool(result)) << result.error();
  ASSERT_TRUE(result->clean()) << result->diagnostics().front().str();
  EXPECT_EQ(wrongElements(), 0);
}

TEST_F(Runner, WritesBetweenElementsAreFound) {
  // The kernel stores D row-major whatever its strides.
  strides = {{"d", {rowsB + 2, 1}}};
  auto result = run(ptx);
  ASSERT_TRUE(bool(result)) << result.error();
  ASSERT_EQ(result->diagnostics().size(), 1u);
  EXPECT_EQ(result->diagnostics().front().str(),
            "error: memcheck: operand d was written between its elements, at "
            "byte 512\n  remedy: check the strides and the bounds of the "
            "stores");
  strides = {{"e", {1}}};
  EXPECT_EQ(runError(), "strides of 'e': no such operand");
  strides = {{"a", {1}}};
  EXPECT_EQ(runError(), "operand a: expected 2 strides, got 1");
}

TEST_F(Runner, TimelineHasTheUnits) {
  Options options;
  options.traceClusters = 1;
  auto result = run(ptx, options);
  ASSERT_TRUE(bool(result));
  uint64_t tensorCycles = 0, copies = 0;
  for (const TraceEvent &event : result->timeline.events) {
    EXPECT_LT(event.begin, event.end);
    if (event.track == tensorTrack)
      tensorCycles += event.end - event.begin;
    copies += event.track == copyTrack;
  }
  // 4096 flops per cycle; a copy of A and of B for each of two steps of 64.
  EXPECT_EQ(tensorCycles, uint64_t(2 * rowsA * rowsB * depth / 4096));
  EXPECT_EQ(copies, 4u);
  std::string json = result->timeline.chromeJson();
  EXPECT_NE(json.find("\"name\": \"tensor cores\""), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Mutants
//===----------------------------------------------------------------------===//

struct Mutation {
  const char *name;
  const char *pattern;
  const char *replacement;
};

// The loop that this problem executes is unrolled; each edit is made
// everywhere.
const Mutation mutations[] = {
    {"no wait for the copies", "mbarrier.try_wait[^;]*;",
     "setp.eq.u32 P, 0, 0;"},
    {"wait for the other phase",
     "(mbarrier.try_wait.parity.shared::cta.b64 P, \\[%r\\d+\\]), %r\\d+;",
     "$1, 1;"},
    {"no wait for wgmma", "wgmma.wait_group.sync.aligned 0;", ""},
    {"wait for all but one wgmma", "wgmma.wait_group.sync.aligned 0;",
     "wgmma.wait_group.sync.aligned 1;"},
    {"no commit", "wgmma.commit_group.sync.aligned;", ""},
    {"no wgmma fence", "wgmma.fence.sync.aligned;", ""},
    {"no expect_tx", "(mbarrier.arrive.expect_tx[^;]*), %r\\d+;", "$1, 0;"},
    {"expect too many bytes", "(mbarrier.arrive.expect_tx[^;]*), %r\\d+;",
     "$1, 32768;"},
    {"one copy missing",
     "(cp.async.bulk.tensor[^;]*;)([^]*?)cp.async.bulk.tensor[^;]*;", "$1$2"},
    {"transposed B flag", "1, 1, 0, 0;", "1, 1, 0, 1;"},
    {"negated A", "1, 1, 0, 0;", "-1, 1, 0, 0;"},
    {"mbarrier not initialized", "mbarrier.init[^;]*;", ""},
    {"mbarrier counts two", "(mbarrier.init[^;]*), %r\\d+;", "$1, 2;"},
};

TEST_F(Runner, EveryMutantIsCaught) {
  Options options;
  options.checks = Checks::all();
  options.maxWarpInstructions = 1000000;
  for (const Mutation &mutation : mutations) {
    std::string mutant = std::regex_replace(ptx, std::regex(mutation.pattern),
                                            mutation.replacement);
    ASSERT_NE(mutant, ptx) << mutation.name;
    operands[2].reset();
    auto result = run(mutant, options);
    ASSERT_TRUE(bool(result)) << mutation.name << ": " << result.error();
    EXPECT_TRUE(!result->clean() || wrongElements() > 0) << mutation.name;
  }
}

//===----------------------------------------------------------------------===//
// Disagreement
//===----------------------------------------------------------------------===//

TEST_F(Runner, ManifestAndPtxDisagree) {
  manifest.target = "sm_80";
  EXPECT_EQ(runError(), "manifest is for sm_80, the PTX for sm_90a");
  manifest.target = "sm_90a";
  manifest.kernels[0].entry = "other";
  EXPECT_EQ(runError(), "wgmma-tma.ptx: no entry named 'other'");
  manifest.kernels[0].entry = "kwg";
  manifest.kernels[0].parameters[3].kind = runtime::ParameterKind::I64;
  EXPECT_EQ(runError(), "kernel kwg: parameter 3 (kwg_param_3) has 8 bytes in "
                        "the manifest, 4 in the PTX");
  manifest.kernels[0].parameters.pop_back();
  EXPECT_EQ(runError(), "kernel kwg: manifest has 3 parameters, the PTX 4");
}

TEST_F(Runner, OperandsDisagree) {
  operands[0]->dtype = runtime::DType::F16;
  EXPECT_EQ(runError(), "operand a: expected dtype bf16, got f16");
  operands[0]->dtype = runtime::DType::BF16;
  operands[0]->shape = {64, 64};
  EXPECT_EQ(runError(), "operand b: expected dim 1 (K) to be 64, got 128");
  operands[0]->shape = {64, 128};
  operands[0]->data.resize(100);
  EXPECT_EQ(runError(), "operand a: expected 16384 bytes, got 100");
  operands.pop_back();
  EXPECT_EQ(runError(), "expected 3 operands, got 2");
}

TEST_F(Runner, TensorMapsAreChecked) {
  manifest.kernels[0].parameters[0].tensorMap.box = {128, 64};
  EXPECT_EQ(runError(), "kernel kwg: parameter 0: tensor map: inner box is 256 "
                        "bytes, the swizzle span is 128");
}

} // namespace
