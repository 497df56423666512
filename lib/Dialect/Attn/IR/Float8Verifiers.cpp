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

LogicalResult attn::verifyWideType(Operation *op, StringRef name,
                                   ShapedType type, Type inputs) {
  Type actual = type.getElementType();
  if (actual.isF16() || actual.isBF16() || actual.isF32())
    return success();
  return op->emitOpError() << "expected element type of " << name
                           << " to be f16, bf16 or f32 with inputs of "
                           << inputs << ", got " << actual;
}

/// attention_c7: the element type of the output.
LogicalResult attn::verifyOutputType(AttentionOp op, ShapedType output,
                                     Type element) {
  if (!isByte(element))
    return verifyElementType(op, "output", output, element, op.getScoreType());
  return verifyWideType(op, "output", output, element);
}

/// attention_backward_c12: descales of all inputs of 8 bits, or of none.
static LogicalResult verifyBackwardDescales(AttentionBackwardOp op) {
  if (op.getScaleDs())
    if (int64_t size =
            cast<ShapedType>(op.getScaleDs().getType()).getDimSize(0);
        size != 1)
      return op.emitOpError()
             << "expected scale_ds to be [1], got a vector of "
             << (ShapedType::isDynamic(size) ? "a dynamic size"
                                             : std::to_string(size));
  constexpr StringRef kNames[] = {"query", "key", "value", "d_output"};
  OperandRange descales = op.getDescales();
  if (!descales.empty() && descales.size() != std::size(kNames))
    return op.emitOpError() << "expected descales of " << joinNames(kNames)
                            << ", which have 8 bits, got " << descales.size();
  AttentionDims dims = AttentionDims::get(op);
  for (auto [name, descale] : llvm::zip(kNames, descales))
    if (failed(attn::verifyDescale(op, ("the descale of " + name).str(),
                                   descale.getType(), dims.batch,
                                   dims.keyHeads)))
      return failure();
  return success();
}

/// attention_backward_c11, c12: what 8-bit inputs go with.
LogicalResult attn::verifyFloat8(AttentionBackwardOp op) {
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  Type key = getElementTypeOrSelf(op.getKey().getType());
  if (element != key)
    return op.emitOpError() << "expected keys and values of the type of query, "
                            << element << ", got " << key;
  auto gradient = cast<ShapedType>(op.getDOutput().getType());
  // attention_backward_c1 has the types beside others.
  if (isFloat8(element) && !isFloat8(gradient))
    return op.emitOpError() << "expected d_output of 8 bits with inputs of "
                            << element << ", got " << gradient.getElementType();
  if (!isFloat8(element)) {
    if (op.getDescales().empty() && !op.getScaleDs())
      return success();
    return op.emitOpError() << "expected inputs of f8E4M3FN or f8E5M2 with "
                               "descale and scale_ds, got "
                            << element;
  }
  if (!isa<SoftmaxAttr>(op.getNormalization()))
    return op.emitOpError()
           << "expected normalization #attn.softmax with inputs of " << element
           << ", got " << op.getNormalization();
  std::pair<StringRef, bool> others[] = {
      {"bias: add it in score_mod", static_cast<bool>(op.getBias())},
      {"dropout", static_cast<bool>(op.getDropoutRateAttr())},
      {"sink", static_cast<bool>(op.getSink())},
      {"captures", !op.getCaptures().empty()}};
  for (auto [name, isGiven] : others)
    if (isGiven)
      return op.emitOpError()
             << "expected, with inputs of " << element << ", no " << name;
  auto output = cast<ShapedType>(op.getOutput().getType());
  if (failed(verifyWideType(op, "output", output, element)))
    return failure();
  // Gradients have the type of the output, or f32; bf16 beside one of f32.
  Type score = op.getScoreType(), wide = output.getElementType();
  if (wide.isF32())
    wide = BFloat16Type::get(op.getContext());
  for (auto [name, gradient] :
       {std::pair<StringRef, Value>{"d_query", op.getDQuery()},
        {"d_key", op.getDKey()},
        {"d_value", op.getDValue()}})
    if (failed(verifyElementType(op, name, cast<ShapedType>(gradient.getType()),
                                 wide, score)))
      return failure();
  return verifyBackwardDescales(op);
}
