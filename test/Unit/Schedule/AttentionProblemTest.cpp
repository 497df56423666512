//===- AttentionProblemTest.cpp - Tests of problems as text ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/AttentionProblem.h"

#include "gtest/gtest.h"

using namespace attn;

static std::string getError(std::string_view text) {
  Result<AttentionProblem> problem = AttentionProblem::parse(text);
  return problem ? "no error" : problem.error();
}

TEST(AttentionProblem, parsesEveryField) {
  Result<AttentionProblem> problem = AttentionProblem::parse(
      "B=4 Hq=32 Hkv=8 M=8192 N=4096 D=192 Dv=128 dtype=f16 out=f32 "
      "mask=causal pass=backward lse=1 bias=true");
  ASSERT_TRUE(problem) << problem.error();
  EXPECT_EQ(problem->batch, 4);
  EXPECT_EQ(problem->queryHeads, 32);
  EXPECT_EQ(problem->kvHeads, 8);
  EXPECT_EQ(problem->queryLength, 8192);
  EXPECT_EQ(problem->kvLength, 4096);
  EXPECT_EQ(problem->headDim, 192);
  EXPECT_EQ(problem->valueDim, 128);
  EXPECT_EQ(problem->elementType, ElementType::F16);
  EXPECT_EQ(problem->outputType, ElementType::F32);
  EXPECT_EQ(problem->mask.right, 0);
  EXPECT_EQ(problem->pass, AttentionPass::Backward);
  EXPECT_TRUE(problem->hasLse);
  EXPECT_TRUE(problem->hasBias);
  EXPECT_EQ(problem->getGroupSize(), 4);
  EXPECT_EQ(problem->getPackedRows(), 4 * 8192);
}

TEST(AttentionProblem, defaultsFollowTheGivenFields) {
  AttentionProblem problem = *AttentionProblem::parse("H=6 M=10 N=20 D=40");
  EXPECT_EQ(problem.print(),
            "B=1 Hq=6 Hkv=6 M=10 N=20 D=40 Dv=40 dtype=bf16 mask=full");
}

TEST(AttentionProblem, printReadsBack) {
  for (const char *text :
       {"B=4 Hq=32 Hkv=8 M=8192 N=8192 D=128 Dv=128 dtype=bf16 mask=causal",
        "B=1 Hq=1 Hkv=1 M=1 N=9 D=576 Dv=512 dtype=bf16 mask=full shared_kv=1",
        "B=1 Hq=1 Hkv=1 M=1 N=9 D=8 Dv=8 dtype=f32 mask=window:1024 tf32=1",
        "B=1 Hq=1 Hkv=1 M=1 N=9 D=8 Dv=8 dtype=f16 mask=full cache=f8E5M2 "
        "out=f32",
        "B=1 Hq=1 Hkv=1 M=1 N=9 D=8 Dv=8 dtype=f16 mask=full key_page=16 "
        "value_page=256",
        "B=1 Hq=1 Hkv=1 M=1 N=9 D=8 Dv=8 dtype=f16 mask=local:256,inf*0.25",
        "B=1 Hq=1 Hkv=1 M=1 N=9 D=8 Dv=8 dtype=f16 mask=full "
        "normalization=none",
        "B=1 Hq=1 Hkv=1 M=1 N=9 D=8 Dv=8 dtype=f16 mask=full "
        "normalization=sum",
        "B=1 Hq=1 Hkv=1 M=1 N=9 D=8 Dv=8 dtype=f16 mask=causal@top_left "
        "out=f32 pass=backward lse=1 bias=1 dropout=1",
        "B=1 Hq=1 Hkv=1 M=1 N=9 D=8 Dv=8 dtype=f8E4M3FN mask=full out=f32 "
        "d_query=f8E5M2 d_value=f32 pass=backward amax=1"}) {
    Result<AttentionProblem> problem = AttentionProblem::parse(text);
    ASSERT_TRUE(problem) << problem.error();
    EXPECT_EQ(problem->print(), text);
  }
}

TEST(AttentionProblem, reportsBadText) {
  EXPECT_EQ(getError("M=1 N=1 D"), "expected name=value, got 'D'");
  EXPECT_EQ(getError("M=1 M=2 N=1 D=1"), "expected field M once, got it twice");
  EXPECT_EQ(getError("M=1 N=1"),
            "expected problem field D (M, N and D have no default)");
  EXPECT_EQ(getError("M=x N=1 D=1"), "expected an integer for M, got 'x'");
  EXPECT_EQ(getError("M=1 N=1 D=1 lse=yes"),
            "expected 0 or 1 for lse, got 'yes'");
  EXPECT_EQ(getError("M=1 N=1 D=1 pass=both"),
            "expected pass=forward or pass=backward, got 'both'");
  EXPECT_EQ(getError("M=1 N=1 D=1 normalization=l1"),
            "expected normalization=softmax, sum or none, got 'l1'");
  EXPECT_EQ(getError("M=1 N=1 D=1 normalization=none lse=1"),
            "expected lse=0 without softmax, got lse=1");
  EXPECT_EQ(getError("M=1 N=1 D=1 dtype=bf17"),
            "expected dtype one of f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i1, "
            "i8, got 'bf17'");
  EXPECT_EQ(getError("M=1 N=1 D=1 mask=diagonal"),
            "expected mask full, causal, window:SIZE or local:LEFT,RIGHT (then "
            "*DENSITY in [0, 1], @top_left), got 'diagonal'");
  EXPECT_EQ(getError("M=1 N=1 D=1 masks=full"),
            "unknown problem field 'masks', expected one of B, D, Dv, H, Hkv, "
            "Hq, M, N, amax, bias, cache, captures, d_key, d_query, d_value, "
            "dropout, dtype, key_page, lse, mask, normalization, out, pass, "
            "prob_mod, qk_norm, rotary, score_mod, "
            "shared_kv, tf32, value, value_page (did you mean 'mask'?)");
}

TEST(AttentionProblem, integersHaveValuesOfAnotherType) {
  auto problem = *AttentionProblem::parse("M=1 N=8 D=64 Dv=32 dtype=i8 "
                                          "value=bf16");
  EXPECT_EQ(problem.getKeyType(), ElementType::I8);
  EXPECT_EQ(problem.getValueType(), ElementType::BF16);
  EXPECT_EQ(problem.getWeightType(), ElementType::BF16);
  EXPECT_EQ(problem.outputType, ElementType::BF16);
  EXPECT_EQ(problem.getKvRowBytes(), 64 + 2 * 32);
  EXPECT_EQ(problem.print(),
            "B=1 Hq=1 Hkv=1 M=1 N=8 D=64 Dv=32 dtype=i8 mask=full value=bf16");
}

TEST(AttentionProblem, valuesOf8BitsHaveEitherType) {
  auto problem = *AttentionProblem::parse("M=1 N=8 D=64 dtype=f8E4M3FN "
                                          "value=f8E5M2");
  EXPECT_EQ(problem.getKeyType(), ElementType::F8E4M3FN);
  EXPECT_EQ(problem.getWeightType(), ElementType::F8E5M2);
  EXPECT_EQ(problem.outputType, ElementType::BF16);
  EXPECT_EQ(getError("M=1 N=8 D=64 dtype=f8E4M3FN value=bf16"),
            "expected value=bf16 beside dtype=i8, got dtype=f8E4M3FN");
  EXPECT_EQ(getError("M=1 N=8 D=64 dtype=f8E4M3FN value=f8E5M2 pass=backward"),
            "expected values of dtype=f8E4M3FN with pass=backward, got "
            "value=f8E5M2");
}

TEST(AttentionProblem, gradientsHaveTypesOfTheirOwn) {
  auto problem = *AttentionProblem::parse(
      "M=1 N=8 D=64 dtype=f8E4M3FN out=f16 d_key=f8E5M2 d_value=f16 "
      "pass=backward");
  EXPECT_EQ(problem.getGradientType(problem.dQueryType), ElementType::F16);
  EXPECT_EQ(problem.getGradientType(problem.dKeyType), ElementType::F8E5M2);
  EXPECT_TRUE(problem.changesGradients());
  EXPECT_EQ(problem.print(),
            "B=1 Hq=1 Hkv=1 M=1 N=8 D=64 Dv=64 dtype=f8E4M3FN mask=full "
            "out=f16 d_key=f8E5M2 pass=backward");
  problem = *AttentionProblem::parse(
      "M=1 N=8 D=64 dtype=f8E5M2 out=f32 d_key=f32 pass=backward");
  EXPECT_EQ(problem.getGradientType(problem.dQueryType), ElementType::BF16);
  EXPECT_FALSE(problem.changesGradients());
  EXPECT_EQ(getError("M=1 N=1 D=1 d_key=f32"),
            "expected pass=backward with d_key, got pass=forward");
  EXPECT_EQ(getError("M=1 N=1 D=1 d_value=i8 pass=backward"),
            "expected a floating-point element type of d_value, got i8");
}

TEST(AttentionProblem, reportsBadValues) {
  EXPECT_EQ(getError("M=0 N=1 D=1"), "expected M from 1 to 16777216, got 0");
  EXPECT_EQ(getError("B=16777216 M=16777216 N=1 D=512"),
            "expected B * Hq * max(M, N) * max(D, Dv) of at most 2^56, got "
            "2^57.0");
  EXPECT_EQ(getError("H=256 M=16777216 N=16777216 D=128"),
            "expected B * Hq * M * N * max(D, Dv) of at most 2^62, got 2^63.0");
  EXPECT_EQ(getError("M=1 N=99999999999 D=1"),
            "expected N from 1 to 16777216, got 99999999999");
  EXPECT_EQ(getError("Hq=6 Hkv=4 M=1 N=1 D=1"),
            "expected Hkv that divides Hq = 6, got 4");
  EXPECT_EQ(getError("M=1 N=1 D=1 dtype=i1"),
            "expected a floating-point element type, got i1");
  EXPECT_EQ(getError("M=1 N=1 D=1 cache=f16"),
            "expected cache of 8 bits beside a dtype of more, got cache=f16 "
            "dtype=bf16");
  EXPECT_EQ(getError("M=1 N=1 D=1 dtype=f8E5M2 cache=f8E5M2"),
            "expected cache of 8 bits beside a dtype of more, got "
            "cache=f8E5M2 dtype=f8E5M2");
  EXPECT_EQ(getError("M=1 N=1 D=1 value=f16"),
            "expected value=f16 beside dtype=i8, got dtype=bf16");
  EXPECT_EQ(getError("M=1 N=1 D=1 dtype=i8"),
            "expected value one of f8E4M3FN, f8E5M2, f16, bf16, f32 beside "
            "dtype=i8, got none");
  EXPECT_EQ(getError("M=1 N=1 D=1 dtype=i8 value=i8"),
            "expected value one of f8E4M3FN, f8E5M2, f16, bf16, f32 beside "
            "dtype=i8, got value=i8");
  EXPECT_EQ(getError("M=1 N=1 D=1 dtype=i8 value=f16 pass=backward"),
            "expected floats with pass=backward, got dtype=i8");
  EXPECT_EQ(getError("M=1 N=1 D=1 value_page=-1"),
            "expected value_page from 0 to 16777216, got -1");
  EXPECT_EQ(getError("M=1 N=1 D=1 tf32=1"),
            "expected dtype=f32 with tf32=1, got dtype=bf16");
}

TEST(AttentionProblem, badMasksAreErrors) {
  for (const char *text :
       {"", "causal:3", "window:0", "window:x", "local:1", "local:-1,2",
        "full*1.5", "full*x", "causal@left", "local:1,2,3"})
    EXPECT_FALSE(MaskPattern::parse(text)) << text;
}
