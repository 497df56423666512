//===- DecomposeProbMod.cpp - Maps of probabilities as weights ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-decompose-prob-mod and --attn-fold-prob-mod.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/LinearProbMod.h"
#include "attn/Dialect/Attn/Utils/ProbMod.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace attn {
#define GEN_PASS_DEF_DECOMPOSEPROBMODPASS
#define GEN_PASS_DEF_FOLDPROBMODPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {
struct FoldProbMod : public attn::impl::FoldProbModPassBase<FoldProbMod> {
  using Base::Base;

  void runOnOperation() override {
    numFolded += attn::foldLinearProbMods(getOperation());
  }
};

struct DecomposeProbMod
    : public attn::impl::DecomposeProbModPassBase<DecomposeProbMod> {
  using Base::Base;

  void runOnOperation() override {
    numDecomposed +=
        attn::decomposeProbMods(getOperation(), /*keepsOfSteps=*/true);
  }
};
} // namespace
