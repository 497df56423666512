//===- HeadOps.cpp - Which key head serves a query head -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttnVerifiers.h"

#include "attn/Dialect/Attn/IR/HeadOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// The entries of a constant map.
static std::optional<SmallVector<int64_t>> getEntries(Value map) {
  DenseIntElementsAttr entries;
  if (!matchPattern(map, m_Constant(&entries)))
    return std::nullopt;
  return llvm::map_to_vector(
      entries, [](const APInt &entry) { return entry.getSExtValue(); });
}

/// `selected` has the heads of `map`, and otherwise the sizes of `whole`, of
/// whose heads every entry that is known is one.
static LogicalResult verifyMap(Operation *op, StringRef selectedName,
                               ShapedType selected, StringRef wholeName,
                               ShapedType whole, Value map) {
  // select_heads_c1, sum_heads_c1
  if (failed(verifyElementType(op, selectedName, selected,
                               whole.getElementType())))
    return failure();
  int64_t heads = cast<ShapedType>(map.getType()).getDimSize(0);
  for (unsigned dim : {kBatch, kHead, kSequence, kHeadDim}) {
    std::string number = Twine(dim).str();
    NamedDim expected{wholeName, number, whole.getDimSize(dim)};
    if (dim == kHead)
      expected = {"the map", "0", heads};
    if (failed(verifyEqual(op, expected,
                           {selectedName, number, selected.getDimSize(dim)})))
      return failure();
  }
  // select_heads_c2, sum_heads_c2
  if (whole.getDimSize(kHead) == 0 && heads > 0)
    return op->emitOpError() << "expected at least one head of " << wholeName
                             << " for the " << heads << " entries of the map";
  std::optional<SmallVector<int64_t>> entries = getEntries(map);
  if (!entries)
    return success();
  int64_t known = whole.getDimSize(kHead);
  for (auto [head, entry] : llvm::enumerate(*entries))
    if (entry < 0 || (!ShapedType::isDynamic(known) && entry >= known))
      return op->emitOpError()
             << "expected entries from 0 to the last head of " << wholeName
             << ", got " << entry << " of head " << head;
  return success();
}

LogicalResult SelectHeadsOp::verify() {
  // select_heads_c3
  if (auto source = getSource().getDefiningOp<SelectHeadsOp>()) {
    InFlightDiagnostic diag = emitOpError()
                              << "expected a source of which no map selects "
                                 "heads, got the result of '"
                              << source->getName() << "'";
    diag.attachNote(source.getLoc()) << "made here";
    return diag;
  }
  return verifyMap(*this, "result", cast<ShapedType>(getResult().getType()),
                   "source", cast<ShapedType>(getSource().getType()), getMap());
}

LogicalResult SumHeadsOp::verify() {
  return verifyMap(*this, "source", cast<ShapedType>(getSource().getType()),
                   "destination", cast<ShapedType>(getInit().getType()),
                   getMap());
}

LogicalResult
SelectHeadsOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes;
  for (unsigned dim : {kBatch, kHead, kSequence, kHeadDim})
    sizes.push_back(dim == kHead
                        ? tensor::getMixedSize(builder, getLoc(), getMap(), 0)
                        : getDim(builder, getLoc(), getSource(), dim));
  shapes.push_back(sizes);
  return success();
}

LogicalResult
SumHeadsOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getInit()));
  return success();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// True if `init` is `source`, or made of its sizes.
static bool hasSizesOf(Value init, Value source) {
  if (auto cast = init.getDefiningOp<tensor::CastOp>())
    init = cast.getSource();
  if (init == source)
    return true;
  auto empty = init.getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return false;
  auto type = cast<ShapedType>(source.getType());
  return llvm::all_of(
      llvm::enumerate(empty.getMixedSizes()), [&](auto numbered) {
        auto [dim, size] = numbered;
        auto value = dyn_cast<Value>(size);
        auto read = value ? value.template getDefiningOp<tensor::DimOp>()
                          : tensor::DimOp();
        if (read)
          return read.getSource() == source &&
                 read.getConstantIndex() == static_cast<int64_t>(dim);
        return getConstantIntValue(size) == type.getDimSize(dim);
      });
}

SumHeadsOp attn::getHeadSum(Value gradient, Value source) {
  auto sum = gradient.hasOneUse() ? dyn_cast<SumHeadsOp>(*gradient.user_begin())
                                  : SumHeadsOp();
  bool isOfSource =
      sum && sum.getSource() == gradient && hasSizesOf(sum.getInit(), source);
  return isOfSource ? sum : SumHeadsOp();
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// `map`; a constant one of i32, as tables of kernels are.
static Value getTable(OpBuilder &builder, Location loc, Value map) {
  std::optional<SmallVector<int64_t>> entries = getEntries(map);
  if (!entries)
    return map;
  SmallVector<int32_t> table(entries->begin(), entries->end());
  auto type = RankedTensorType::get({static_cast<int64_t>(table.size())},
                                    builder.getI32Type());
  return arith::ConstantOp::create(
      builder, loc, DenseIntElementsAttr::get(type, ArrayRef(table)));
}

Value attn::readHead(OpBuilder &builder, Location loc, Value map, Value source,
                     Value head) {
  Value entry = tensor::ExtractOp::create(builder, loc,
                                          getTable(builder, loc, map), head);
  entry =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), entry);
  Value heads = getValueOrCreateConstantIndexOp(
      builder, loc, getDim(builder, loc, source, kHead));
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value last = arith::SubIOp::create(builder, loc, heads, one);
  return arith::MinUIOp::create(builder, loc, entry, last);
}

Value attn::getHeadMap(Value slice) {
  auto extract = slice.getDefiningOp<tensor::ExtractSliceOp>();
  if (!extract || extract.getType().getRank() != 4)
    return Value();
  auto head = dyn_cast<Value>(extract.getMixedOffsets()[kHead]);
  auto clamp = head ? head.getDefiningOp<arith::MinUIOp>() : arith::MinUIOp();
  auto cast = clamp ? clamp.getLhs().getDefiningOp<arith::IndexCastOp>()
                    : arith::IndexCastOp();
  auto read = cast ? cast.getIn().getDefiningOp<tensor::ExtractOp>()
                   : tensor::ExtractOp();
  return read ? read.getTensor() : Value();
}

/// The slice of one head of `view` as a slice of what that is of.
static void foldSlice(tensor::ExtractSliceOp slice, SelectHeadsOp view) {
  OpBuilder builder(slice);
  Location loc = slice.getLoc();
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  Value head = getValueOrCreateConstantIndexOp(builder, loc, offsets[kHead]);
  offsets[kHead] =
      readHead(builder, loc, view.getMap(), view.getSource(), head);
  Value folded = tensor::ExtractSliceOp::create(
      builder, loc, slice.getType(), view.getSource(), offsets,
      slice.getMixedSizes(), slice.getMixedStrides());
  slice.replaceAllUsesWith(folded);
  slice.erase();
}

void attn::foldSelectedHeads(Operation *root) {
  SmallVector<SelectHeadsOp> views;
  root->walk([&](SelectHeadsOp view) { views.push_back(view); });
  for (SelectHeadsOp view : views) {
    for (Operation *user : llvm::make_early_inc_range(view->getUsers())) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      if (slice && slice.getType().getRank() == 4 &&
          isConstantIntValue(slice.getMixedSizes()[kHead], 1))
        foldSlice(slice, view);
    }
    if (view->use_empty())
      view.erase();
  }
}

/// True if `view` has equal groups of its source's heads in order.
static bool hasEqualGroups(SelectHeadsOp view) {
  int64_t heads =
      cast<ShapedType>(view.getSource().getType()).getDimSize(kHead);
  std::optional<SmallVector<int64_t>> entries = getEntries(view.getMap());
  if (!entries || ShapedType::isDynamic(heads) || heads == 0 ||
      entries->size() % heads != 0)
    return false;
  int64_t group = entries->size() / heads;
  return llvm::all_of(llvm::enumerate(*entries), [&](auto entry) {
    return entry.value() == static_cast<int64_t>(entry.index()) / group;
  });
}

void attn::foldEqualGroups(Operation *root) {
  root->walk([](AttentionOp attention) {
    auto key = attention.getKey().getDefiningOp<SelectHeadsOp>();
    auto value = attention.getValue().getDefiningOp<SelectHeadsOp>();
    auto headsOf = [](Value tensor) {
      return cast<ShapedType>(tensor.getType()).getDimSize(kHead);
    };
    if (!key || !value || !hasEqualGroups(key) || !hasEqualGroups(value) ||
        headsOf(key.getSource()) != headsOf(value.getSource()) ||
        !attention.getDescales().empty())
      return;
    attention.getKeyMutable().assign(key.getSource());
    attention.getValueMutable().assign(value.getSource());
    if (key != value && value->use_empty())
      value.erase();
    if (key->use_empty())
      key.erase();
  });
}

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/HeadOps.cpp.inc"
