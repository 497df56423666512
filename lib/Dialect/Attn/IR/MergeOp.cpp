//===- MergeOp.cpp - Verifier of partial results that are merged ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttnVerifiers.h"

using namespace mlir;
using namespace attn;

/// The shape of one part: that of `part`, or of an element of the stack.
static ArrayRef<int64_t> getPartShape(Value part, bool isStacked) {
  return cast<ShapedType>(part.getType()).getShape().drop_front(isStacked);
}

/// Of an lse that does not fit: where a stack was expected, says so.
static StringRef getStackHint(Value lse, bool isStacked) {
  return isStacked && cast<ShapedType>(lse.getType()).getRank() == 3
             ? " in place of a stack"
             : "";
}

/// merge_c1..c3
static LogicalResult verifyParts(MergeOp op) {
  if (op.getOutputs().empty())
    return op.emitOpError() << "expected at least one partial result";
  if (op.getOutputs().size() != op.getLses().size())
    return op.emitOpError()
           << "expected as many partial lses as outputs, got "
           << op.getLses().size() << " and " << op.getOutputs().size();
  auto output = cast<ShapedType>(op.getOutput().getType());
  for (Value part : op.getOutputs())
    if (getPartShape(part, op.isStacked()) != output.getShape())
      return op.emitOpError() << "expected every partial output to have the "
                                 "shape of "
                              << output << ", got " << part.getType();
  auto lse = cast<ShapedType>(op.getLse().getType());
  for (Value part : op.getLses())
    if (getPartShape(part, op.isStacked()) != lse.getShape() ||
        getElementTypeOrSelf(part.getType()) != lse.getElementType())
      return op.emitOpError()
             << "expected every partial lse to be " << lse << ", got "
             << part.getType() << getStackHint(part, op.isStacked());
  auto getFirst = [](Value stack) {
    return cast<ShapedType>(stack.getType()).getDimSize(0);
  };
  return verifyEqual(op, {"outputs", "0", getFirst(op.getOutputs().front())},
                     {"lses", "0", getFirst(op.getLses().front())});
}

LogicalResult MergeOp::verify() {
  if (failed(verifyParts(*this)))
    return failure();
  // merge_c4
  auto output = cast<ShapedType>(getOutput().getType());
  auto lse = cast<ShapedType>(getLse().getType());
  for (unsigned i = 0; i < 3; ++i)
    if (failed(verifyEqual(*this,
                           {"output", Twine(i).str(), output.getDimSize(i)},
                           {"lse", Twine(i).str(), lse.getDimSize(i)})))
      return failure();
  // merge_c5
  if (!getSink())
    return success();
  return verifySinkSize(*this, cast<ShapedType>(getSink().getType()),
                        {"output", "1", output.getDimSize(kHead)});
}
