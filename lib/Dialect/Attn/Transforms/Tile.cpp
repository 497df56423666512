//===- Tile.cpp - Loops over query and key tiles ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile: an scf.forall over row tiles around scf.for loops
// over key tiles. The slices of a tile come from TilingInterface.
//
//===----------------------------------------------------------------------===//

#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/DescaleBuilder.h"
#include "attn/Dialect/Attn/Utils/LengthBuilder.h"
#include "attn/Dialect/Attn/Utils/NormalForm.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace attn {
#define GEN_PASS_DEF_TILEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using Sizes = SmallVector<OpFoldResult>;

namespace {
/// An attention to tile: its only step, over all keys, and its end.
struct WholeAttention {
  OnlineAttentionOp step;
  NormalizeOp normalize;
};

/// The rows of one iteration of the scf.forall: offsets (b, h, m) and sizes
/// (1, 1, rows).
struct QueryTile {
  Sizes offsets;
  Sizes sizes;
};

/// One of the key loops: [lower, upper), and N where its tiles are ragged.
struct LoopRange {
  Value lower;
  Value upper;
  OpFoldResult raggedAt;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be tiled
//===----------------------------------------------------------------------===//

/// True if `value` is filled with `number`.
static bool isFilled(Value value, double number) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  FloatAttr scalar;
  return fill && matchPattern(fill.getInputs()[0], m_Constant(&scalar)) &&
         scalar.getValueAsDouble() == number;
}

/// The attention that `step` belongs to; an error if it is not in the form
/// that --attn-convert-to-online gives.
static FailureOr<WholeAttention> getWholeAttention(OnlineAttentionOp step) {
  std::optional<ScheduleAttr> schedule = step.getSchedule();
  if (!schedule || !schedule->isComplete())
    return step.emitOpError() << "expected a complete schedule, as "
                                 "--attn-select-schedule gives";
  ArrayRef<RowValue> rowValues = step.getNormalization().getRowValues();
  bool isInitial = isFilled(step.getAcc(), 0);
  for (auto [kind, row] : llvm::zip_equal(rowValues, step.getRows()))
    isInitial &= isFilled(row, kind.neutral);
  if (!isInitial) {
    InFlightDiagnostic diag = step.emitOpError()
                              << "expected to start from the initial state: "
                                 "acc = 0";
    for (const RowValue &kind : rowValues)
      diag << ", " << kind.name << " = " << (kind.neutral == 0 ? "0" : "-inf");
    return diag;
  }
  NormalizeOp normalize;
  for (Operation *user : step->getUsers())
    if (auto end = dyn_cast<NormalizeOp>(user))
      normalize = end;
  if (!normalize || !llvm::all_equal(step->getUsers()) ||
      ValueRange(normalize.getState().getValues()) != step->getResults())
    return step.emitOpError() << "expected its results to be the state of one "
                                 "attn.normalize, and nothing else";
  return WholeAttention{step, normalize};
}

//===----------------------------------------------------------------------===//
// Tiling
//===----------------------------------------------------------------------===//

/// The ranges of the loops over `keys` keys: whole tiles, then the ragged end.
/// There is one of no tiles where there are no keys: later passes look at its
/// step.
static SmallVector<LoopRange>
getKeyRanges(OpBuilder &builder, OnlineAttentionOp step, OpFoldResult keys) {
  Location loc = step.getLoc();
  int64_t tile = step.getSchedule()->getValues().tileN;
  auto asValue = [&](OpFoldResult ofr) {
    return getValueOrCreateConstantIndexOp(builder, loc, ofr);
  };
  OpFoldResult staticEnd = affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineSymbolExpr(0).floorDiv(tile) * tile,
      {keys});
  Value start = asValue(builder.getIndexAttr(0)), middle = asValue(staticEnd);
  SmallVector<LoopRange> ranges;
  if (!isConstantIntValue(staticEnd, 0) || isConstantIntValue(keys, 0))
    ranges.push_back({start, middle, OpFoldResult()});
  if (!divides(tile, keys))
    ranges.push_back({middle, asValue(keys), keys});
  return ranges;
}

/// The step over the key tile at `n`, from state `init`.
static OnlineAttentionOp createTileStep(OpBuilder &builder,
                                        OnlineAttentionOp step,
                                        const QueryTile &rows,
                                        const LoopRange &range, Value n,
                                        ValueRange init) {
  int64_t tileN = step.getSchedule()->getValues().tileN;
  OpFoldResult keys = builder.getIndexAttr(tileN);
  if (range.raggedAt)
    keys = boundedTile(builder, step.getLoc(), tileN, n, range.raggedAt);
  Sizes offsets(rows.offsets), sizes(rows.sizes);
  offsets.push_back(n);
  sizes.push_back(keys);
  // A tile of one head always has one key head, so that tiling cannot fail.
  FailureOr<TilingResult> tiled =
      step.getTiledImplementation(builder, offsets, sizes);
  assert(succeeded(tiled) && "expected tiles of one head");
  auto tileStep = cast<OnlineAttentionOp>(tiled->tiledOps.front());
  // The state is carried, not sliced.
  SmallVector<Value> slices(tileStep.getState().getValues());
  tileStep.getStateMutable().assign(init);
  for (Value slice : slices)
    slice.getDefiningOp()->erase();
  return tileStep;
}

/// The loop over the keys of `range`; returns the state after it.
static SmallVector<Value>
createKeyLoop(OpBuilder &builder, OnlineAttentionOp step, const QueryTile &rows,
              const LoopRange &range, ValueRange init) {
  Location loc = step.getLoc();
  Value tile = arith::ConstantIndexOp::create(
      builder, loc, step.getSchedule()->getValues().tileN);
  auto loop =
      scf::ForOp::create(builder, loc, range.lower, range.upper, tile, init);
  // The body is built in place: affine ops look at the loops around them.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto tileStep =
      createTileStep(builder, step, rows, range, loop.getInductionVar(),
                     loop.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, tileStep->getResults());
  moveLoopInvariantCode(loop);
  return SmallVector<Value>(loop.getResults());
}

/// The body of the scf.forall: fills, key loops, normalize, insertion.
static void createRowTile(OpBuilder &builder, WholeAttention whole,
                          ArrayRef<LoopRange> ranges, const QueryTile &rows,
                          scf::ForallOp forall) {
  Location loc = whole.step.getLoc();
  OpFoldResult valueDim = getDim(builder, loc, whole.step.getValue(), kHeadDim);
  SmallVector<Value> state(
      createInitialState(builder, loc, whole.step.getNormalization(),
                         rows.sizes, valueDim, whole.step.getScoreType())
          .getValues());
  for (const LoopRange &range : ranges)
    state = createKeyLoop(builder, whole.step, rows, range, state);

  SmallVector<Type> types;
  for (Type type : whole.normalize->getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    for (auto [dim, size] : llvm::enumerate(rows.sizes))
      shape[dim] = getConstantIntValue(size).value_or(ShapedType::kDynamic);
    types.push_back(tensor.clone(shape));
  }
  Value sink = whole.normalize.getSink();
  if (sink)
    sink = tensor::ExtractSliceOp::create(
        builder, loc, sink, rows.offsets[kHead], rows.sizes[kHead],
        OpFoldResult(builder.getIndexAttr(1)));
  Value descale = whole.normalize.getDescale();
  if (descale)
    descale = sliceDescale(
        builder, loc, descale, rows.offsets[kBatch], rows.offsets[kHead],
        getGroupSize(builder, loc, descale,
                     getDim(builder, loc, whole.step.getQuery(), kHead)));
  auto normalize = NormalizeOp::create(
      builder, whole.normalize.getLoc(), types, state.front(),
      ArrayRef(state).drop_front(), sink, descale,
      whole.normalize.getScaleAttr(), whole.normalize.getNormalizationAttr());
  builder.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [tile, out] :
       llvm::zip_equal(normalize->getResults(), forall.getRegionIterArgs())) {
    Sizes offsets(rows.offsets), sizes(rows.sizes);
    if (cast<ShapedType>(out.getType()).getRank() == 4) {
      offsets.push_back(builder.getIndexAttr(0));
      sizes.push_back(valueDim);
    }
    Sizes strides(offsets.size(), builder.getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(builder, loc, tile, out, offsets,
                                          sizes, strides);
  }
}

/// Query heads of a tile: a group, or a part of one that has more heads than
/// the tile has rows. The schedule packs them only where their number is known.
static int64_t getPackedHeads(OnlineAttentionOp step) {
  if (!step.getSchedule()->getValues().packGqa)
    return 1;
  AttentionDims dims = AttentionDims::get(step);
  return std::min<int64_t>(dims.queryHeads / dims.keyHeads,
                           step.getSchedule()->getValues().tileM);
}

/// pack_gqa that was given to a later stage has not been checked yet.
static LogicalResult checkPacking(OnlineAttentionOp step) {
  if (!step.getSchedule()->getValues().packGqa)
    return success();
  AttentionDims dims = AttentionDims::get(step);
  bool isKnown = !ShapedType::isDynamic(dims.queryHeads) &&
                 !ShapedType::isDynamic(dims.keyHeads) && dims.keyHeads > 0;
  if (isKnown) {
    int64_t heads = getPackedHeads(step);
    if (step.getSchedule()->getValues().tileM % heads == 0 &&
        dims.queryHeads / dims.keyHeads % heads == 0)
      return success();
  }
  return step.emitOpError() << "expected known numbers of heads with pack_gqa, "
                               "and tile_m to be a multiple of the query heads "
                               "of a group, or a part of them";
}

/// `keys`, or none where the tile of `forall` has no row of its sequence: most
/// tiles, since the query has room for the longest.
static Value leaveOutTiles(OpBuilder &builder, OnlineAttentionOp step,
                           scf::ForallOp forall, Value keys) {
  RaggedOp query = getRagged(step.getQuery());
  if (!query)
    return keys;
  Location loc = step.getLoc();
  Value batch = forall.getInductionVar(kLoopB);
  Value end = readOffset(builder, loc, query.getOffsets(), batch, 1);
  Value begin = readOffset(builder, loc, query.getOffsets(), batch, 0);
  Value rows = arith::SubIOp::create(builder, loc, end, begin);
  Value hasRows = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        forall.getInductionVar(kLoopM), rows);
  Value none = arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::SelectOp::create(builder, loc, hasRows, keys, none);
}

static void tile(WholeAttention whole) {
  OpBuilder builder(whole.normalize);
  Location loc = whole.step.getLoc();
  int64_t tileM = whole.step.getSchedule()->getValues().tileM;
  Sizes rows;
  for (unsigned dim : {kBatch, kHead, kSequence})
    rows.push_back(getDim(builder, loc, whole.step.getQuery(), dim));
  SmallVector<Value> outputs;
  for (Value result : whole.normalize->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Sizes sizes(rows);
    if (type.getRank() == 4)
      sizes.push_back(getDim(builder, loc, whole.step.getValue(), kHeadDim));
    Value empty =
        tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
    if (empty.getType() != type)
      empty = tensor::CastOp::create(builder, loc, type, empty);
    outputs.push_back(empty);
  }
  OpFoldResult keys = getDim(builder, loc, whole.step.getKey(), kSequence);
  Value lengths = whole.step.getKeyLengths();
  SmallVector<LoopRange> ranges;
  if (!lengths)
    ranges = getKeyRanges(builder, whole.step, keys);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  // Packed, a tile has the same rows of several query heads of a group.
  int64_t heads = getPackedHeads(whole.step);
  tileM /= heads;
  OpFoldResult step = builder.getIndexAttr(tileM);
  OpFoldResult headStep = builder.getIndexAttr(heads);
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{zero, zero, zero}, rows,
      ArrayRef<OpFoldResult>{one, headStep, step}, outputs, std::nullopt);

  builder.setInsertionPoint(forall.getTerminator());
  if (lengths) {
    Value capacity = getValueOrCreateConstantIndexOp(builder, loc, keys);
    Value length =
        buildKeyLength(builder, loc, whole.step.getKey(), whole.step.getValue(),
                       lengths, forall.getInductionVar(kLoopB), capacity);
    length = leaveOutTiles(builder, whole.step, forall, length);
    ranges = getKeyRanges(builder, whole.step, length);
  }
  QueryTile tile;
  llvm::append_range(tile.offsets,
                     getAsOpFoldResult(ValueRange(forall.getInductionVars())));
  tile.sizes = {one, headStep, step};
  if (!divides(tileM, rows[kSequence]))
    tile.sizes[kSequence] = boundedTile(
        builder, loc, tileM, tile.offsets[kSequence], rows[kSequence]);
  createRowTile(builder, whole, ranges, tile, forall);
  whole.normalize->replaceAllUsesWith(forall.getResults());
  eraseWithProducers(whole.normalize);
}

namespace {
struct Tile : public attn::impl::TilePassBase<Tile> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(rejectUnconverted()))
      return signalPassFailure();
    SmallVector<WholeAttention> attentions;
    WalkResult result = getOperation().walk([&](OnlineAttentionOp step) {
      FailureOr<WholeAttention> whole = getWholeAttention(step);
      if (failed(whole) || failed(checkPacking(step)))
        return WalkResult::interrupt();
      attentions.push_back(*whole);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (WholeAttention whole : attentions)
      tile(whole);
    foldSelectedHeads(getOperation());
    numTiled += attentions.size();
    setNormalForm(getOperation(), NormalForm::Tiled);
  }

private:
  /// An attn.attention would be left out silently.
  LogicalResult rejectUnconverted() {
    WalkResult result = getOperation().walk([](AttentionOp op) {
      op.emitOpError() << "expected attn.online_attention, as "
                          "--attn-convert-to-online gives";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
