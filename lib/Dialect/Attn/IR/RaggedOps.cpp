//===- RaggedOps.cpp - Sequences behind each other ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttnVerifiers.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

int64_t attn::countSequences(Value offsets) {
  int64_t size = cast<ShapedType>(offsets.getType()).getDimSize(0);
  return ShapedType::isDynamic(size) ? size : size - 1;
}

LogicalResult attn::verifyOffsets(Operation *op, Value offsets) {
  if (cast<ShapedType>(offsets.getType()).getDimSize(0) != 0)
    return success();
  return op->emitOpError() << "expected an offset for each sequence and the "
                              "end of the last, got none";
}

OpFoldResult attn::getNumSequences(OpBuilder &builder, Location loc,
                                   Value offsets) {
  return affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineSymbolExpr(0) - 1,
      {tensor::getMixedSize(builder, loc, offsets, 0)});
}

//===----------------------------------------------------------------------===//
// RaggedOp
//===----------------------------------------------------------------------===//

LogicalResult RaggedOp::verify() {
  auto packed = cast<ShapedType>(getPacked().getType());
  auto result = cast<ShapedType>(getResult().getType());
  // ragged_c1
  if (failed(
          verifyElementType(*this, "result", result, packed.getElementType())))
    return failure();
  // ragged_c2
  if (failed(verifyOffsets(*this, getOffsets())))
    return failure();
  NamedDim expected[] = {{"the sequences", "", countSequences(getOffsets())},
                         {"the packed tensor", "1", packed.getDimSize(1)},
                         {"the packed tensor", "2", packed.getDimSize(2)}};
  unsigned dims[] = {kBatch, kHead, kHeadDim};
  for (auto [source, dim] : llvm::zip_equal(expected, dims))
    if (failed(
            verifyEqual(*this, source,
                        {"result", Twine(dim).str(), result.getDimSize(dim)})))
      return failure();
  return success();
}

LogicalResult RaggedOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> packed;
  for (unsigned dim = 0; dim < 3; ++dim)
    packed.push_back(getDim(builder, getLoc(), getPacked(), dim));
  int64_t rows = cast<ShapedType>(getResult().getType()).getDimSize(kSequence);
  OpFoldResult room = builder.getIndexAttr(rows);
  if (ShapedType::isDynamic(rows))
    room = packed[0];
  shapes.push_back({getNumSequences(builder, getLoc(), getOffsets()), packed[1],
                    room, packed[2]});
  return success();
}

//===----------------------------------------------------------------------===//
// PackOp
//===----------------------------------------------------------------------===//

LogicalResult PackOp::verify() {
  auto source = cast<ShapedType>(getSource().getType());
  auto init = cast<ShapedType>(getInit().getType());
  // pack_c1
  if (source.getRank() != init.getRank() + 1)
    return emitOpError() << "expected a destination of rank "
                         << source.getRank() - 1 << ", got " << init;
  if (failed(verifyElementType(*this, "destination", init,
                               source.getElementType())))
    return failure();
  // pack_c2
  if (failed(verifyOffsets(*this, getOffsets())) ||
      failed(verifyEqual(*this,
                         {"the sequences", "", countSequences(getOffsets())},
                         {"source", "0", source.getDimSize(kBatch)})))
    return failure();
  unsigned heads = 1 - getRowDim();
  if (failed(verifyEqual(
          *this, {"source", "1", source.getDimSize(kHead)},
          {"destination", Twine(heads).str(), init.getDimSize(heads)})))
    return failure();
  if (init.getRank() == 2)
    return success();
  return verifyEqual(*this, {"source", "3", source.getDimSize(kHeadDim)},
                     {"destination", "2", init.getDimSize(2)});
}

LogicalResult PackOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getInit()));
  return success();
}

//===----------------------------------------------------------------------===//
// SequenceLengthsOp
//===----------------------------------------------------------------------===//

LogicalResult SequenceLengthsOp::verify() {
  auto lengths = cast<ShapedType>(getLengths().getType());
  Type entry = getElementTypeOrSelf(getOffsets().getType());
  // sequence_lengths_c1
  if (failed(verifyElementType(*this, "lengths", lengths, entry)) ||
      failed(verifyOffsets(*this, getOffsets())))
    return failure();
  return verifyEqual(*this, {"the sequences", "", countSequences(getOffsets())},
                     {"lengths", "0", lengths.getDimSize(0)});
}

LogicalResult
SequenceLengthsOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back({getNumSequences(builder, getLoc(), getOffsets())});
  return success();
}

//===----------------------------------------------------------------------===//
// What reads the views
//===----------------------------------------------------------------------===//

/// attention_c22: rows behind the end of a sequence are undefined, so that the
/// lengths are those of the same offsets.
static LogicalResult verifySequences(AttentionOp op, StringRef name,
                                     Value tensor, Value lengths) {
  RaggedOp ragged = getRagged(tensor);
  if (!ragged)
    return success();
  auto of = lengths ? lengths.getDefiningOp<SequenceLengthsOp>()
                    : SequenceLengthsOp();
  if (of && of.getOffsets() == ragged.getOffsets())
    return success();
  InFlightDiagnostic diag =
      op.emitOpError() << "expected " << name
                       << " lengths that are the attn.sequence_lengths of the "
                          "offsets of its view";
  diag.attachNote(ragged.getLoc()) << "view here";
  return diag;
}

/// attention_c25: of what stands behind the entries of a batch are those of the
/// next one.
static LogicalResult verifyPageOffsets(AttentionOp op) {
  for (Value operand : {op.getKey(), op.getValue()})
    if (PagedOp pages = getPages(operand);
        pages && pages.getOffsets() && !op.getKeyLengths()) {
      InFlightDiagnostic diag = op.emitOpError()
                                << "expected key lengths beside pages of a "
                                   "table with offsets";
      diag.attachNote(pages.getLoc()) << "view here";
      return diag;
    }
  return success();
}

LogicalResult attn::verifyRagged(AttentionOp op) {
  if (failed(verifyPageOffsets(op)) ||
      failed(
          verifySequences(op, "query", op.getQuery(), op.getQueryLengths())) ||
      failed(verifySequences(op, "key", op.getKey(), op.getKeyLengths())))
    return failure();
  return verifySequences(op, "key", op.getValue(), op.getKeyLengths());
}

LogicalResult attn::verifyNoRagged(AttentionBackwardOp op) {
  for (Value operand : op->getOperands())
    if (RaggedOp ragged = getRagged(operand)) {
      InFlightDiagnostic diag = op.emitOpError()
                                << "expected no view of sequences behind each "
                                   "other: a backward has no lengths";
      diag.attachNote(ragged.getLoc()) << "view here";
      return diag;
    }
  return success();
}
