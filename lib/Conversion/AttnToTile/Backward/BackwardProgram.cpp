//===- BackwardProgram.cpp - How a backward is launched -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/BackwardScores.h"
#include "Backward/HeadSums.h"
#include "Backward/TiledBackward.h"
#include "Launch/PrologueKernels.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"

using namespace mlir;
using namespace attn;

/// The type of a vector for each head, with whole tiles of `tileM` rows.
static tile::GlobalType getRowVectorType(BackwardStepOp step, int64_t tileM) {
  auto lse = cast<RankedTensorType>(getSource(step.getLse()).getType());
  SmallVector<int64_t> shape(lse.getShape());
  if (!lse.isDynamicDim(kSequence))
    shape[kSequence] = llvm::alignTo(shape[kSequence], tileM);
  return tile::GlobalType::get(lse.getContext(), shape, lse.getElementType());
}

static SmallVector<Size> getRowSizes(LaunchProgram &program, int64_t tileM) {
  return {program.dim("query", kBatch), program.dim("query", kHead),
          program.dim("query", kSequence).alignTo(tileM)};
}

void attn::addRowView(LaunchProgram &program, BackwardStepOp step,
                      StringRef name, int64_t tileM) {
  program.addWorkspace({name.str(), getRowVectorType(step, tileM)},
                       getRowSizes(program, tileM));
}

/// dQ in f32 [B, Hq, M, D], with whole tiles of `tileM` rows.
static void addSumsView(LaunchProgram &program, BackwardStepOp step,
                        int64_t tileM, int64_t columns) {
  tile::GlobalType rows = getRowVectorType(step, tileM);
  SmallVector<int64_t> shape(rows.getShape());
  shape.push_back(columns);
  SmallVector<Size> sizes = getRowSizes(program, tileM);
  sizes.push_back(program.constant(columns));
  program.addWorkspace(
      {"d_query_sums",
       tile::GlobalType::get(rows.getContext(), shape, rows.getElementType())},
      sizes);
}

/// The kernel before or behind a fused one that has a CTA for each row tile.
static void addRowKernel(LaunchProgram &program, BackwardNest &nest,
                         const Twine &entry) {
  Size tiles = program.dim("query", kSequence).ceilDiv(nest.getTileM());
  Size heads = program.dim("query", kHead);
  program.addKernel(entry, tiles, heads, program.dim("query", kBatch));
}

/// The kernel of a nest whose CTAs have a tile of rows or keys.
static void addNestKernel(LaunchProgram &program, BackwardNest &nest) {
  StringRef operand = nest.keysAreRows() ? "key" : "query";
  int64_t tile = nest.keysAreRows() ? nest.getTileN() : nest.getTileM();
  // Whole clusters: the last CTAs may have no keys.
  int64_t ctas = nest.getClusterCtas();
  Size tiles = program.dim(operand, kSequence).ceilDiv(ctas * tile) * ctas *
               nest.getSlices();
  Size heads =
      nest.keysAreRows() ? program.getKeyHeads() : program.dim("query", kHead);
  program.addKernel(nest.entry, tiles, heads, program.dim("query", kBatch));
}

void TiledBackward::buildProgram(OpBuilder &builder, StringRef name) {
  BackwardNest &first = nests.front();
  program.emplace(builder, first.attention);
  addPrologue(*program, first.attention, name);
  if (isFused())
    addRowKernel(*program, first, name + "_delta");
  for (BackwardNest &nest : nests)
    addNestKernel(*program, nest);
  if (isFused())
    addRowKernel(*program, first, name + "_round");
  addScoreKernels(*program, *this, name);
  addHeadSumKernels(*program, *this, name);
  BackwardStepOp step = first.steps.front();
  if (isFused())
    addSumsView(*program, step, first.getTileM(), first.getColumns());
  addHeadViews(*program, *this);
  if (delta)
    for (StringRef name : {"row_lse", "delta"})
      addRowView(*program, step, name, first.getTileM());
  program->finish();
}
