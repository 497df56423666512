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

#include "llvm/ADT/StringExtras.h"

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

/// "query, key and value", of as many.
static std::string joinNames(ArrayRef<StringRef> names) {
  std::string joined = llvm::join(names.drop_back(), ", ");
  return joined + (names.size() > 1 ? " and " : "") + names.back().str();
}

/// attention_c20: of each operand of 8 bits.
LogicalResult attn::verifyDescales(AttentionOp op, const AttentionDims &dims) {
  OperandRange descales = op.getDescales();
  if (descales.empty())
    return success();
  if (!isByte(op.getKey().getType()))
    return op.emitOpError()
           << "expected inputs of f8E4M3FN, f8E5M2 or i8 with descale, got "
           << getElementTypeOrSelf(op.getKey().getType());
  SmallVector<StringRef> names;
  for (auto [name, operand] :
       {std::pair<StringRef, Value>{"query", op.getQuery()},
        {"key", op.getKey()},
        {"value", op.getValue()}})
    if (isByte(operand.getType()))
      names.push_back(name);
  if (descales.size() != names.size())
    return op.emitOpError() << "expected descales of " << joinNames(names)
                            << ", which have 8 bits, got " << descales.size();
  if (op.getBias())
    return op.emitOpError()
           << "expected no bias with descale: add it in score_mod";
  for (auto [name, descale] : llvm::zip_equal(names, descales))
    if (failed(verifyDescale(op, ("the descale of " + name).str(),
                             descale.getType(), dims.batch, dims.keyHeads)))
      return failure();
  return success();
}

Value AttentionOp::getDescaleOf(unsigned operand) {
  Value operands[] = {getQuery(), getKey(), getValue()};
  if (getDescales().empty() || !isByte(operands[operand].getType()))
    return Value();
  return getDescales()[llvm::count_if(
      ArrayRef(operands).take_front(operand),
      [](Value before) { return isByte(before.getType()); })];
}

/// attention_c21: rounded to 8 bits, weights need the range that exponentials
/// below a maximum have.
LogicalResult attn::verifyFloat8(AttentionOp op) {
  Type weights = getWeightType(op);
  if (!isFloat8(weights) || isa<SoftmaxAttr>(op.getNormalization()))
    return success();
  return op.emitOpError() << "expected normalization #attn.softmax with inputs "
                             "of "
                          << weights << ", got " << op.getNormalization();
}

/// attention_c7: the element type of the output.
LogicalResult attn::verifyOutputType(AttentionOp op, ShapedType output,
                                     Type element) {
  if (!isByte(element))
    return verifyElementType(op, "output", output, element, op.getScoreType());
  Type actual = output.getElementType();
  if (actual.isF16() || actual.isBF16() || actual.isF32())
    return success();
  return op.emitOpError() << "expected element type of output to be f16, bf16 "
                             "or f32 with inputs of "
                          << element << ", got " << actual;
}
