//===- Float8Verifiers.cpp - 8-bit inputs -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attn.attention asks of inputs of 8 bits, beyond what it asks of all; the
// labels are those of docs/Spec.md.
//
//===----------------------------------------------------------------------===//

#include "AttnVerifiers.h"

using namespace mlir;
using namespace attn;

/// attention_c20: one number, or one for each batch and key head.
LogicalResult attn::verifyDescale(Operation *op, StringRef name, Type type,
                                  int64_t batch, int64_t keyHeads) {
  auto tensor = cast<ShapedType>(type);
  if (tensor.getRank() == 1) {
    if (int64_t size = tensor.getDimSize(0); size != 1)
      return op->emitOpError()
             << "expected " << name
             << " to be [1] or [B, Hkv], got a vector of "
             << (ShapedType::isDynamic(size) ? "a dynamic size"
                                             : std::to_string(size));
    return success();
  }
  return failure(failed(verifyEqual(op, {"the inputs", "B", batch},
                                    {name, "B", tensor.getDimSize(0)})) ||
                 failed(verifyEqual(op, {"the inputs", "Hkv", keyHeads},
                                    {name, "Hkv", tensor.getDimSize(1)})));
}

/// attention_c20.
LogicalResult attn::verifyDescales(AttentionOp op, const AttentionDims &dims) {
  OperandRange descales = op.getDescales();
  if (descales.empty())
    return success();
  if (!isByte(op.getKey().getType()))
    return op.emitOpError()
           << "expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got "
           << getElementTypeOrSelf(op.getKey().getType());
  bool scalesQuery = isFloat8(op.getQuery().getType());
  if (scalesQuery && descales.size() != 3)
    return op.emitOpError() << "expected descales of query, key and value, got "
                            << descales.size();
  if (!scalesQuery && descales.size() != 2)
    return op.emitOpError() << "expected descales of key and value beside a "
                               "query of "
                            << getElementTypeOrSelf(op.getQuery().getType())
                            << ", got " << descales.size();
  if (op.getBias())
    return op.emitOpError()
           << "expected no bias with descale: add it in score_mod";
  constexpr StringLiteral names[] = {
      "the descale of query", "the descale of key", "the descale of value"};
  for (auto [name, descale] :
       llvm::zip_equal(ArrayRef(names).take_back(descales.size()), descales))
    if (failed(verifyDescale(op, name, descale.getType(), dims.batch,
                             dims.keyHeads)))
      return failure();
  return success();
}

/// attention_c21: rounded to 8 bits, weights need the range that exponentials
/// below a maximum have.
LogicalResult attn::verifyFloat8(AttentionOp op) {
  if (!isFloat8(op.getQuery().getType()) ||
      isa<SoftmaxAttr>(op.getNormalization()))
    return success();
  return op.emitOpError() << "expected normalization #attn.softmax with inputs "
                             "of "
                          << getElementTypeOrSelf(op.getQuery().getType())
                          << ", got " << op.getNormalization();
}

/// attention_c7: the element type of the output.
LogicalResult attn::verifyOutputType(AttentionOp op, ShapedType output,
                                     Type element) {
  if (!isFloat8(element))
    return verifyElementType(op, "output", output, element, op.getScoreType());
  Type actual = output.getElementType();
  if (actual.isF16() || actual.isBF16() || actual.isF32())
    return success();
  return op.emitOpError() << "expected element type of output to be f16, bf16 "
                             "or f32 with inputs of "
                          << element << ", got " << actual;
}
