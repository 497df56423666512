//===- ParserTest.cpp - PTX text and its errors ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

/// The message of the first finding for a body.
std::string bodyError(const std::string &body) { return finding(kernel(body)); }

TEST(Parser, DirectivesWithoutSpaces) {
  std::vector<uint32_t> buffer(32, 0);
  LaunchReport report =
      runOn(buffer, kernel("{.reg.b32 a,b; mov.b32 a, 5; shl.b32 b, a, 1;"
                           "st.global.u32 [%rd0], b;}"));
  ASSERT_TRUE(report.clean()) << report.diagnostics.front().str();
  EXPECT_EQ(buffer[0], 10u);
}

TEST(Parser, UnknownModifiersAreErrors) {
  std::vector<uint32_t> buffer(32, 0);
  for (const char *text :
       {"add.foo.s32 %r1, %r2, %r3;", "fma.rn.oob.f16x2 %r1, %r2, %r3, %r4;",
        "add.relu.s32 %r1, %r2, %r3;"}) {
    LaunchReport report = runOn(buffer, kernel(text));
    ASSERT_FALSE(report.clean()) << text;
    EXPECT_NE(report.diagnostics.front().str().find("unknown modifier '."),
              std::string::npos)
        << report.diagnostics.front().str();
  }
}

TEST(Parser, UnknownInstructionIsLocated) {
  EXPECT_EQ(bodyError("frobnicate.b32 %r1, %r2;"),
            "test.ptx:11: error: frobnicate.b32: unsupported instruction");
  EXPECT_EQ(bodyError("clusterlaunchcontrol.b32 [%r1], 32;"),
            "test.ptx:11: error: clusterlaunchcontrol.b32: unsupported "
            "instruction");
}

TEST(Parser, OperandErrors) {
  EXPECT_EQ(bodyError("add.s32 %r1, %r2;"),
            "test.ptx:11: error: add.s32: expected at least 3 operands, got "
            "2");
  EXPECT_EQ(bodyError("add.s32 %r1, %r2, %rd1;"),
            "test.ptx:11: error: add.s32: expected '%rd1' to have 32 bits");
  EXPECT_EQ(bodyError("add.s32 5, %r2, %r1;"),
            "test.ptx:11: error: add.s32: expected a register as destination, "
            "got '5'");
  EXPECT_EQ(bodyError("add.s32 %r1, %q2, %r1;"),
            "test.ptx:11: error: add.s32: expected a register or constant, got "
            "'%q2'");
  EXPECT_EQ(bodyError("selp.b32 %r1, %r2, %r3, %r4;"),
            "test.ptx:11: error: selp.b32: expected a predicate, got '%r4'");
  EXPECT_EQ(bodyError("bra NOWHERE;"),
            "test.ptx:11: error: unknown label 'NOWHERE'");
  EXPECT_EQ(bodyError("L: L: ret;"),
            "test.ptx:11: error: label 'L' is defined twice");
  EXPECT_EQ(bodyError("add.s32 %r1, %r2 %r3;"),
            "test.ptx:11: error: expected ',' or ';', found '%r3'");
}

TEST(Parser, VectorsAndFragments) {
  EXPECT_EQ(bodyError("ld.global.v4.u32 {%r1, %r2}, [%rd0];"),
            "test.ptx:11: error: ld.global.v4.u32: expected a vector of 4 "
            "elements, got 2");
  EXPECT_NE(bodyError("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,"
                      "%f2,%f3,%f4}, {%r1,%r2}, {%r3,%r4}, {%f1,%f2,%f3,%f4};")
                .find("expected fragments of 4, 4, 2 and 4 registers"),
            std::string::npos);
}

TEST(Parser, TypesOfArithmetic) {
  EXPECT_EQ(bodyError("mul.f32.f16 %f1, %f2, %f3;"),
            "test.ptx:11: error: mul.f32.f16: expected one type");
  EXPECT_EQ(bodyError("fma.rn.f64.f32 %fd1, %fd1, %fd1, %fd1;"),
            "test.ptx:11: error: fma.rn.f64.f32: expected one type");
  EXPECT_EQ(bodyError("add.f32.s32 %f1, %r2, %f3;"),
            "test.ptx:11: error: add.f32.s32: expected f16 or bf16 behind "
            ".f32");
  EXPECT_EQ(bodyError("fma.f32.f16 %f1, %h2, %h3, %f3;"),
            "test.ptx:11: error: fma.f32.f16: expected a rounding mode");
  EXPECT_EQ(bodyError("add.ftz.f32.f16 %f1, %h2, %f3;"),
            "test.ptx:11: error: add.ftz.f32.f16: expected no .ftz in mixed "
            "precision");
}

TEST(Parser, ModuleErrors) {
  EXPECT_EQ(finding(".version 8.0\n.target sm_80\n.address_size 32\n"),
            "test.ptx:3: error: expected 64-bit addresses, got 32");
  EXPECT_EQ(finding(".version 8.0\n.target sm_80\nnonsense\n"),
            "test.ptx:3: error: expected a directive, found 'nonsense'");
  EXPECT_EQ(finding(".visible .entry k(.param .u64 p) {\n mov.u32 %r1, 0;"),
            "test.ptx:1: error: expected '}' before the end of the file");
  EXPECT_EQ(finding(".visible .func f() { ret; }"),
            "test.ptx: error: no entry named 'k'");
}

TEST(Parser, ScopesHideNames) {
  EXPECT_EQ(
      evaluateOne("mov.u32 %r3, 1; { .reg .b32 %r3; mov.u32 %r3, 2; }", 0), 1u);
}

TEST(Parser, InitialisersAndAddresses) {
  std::string prefix =
      ".global .align 4 .b8 table[8] = {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};\n"
      ".global .align 8 .u64 pointer = generic(table)+4;\n";
  std::vector<uint32_t> buffer(32, 0);
  LaunchReport report =
      runOn(buffer, kernel("ld.global.u64 %rd1, [pointer];"
                           "ld.u32 %r1, [%rd1]; ld.global.u32 %r2, [table];"
                           "add.u32 %r1, %r1, %r2; st.global.u32 [%rd0], %r1;",
                           prefix));
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(buffer[0], 0u);
}

TEST(Parser, CallsAndRecursionFreeFrames) {
  std::string function =
      ".func (.param .b32 r) square(.param .b32 a)\n{\n.reg .b32 %x<3>;\n"
      "ld.param.u32 %x1, [a]; mul.lo.u32 %x2, %x1, %x1;\n"
      "st.param.b32 [r], %x2; ret;\n}\n";
  std::vector<uint32_t> buffer(32, 0);
  LaunchReport report = runOn(
      buffer,
      kernel("mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;\n"
             "{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r0;\n"
             "call (out), square, (in); ld.param.b32 %r1, [out]; }\n"
             "st.global.u32 [%rd1], %r1;",
             function));
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(buffer[7], 49u);
  EXPECT_EQ(buffer[31], 961u);
}

TEST(Parser, RecursionIsFound) {
  std::string function =
      ".func again\n;\n.func again\n{\ncall again; ret;\n}\n";
  std::vector<uint32_t> buffer(32, 0);
  LaunchReport report = runOn(buffer, kernel("call again;", function));
  ASSERT_EQ(report.diagnostics.size(), 1u);
  EXPECT_EQ(report.diagnostics.front().message,
            "recursive call: the simulator does not support recursion");
  // Twice in a row is no recursion.
  function = ".func once\n{\nret;\n}\n";
  EXPECT_TRUE(runOn(buffer, kernel("call once; call once;", function)).clean());
}

TEST(Parser, IndexedBranch) {
  std::vector<uint32_t> buffer(32, 0);
  LaunchReport report = runOn(
      buffer, kernel("mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;\n"
                     "rem.u32 %r1, %r0, 3;\nts: .branchtargets L0, L1, L2;\n"
                     "brx.idx %r1, ts;\nL0: mov.u32 %r2, 10; bra.uni D;\n"
                     "L1: mov.u32 %r2, 20; bra.uni D;\nL2: mov.u32 %r2, 30;\n"
                     "D: st.global.u32 [%rd1], %r2;"));
  EXPECT_TRUE(report.clean());
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(buffer[lane], 10 * (lane % 3 + 1));
}

TEST(Parser, LaunchLimits) {
  std::vector<uint32_t> buffer(32, 0);
  auto error = [&](const std::string &ptx, Launch launch) {
    LaunchReport report = runOn(buffer, ptx, {}, launch);
    return report.diagnostics.empty() ? "" : report.diagnostics.front().str();
  };
  std::string limited = kernel("");
  limited.insert(limited.find("\n{"), " .maxntid 64, 1, 1");
  EXPECT_EQ(error(limited, {128}), "test.ptx: error: kernel k: block of 128 "
                                   "threads exceeds .maxntid 64");
  EXPECT_EQ(error(kernel(""), {32, 3, 2}),
            "test.ptx: error: kernel k: grid dimension 0 (3) is not a multiple "
            "of the cluster dimension 2");
  EXPECT_EQ(error(kernel(""), {32, 1, 1, 300000}),
            "test.ptx: error: kernel k: 300000 bytes of shared memory per CTA "
            "exceed 232448");
}

} // namespace
