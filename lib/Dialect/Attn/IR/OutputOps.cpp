//===- OutputOps.cpp - What follows an attention --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttnSyntax.h"
#include "AttnVerifiers.h"

#include "attn/Dialect/Attn/IR/OutputOps.h"

using namespace mlir;
using namespace attn;

LogicalResult OutputModOp::verify() {
  // output_mod_c1
  auto source = cast<ShapedType>(getSource().getType());
  auto result = cast<ShapedType>(getResult().getType());
  for (unsigned dim : {kBatch, kHead, kSequence, kHeadDim}) {
    std::string number = Twine(dim).str();
    if (failed(verifyEqual(*this, {"source", number, source.getDimSize(dim)},
                           {"result", number, result.getDimSize(dim)})))
      return failure();
  }
  // output_mod_c6
  if (isFloat8(result) && source.getElementType().isF64())
    return emitOpError() << "expected a source of f16, bf16 or f32 with a "
                            "result of "
                         << result.getElementType() << ", got "
                         << source.getElementType();
  // output_mod_c2
  if (!getOffsets().empty() && getOffsets().size() != 4)
    return emitOpError() << "expected no offsets or 4 (b, h, i, c), got "
                         << getOffsets().size();
  // output_mod_c7
  if (!getAmax())
    return success();
  auto amax = cast<ShapedType>(getAmax().getType());
  for (unsigned dim : {kBatch, kHead, kSequence}) {
    std::string number = Twine(dim).str();
    if (failed(verifyEqual(*this, {"source", number, source.getDimSize(dim)},
                           {"amax", number, amax.getDimSize(dim)})))
      return failure();
  }
  return verifyElementType(*this, "amax", amax, getScoreType(getSource()));
}

LogicalResult OutputModOp::verifyRegions() {
  // output_mod_c3
  Type score = getScoreType(getSource());
  SmallVector<Type> arguments(5, IndexType::get(getContext()));
  arguments.front() = score;
  if (failed(verifySignature(*this, "output_mod", getMod(), arguments, score)))
    return failure();
  // output_mod_c4
  if (failed(verifyPure("output_mod", getMod())))
    return failure();
  // output_mod_c5; the coordinates of a tile are offset.
  auto source = cast<ShapedType>(getSource().getType());
  SmallVector<NamedDim> coordinates;
  for (auto [dim, name] : {std::pair(kBatch, "B"), std::pair(kHead, "H"),
                           std::pair(kSequence, "M"), std::pair(kHeadDim, "C")})
    coordinates.push_back(
        {"source", name,
         getOffsets().empty() ? source.getDimSize(dim) : ShapedType::kDynamic});
  return verifyReads("output_mod", getMod(), coordinates);
}

LogicalResult
OutputModOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getSource()));
  if (getAmax())
    shapes.push_back(llvm::to_vector(ArrayRef(shapes.front()).drop_back()));
  return success();
}

OutputModOp attn::getOutputMod(Value output) {
  auto mod = output.hasOneUse() ? dyn_cast<OutputModOp>(*output.user_begin())
                                : OutputModOp();
  return mod && mod.getSource() == output ? mod : OutputModOp();
}

SmallVector<Value> attn::getGradients(AttentionBackwardOp op) {
  return {op.getDQuery(), op.getDKey(), op.getDValue()};
}

bool attn::hasAmax(Value output) {
  OutputModOp mod = getOutputMod(output);
  return mod && (mod.getAmax() || hasAmax(mod.getResult()));
}

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/OutputOps.cpp.inc"
