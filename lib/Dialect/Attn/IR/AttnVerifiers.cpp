//===- AttnVerifiers.cpp - Verifiers of the attn dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per group of constraints; the labels are those of docs/Spec.md.
// The ops of the backward pass are verified in BackwardOps.cpp, those of caches
// in CacheOps.cpp, merges in MergeOp.cpp.
//
//===----------------------------------------------------------------------===//

#include "AttnVerifiers.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult attn::verifyEqual(Operation *op, NamedDim a, NamedDim b) {
  if (ShapedType::isDynamic(a.size) || ShapedType::isDynamic(b.size) ||
      a.size == b.size)
    return success();
  return op->emitOpError() << "expected " << b.operand << " dimension " << b.dim
                           << " to be " << a.size << " as in " << a.operand
                           << ", got " << b.size;
}

LogicalResult attn::verifyElementType(Operation *op, StringRef name, Type type,
                                      Type expected) {
  Type element = getElementTypeOrSelf(type);
  if (element == expected)
    return success();
  return op->emitOpError() << "expected element type of " << name << " to be "
                           << expected << ", got " << element;
}

LogicalResult attn::verifyElementType(Operation *op, StringRef name, Type type,
                                      Type element, Type score) {
  Type actual = getElementTypeOrSelf(type);
  if (actual == element || actual == score)
    return success();
  if (element == score)
    return verifyElementType(op, name, type, score);
  return op->emitOpError() << "expected element type of " << name << " to be "
                           << element << " or " << score << ", got " << actual;
}

/// Beside a query of 8-bit floats: each has a type of its own.
static LogicalResult verifyFloat8Operand(Operation *op, StringRef name,
                                         ShapedType type, Type query) {
  if (isFloat8(type))
    return success();
  return op->emitOpError() << "expected element type of " << name
                           << " to be f8E4M3FN or f8E5M2 beside a query of "
                           << query << ", got " << type.getElementType();
}

/// attention_c2: element types of query, key and value.
static LogicalResult verifyInputTypes(Operation *op, ShapedType query,
                                      ShapedType key, ShapedType value) {
  Type element = query.getElementType();
  if (element.isInteger()) {
    Type values = value.getElementType();
    if (values.isInteger() || values.isF64())
      return op->emitOpError() << "expected values of f8E4M3FN, f8E5M2, f16, "
                                  "bf16 or f32 beside a query of i8, got "
                               << values;
    return verifyElementType(op, "key", key, element);
  }
  if (isa<AttentionOp, OnlineAttentionOp>(op) && isFloat8(query))
    return failure(failed(verifyFloat8Operand(op, "key", key, element)) ||
                   failed(verifyFloat8Operand(op, "value", value, element)));
  // Bytes of floats are no keys of a computation in f64, which widens them all.
  bool isWide = element.isF64() && isFloat8(key);
  if (isByte(key) && !isFloat8(query) && !isWide)
    element = key.getElementType();
  return failure(failed(verifyElementType(op, "key", key, element)) ||
                 failed(verifyElementType(op, "value", value, element)));
}

/// attention_c2..c6: element types and shapes of query, key and value.
static LogicalResult verifyInputs(Operation *self,
                                  const AttentionOperands &operands,
                                  const AttentionDims &dims) {
  auto [query, key, value, bias, scale] = operands;
  auto dim = [](ShapedType type, StringRef operand, StringRef name,
                unsigned position) {
    return NamedDim{operand, name, type.getDimSize(position)};
  };
  if (failed(verifyInputTypes(self, query, key, value)))
    return failure();
  // attention_c3..c5
  if (failed(verifyEqual(self, dim(query, "query", "B", kBatch),
                         dim(key, "key", "B", kBatch))) ||
      failed(verifyEqual(self, dim(query, "query", "B", kBatch),
                         dim(value, "value", "B", kBatch))) ||
      failed(verifyEqual(self, dim(key, "key", "Hkv", kHead),
                         dim(value, "value", "Hkv", kHead))) ||
      failed(verifyEqual(self, dim(key, "key", "N", kSequence),
                         dim(value, "value", "N", kSequence))) ||
      failed(verifyEqual(self, dim(query, "query", "D", kHeadDim),
                         dim(key, "key", "D", kHeadDim))))
    return failure();
  // attention_c4
  if (!ShapedType::isDynamic(dims.queryHeads) &&
      !ShapedType::isDynamic(dims.keyHeads) &&
      (dims.keyHeads == 0 || dims.queryHeads % dims.keyHeads != 0))
    return self->emitOpError()
           << "expected the number of query heads to be a multiple of the "
              "number of key heads, got Hq = "
           << dims.queryHeads << " and Hkv = " << dims.keyHeads;
  // attention_c6
  for (auto [name, size] : {std::pair<StringRef, int64_t>{"D", dims.headDim},
                            {"Dv", dims.valueDim}})
    if (ShapedType::isDynamic(size) || size == 0)
      return self->emitOpError() << "expected the head dimension " << name
                                 << " to be static and positive, got "
                                 << (size == 0 ? "0" : "a dynamic size");
  return success();
}

LogicalResult attn::verifyResultShape(Operation *op, StringRef name,
                                      ShapedType type,
                                      const AttentionDims &dims) {
  std::pair<StringRef, int64_t> expected[] = {{"B", dims.batch},
                                              {"Hq", dims.queryHeads},
                                              {"M", dims.queryRows},
                                              {"Dv", dims.valueDim}};
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (failed(verifyEqual(
            op, {"the inputs", expected[i].first, expected[i].second},
            {name, expected[i].first, type.getDimSize(i)})))
      return failure();
  return success();
}

/// attention_c9: bias broadcasts to [B, Hq, M, N].
static LogicalResult verifyBias(Operation *op, ShapedType bias,
                                const AttentionDims &dims) {
  std::pair<StringRef, int64_t> expected[] = {{"B", dims.batch},
                                              {"Hq", dims.queryHeads},
                                              {"M", dims.queryRows},
                                              {"N", dims.keyRows}};
  for (int64_t i = 0; i < 4; ++i) {
    auto [name, size] = expected[i];
    int64_t actual = bias.getDimSize(i);
    if (actual == 1 || ShapedType::isDynamic(actual) ||
        ShapedType::isDynamic(size) || actual == size)
      continue;
    return op->emitOpError() << "expected bias dimension " << name
                             << " to be 1 or " << size << ", got " << actual;
  }
  return success();
}

LogicalResult attn::verifyOperands(Operation *op,
                                   const AttentionOperands &operands) {
  AttentionDims dims =
      AttentionDims::get(operands.query, operands.key, operands.value);
  if (failed(verifyInputs(op, operands, dims)))
    return failure();
  if (operands.bias && failed(verifyBias(op, operands.bias, dims)))
    return failure();
  // attention_c13
  if (operands.scale && !std::isfinite(*operands.scale))
    return op->emitOpError()
           << "expected scale to be finite, got " << *operands.scale;
  return success();
}

LogicalResult attn::verifyDropout(Operation *op, Value seed, Value offset,
                                  FloatAttr rate) {
  bool isGiven = static_cast<bool>(rate);
  if (static_cast<bool>(seed) != isGiven ||
      static_cast<bool>(offset) != isGiven)
    return op->emitOpError()
           << "expected dropout to have a seed, an offset and a rate";
  double number = isGiven ? rate.getValueAsDouble() : 0;
  if (!(number >= 0 && number < 1))
    return op->emitOpError()
           << "expected the rate of dropout to be at least 0 and below 1, got "
           << number;
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// attention_c10, c11: one block with the given argument types that yields
/// `result`.
LogicalResult attn::verifySignature(Operation *op, StringRef name,
                                    Region &region, ArrayRef<Type> arguments,
                                    Type result) {
  if (!region.hasOneBlock())
    return op->emitOpError()
           << "expected " << name << " to have one block, got "
           << region.getBlocks().size();
  if (region.getArgumentTypes() != TypeRange(arguments)) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "expected " << name << " to take (";
    llvm::interleaveComma(arguments, diag);
    diag << "), got (";
    llvm::interleaveComma(region.getArgumentTypes(), diag);
    return diag << ")";
  }
  auto yield = dyn_cast_or_null<YieldOp>(
      region.front().empty() ? nullptr : &region.front().back());
  if (!yield)
    return op->emitOpError() << "expected " << name << " to end in attn.yield";
  if (yield.getValue().getType() != result)
    return yield.emitOpError() << "expected " << name << " to yield " << result
                               << ", got " << yield.getValue().getType();
  return success();
}

/// attention_c12: what a region does is free of side effects, and computes
/// scalars.
LogicalResult attn::verifyPure(StringRef name, Region &region) {
  for (Operation &inner : region.front().without_terminator()) {
    if (!isMemoryEffectFree(&inner))
      return inner.emitOpError()
             << "expected ops in " << name << " to be free of side effects";
    for (Type type : inner.getResultTypes())
      if (!type.isIntOrIndexOrFloat() &&
          !inner.hasTrait<OpTrait::ConstantLike>())
        return inner.emitOpError()
               << "expected ops in " << name << " to compute scalars, got "
               << type << ": compute it outside";
  }
  return success();
}

LogicalResult attn::verifyReads(StringRef name, Region &region,
                                ArrayRef<NamedDim> coordinates) {
  for (auto extract : region.getOps<tensor::ExtractOp>()) {
    ShapedType type = extract.getTensor().getType();
    for (auto [position, index] : llvm::enumerate(extract.getIndices())) {
      auto arg = dyn_cast<BlockArgument>(index);
      if (!arg || arg.getOwner() != &region.front() ||
          type.isDynamicDim(position))
        continue;
      unsigned first = region.getNumArguments() - coordinates.size();
      if (arg.getArgNumber() < first)
        continue;
      const NamedDim &coordinate = coordinates[arg.getArgNumber() - first];
      if (ShapedType::isDynamic(coordinate.size) ||
          coordinate.size <= type.getDimSize(position))
        continue;
      return extract.emitOpError()
             << name << " reads out of range: expected dimension " << position
             << " to be at least " << coordinate.dim << " = " << coordinate.size
             << ", got " << type.getDimSize(position);
    }
  }
  return success();
}

LogicalResult attn::verifyMod(Operation *op, StringRef name, Region &region,
                              Type changed, Type result,
                              const AttentionDims &total) {
  if (region.empty())
    return success();
  Type index = IndexType::get(op->getContext());
  NamedDim coordinates[] = {{"query", "B", total.batch},
                            {"query", "Hq", total.queryHeads},
                            {"query", "M", total.queryRows},
                            {"key", "N", total.keyRows}};
  SmallVector<Type> arguments(4, index);
  if (changed)
    arguments.insert(arguments.begin(), changed);
  return failure(failed(verifySignature(op, name, region, arguments, result)) ||
                 failed(verifyPure(name, region)) ||
                 failed(verifyReads(name, region, coordinates)) ||
                 failed(verifyBlockLists(region, total)));
}

LogicalResult attn::verifyMods(Operation *op, Region &scoreMod, Region &maskMod,
                               Type scoreType, const AttentionDims &total) {
  Type i1 = IntegerType::get(op->getContext(), 1);
  return failure(failed(verifyMod(op, "score_mod", scoreMod, scoreType,
                                  scoreType, total)) ||
                 failed(verifyMod(op, "mask_mod", maskMod, /*changed=*/Type(),
                                  i1, total)));
}

AttentionDims attn::getUnknownDims() {
  AttentionDims unknown;
  unknown.batch = unknown.queryHeads = unknown.keyHeads = unknown.queryRows =
      unknown.keyRows = unknown.headDim = unknown.valueDim =
          ShapedType::kDynamic;
  return unknown;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult attn::verifySinkSize(Operation *op, ShapedType sink,
                                   NamedDim heads) {
  return verifyEqual(op, heads, {"sink", "0", sink.getDimSize(0)});
}

/// One value for each that the reduction has.
static LogicalResult verifyRowValues(Operation *op,
                                     RowReductionInterface reduction,
                                     ValueRange rows) {
  ArrayRef<RowValue> expected = reduction.getRowValues();
  if (rows.size() == expected.size())
    return success();
  InFlightDiagnostic diag = op->emitOpError() << "expected row values (";
  llvm::interleaveComma(expected, diag,
                        [&](const RowValue &row) { diag << row.name; });
  return diag << ") with normalization " << reduction << ", got "
              << rows.size();
}

/// attention_c18: a row without LSE has no sink either.
static LogicalResult verifyNormalization(AttentionOp op) {
  RowReductionInterface reduction = op.getNormalization();
  if (reduction.hasLse())
    return success();
  for (auto [name, value] : {std::pair<StringRef, Value>{"lse", op.getLse()},
                             {"sink", op.getSink()}})
    if (value)
      return op.emitOpError()
             << "expected no " << name << " with normalization " << reduction;
  return success();
}

/// attention_c19: a length for each batch.
static LogicalResult verifyLengths(Operation *op, StringRef name, Value lengths,
                                   int64_t batch) {
  if (!lengths)
    return success();
  int64_t size = cast<ShapedType>(lengths.getType()).getDimSize(0);
  return verifyEqual(op, {"query", "B", batch}, {name, "0", size});
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyOperands(*this, AttentionOperands::get(*this))) ||
      failed(verifyNormalization(*this)) || failed(verifyFloat8(*this)))
    return failure();
  AttentionDims dims = AttentionDims::get(*this);
  if (failed(verifyDescales(*this, dims)) ||
      failed(
          verifyLengths(*this, "key lengths", getKeyLengths(), dims.batch)) ||
      failed(verifyLengths(*this, "query lengths", getQueryLengths(),
                           dims.batch)) ||
      failed(verifyRagged(*this)))
    return failure();
  auto output = cast<ShapedType>(getOutput().getType());
  Type element = getElementTypeOrSelf(getQuery().getType());
  // attention_c17
  if (failed(verifyDropout(*this)))
    return failure();
  // attention_c16
  if (Value sink = getSink()) {
    auto type = cast<ShapedType>(sink.getType());
    Type own = isByte(element) ? getScoreType() : element;
    if (failed(verifyElementType(*this, "sink", type, own, getScoreType())) ||
        failed(verifySinkSize(*this, type, {"query", "Hq", dims.queryHeads})))
      return failure();
  }
  // attention_c7
  if (failed(verifyOutputType(*this, output, element)) ||
      failed(verifyResultShape(*this, "output", output, dims)))
    return failure();
  // attention_c8
  if (!getLse())
    return success();
  auto lse = cast<ShapedType>(getLse().getType());
  if (failed(verifyElementType(*this, "lse", lse, getScoreType())))
    return failure();
  return verifyResultShape(*this, "lse", lse, dims);
}

LogicalResult AttentionOp::verifyRegions() {
  AttentionDims dims = AttentionDims::get(*this);
  if (failed(
          verifyMods(*this, getScoreMod(), getMaskMod(), getScoreType(), dims)))
    return failure();
  return verifyProbMod(*this, dims);
}

LogicalResult OnlineAttentionOp::verify() {
  if (failed(verifyOperands(*this, AttentionOperands::get(*this))) ||
      failed(verifyDropout(*this)))
    return failure();
  // online_attention_c1
  if (getOffsets().size() != 4)
    return emitOpError() << "expected 4 offsets (b, h, i, j), got "
                         << getOffsets().size();
  // online_attention_c2
  AttentionDims dims = AttentionDims::get(*this);
  auto verifyState = [&](StringRef name, Value state) {
    auto type = cast<ShapedType>(state.getType());
    return failure(
        failed(verifyElementType(*this, name, type, getScoreType())) ||
        failed(verifyResultShape(*this, name, type, dims)));
  };
  if (failed(verifyState("acc", getAcc())) ||
      failed(verifyRowValues(*this, getNormalization(), getRows())))
    return failure();
  for (auto [kind, row] :
       llvm::zip_equal(getNormalization().getRowValues(), getRows()))
    if (failed(verifyState(kind.name, row)))
      return failure();
  return success();
}

LogicalResult OnlineAttentionOp::verifyRegions() {
  AttentionDims dims = getUnknownDims();
  if (failed(
          verifyMods(*this, getScoreMod(), getMaskMod(), getScoreType(), dims)))
    return failure();
  return verifyProbMod(*this, dims);
}

LogicalResult NormalizeOp::verify() {
  auto acc = cast<ShapedType>(getAcc().getType());
  auto output = cast<ShapedType>(getOutput().getType());
  RowReductionInterface reduction = getNormalization();
  // normalize_c1
  if (failed(verifyRowValues(*this, reduction, getRows())))
    return failure();
  // normalize_c3
  for (Value row : getRows())
    if (row.getType() != getRows().front().getType())
      return emitOpError() << "expected row values of one type, got "
                           << getRows().front().getType() << " and "
                           << row.getType();
  for (auto [kind, row] : llvm::zip(reduction.getRowValues(), getRows())) {
    auto type = cast<ShapedType>(row.getType());
    for (unsigned i = 0; i < 3; ++i)
      if (failed(verifyEqual(*this, {"acc", Twine(i).str(), acc.getDimSize(i)},
                             {kind.name, Twine(i).str(), type.getDimSize(i)})))
        return failure();
  }
  for (unsigned i = 0; i < 4; ++i)
    if (failed(verifyEqual(*this, {"acc", Twine(i).str(), acc.getDimSize(i)},
                           {"output", Twine(i).str(), output.getDimSize(i)})))
      return failure();
  // normalize_c5
  if (!std::isfinite(getScaleValue()))
    return emitOpError() << "expected scale to be finite, got "
                         << getScaleValue();
  // normalize_c4
  if (getSink() &&
      failed(verifySinkSize(*this, cast<ShapedType>(getSink().getType()),
                            {"acc", "1", acc.getDimSize(kHead)})))
    return failure();
  // normalize_c7
  if (getDescale() &&
      failed(verifyDescale(*this, "descale", getDescale().getType(),
                           acc.getDimSize(kBatch), ShapedType::kDynamic)))
    return failure();
  // normalize_c6
  if (!reduction.hasLse() && (getLse() || getSink()))
    return emitOpError() << "expected neither lse nor sink with normalization "
                         << reduction;
  // normalize_c2
  if (getLse() && getLse().getType() != getRows().front().getType())
    return emitOpError() << "expected lse to have the type of max, "
                         << getRows().front().getType() << ", got "
                         << getLse().getType();
  return success();
}

LogicalResult RepairOp::verify() {
  // repair_c2
  ArrayRef<int64_t> rows =
      cast<ShapedType>(getOutput().getType()).getShape().drop_back();
  if (failed(verifyCompatibleShape(
          rows, cast<ShapedType>(getLse().getType()).getShape())))
    return emitOpError() << "expected lse to have the rows of output, got "
                         << getLse().getType() << " and "
                         << getOutput().getType();
  return success();
}

LogicalResult CombineOp::verify() {
  // combine_c1
  if (failed(verifyRowValues(*this, getNormalization(), getRows())))
    return failure();
  SmallVector<StringRef> names = {"acc"};
  for (const RowValue &row : getNormalization().getRowValues())
    names.push_back(row.name);
  auto acc = cast<ShapedType>(getAcc().getType());
  for (auto [name, stack, part] :
       llvm::zip_equal(names, getOperands(), getResults())) {
    // combine_c2
    auto type = cast<RankedTensorType>(stack.getType());
    auto expected = RankedTensorType::get(type.getShape().drop_front(),
                                          type.getElementType());
    if (part.getType() != expected)
      return emitOpError() << "expected the result of " << name << " to be "
                           << expected << " as in its stack, got "
                           << part.getType();
    // combine_c3
    for (unsigned i = 0; i < 4; ++i)
      if (failed(verifyEqual(*this, {"acc", Twine(i).str(), acc.getDimSize(i)},
                             {name, Twine(i).str(), type.getDimSize(i)})))
        return failure();
    if (failed(verifyElementType(*this, name, type, acc.getElementType())))
      return failure();
  }
  return success();
}

LogicalResult LengthOp::verify() {
  // length_c1
  if (!isa_and_nonnull<AttentionOp, AttentionBackwardOp>(
          (*this)->getParentOp()))
    return emitOpError() << "expected to be inside a region of attn.attention "
                            "or attn.attention_backward";
  return success();
}
