//===- MaskOps.cpp - Ops of masks that read data ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of attn.block_listed, attn.segment, attn.create_block_mask and
// attn.key_bounds; the labels are those of docs/Spec.md.
//
//===----------------------------------------------------------------------===//

#include "AttnVerifiers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// The dimensions of block lists that both tensors have.
static constexpr StringLiteral kListDims[] = {"batch", "head", "row block"};

/// Two sizes of blocks, both positive.
static LogicalResult verifyBlock(Operation *op, ArrayRef<int64_t> block) {
  if (block.size() == 2 && block[0] > 0 && block[1] > 0)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected block to be two positive sizes, got [";
  llvm::interleaveComma(block, diag);
  return diag << "]";
}

/// The numbers and the indices of a list have the same rows.
static LogicalResult verifyLists(Operation *op, Value numBlocks,
                                 Value indices) {
  auto counts = cast<ShapedType>(numBlocks.getType());
  auto entries = cast<ShapedType>(indices.getType());
  for (auto [dim, name] : llvm::enumerate(kListDims))
    if (failed(verifyEqual(op, {"num_blocks", name, counts.getDimSize(dim)},
                           {"indices", name, entries.getDimSize(dim)})))
      return failure();
  return success();
}

LogicalResult BlockListedOp::verify() {
  // block_listed_c1
  if (failed(verifyLists(*this, getNumBlocks(), getIndices())))
    return failure();
  // block_listed_c2
  return verifyBlock(*this, getBlock());
}

LogicalResult attn::verifyBlockLists(Region &region,
                                     const AttentionDims &total) {
  for (auto listed : region.getOps<BlockListedOp>()) {
    ShapedType type = listed.getNumBlocks().getType();
    int64_t rows = total.queryRows;
    if (!ShapedType::isDynamic(rows))
      rows = llvm::divideCeil(rows, listed.getBlock()[0]);
    int64_t expected[] = {total.batch, total.queryHeads, rows};
    for (auto [dim, name] : llvm::enumerate(kListDims)) {
      int64_t size = type.getDimSize(dim);
      bool isBroadcast = dim < 2 && size == 1;
      if (isBroadcast || ShapedType::isDynamic(size) ||
          ShapedType::isDynamic(expected[dim]) || size == expected[dim])
        continue;
      return listed.emitOpError()
             << "expected the " << name << " dimension of num_blocks to be "
             << (dim < 2 ? "1 or " : "") << expected[dim] << ", got " << size;
    }
  }
  return success();
}

LogicalResult SegmentOp::verify() {
  // segment_c1
  int64_t entries = getOffsets().getType().getDimSize(0);
  if (!ShapedType::isDynamic(entries) && entries < 2)
    return emitOpError() << "expected the offsets of at least one sequence: 2 "
                            "entries, got "
                         << entries;
  return success();
}

LogicalResult CreateBlockMaskOp::verify() {
  // create_block_mask_c1
  if (failed(verifyBlock(*this, getBlock())) ||
      failed(verifyLists(*this, getNumBlocks(), getIndices())))
    return failure();
  // create_block_mask_c2
  Builder builder(getContext());
  SmallVector<Type> arguments(4, builder.getIndexType());
  if (failed(verifySignature(*this, "mask_mod", getMaskMod(), arguments,
                             builder.getI1Type())))
    return failure();
  return verifyPure("mask_mod", getMaskMod());
}

LogicalResult DeviceAssertOp::verify() {
  // device_assert_c1
  Builder builder(getContext());
  SmallVector<Type> arguments(getSizes().size(), builder.getIndexType());
  if (failed(verifySignature(*this, "the condition", getCondition(), arguments,
                             builder.getI1Type())))
    return failure();
  return verifyPure("the condition", getCondition());
}

LogicalResult KeyBoundsOp::verify() {
  // key_bounds_c1
  if (getBounds().empty() || getBounds().size() % 2 != 0)
    return emitOpError() << "expected two regions for each band, got "
                         << getBounds().size();
  Builder builder(getContext());
  SmallVector<Type> arguments(3, builder.getIndexType());
  for (Region &region : getBounds())
    if (failed(verifySignature(*this, "a bound", region, arguments,
                               builder.getIndexType())) ||
        failed(verifyPure("a bound", region)))
      return failure();
  // key_bounds_c2
  int64_t numbers = getType().getDimSize(3);
  int64_t expected = 2 * getBounds().size();
  if (numbers != expected)
    return emitOpError() << "expected " << expected
                         << " numbers for each tile of rows, got " << numbers;
  // key_bounds_c3
  if (getTile() < 1)
    return emitOpError() << "expected tile to be positive, got " << getTile();
  return success();
}
