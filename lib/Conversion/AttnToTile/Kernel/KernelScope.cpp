//===- KernelScope.cpp - From the tiled form into a kernel -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/KernelScope.h"

#include "Kernel/Fragments.h"
#include "Kernel/RowChains.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

/// True if `read` is of a constant table of the key loops, as opposed to what
/// score_mod and mask_mod read.
static bool isTableRead(tensor::ExtractOp read) {
  return !read->getParentOfType<OnlineAttentionOp>() &&
         read.getIndices().size() == 1 && read.getType().isInteger(32) &&
         matchPattern(read.getTensor(), m_Constant());
}

bool attn::isScalarOp(Operation *op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (op->getNumResults() == 0 || !llvm::all_of(op->getResultTypes(), isScalar))
    return false;
  return isa<tensor::DimOp, tensor::ExtractOp>(op) ||
         (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
          llvm::all_of(op->getOperandTypes(), isScalar));
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Moves a scalar op out of the loops in which it is invariant. A division need
/// not stay behind the test for a trip: integer division does not trap on a
/// GPU.
static void hoist(Operation *op) {
  while (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
    if (!llvm::all_of(op->getOperands(), [&](Value operand) {
          return loop.isDefinedOutsideOfLoop(operand);
        }))
      return;
    op->moveBefore(loop);
  }
}

/// Copies a scalar op into the kernel; sizes are those of the parameters.
LogicalResult KernelScope::copyScalar(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    Value source = values.lookupOrNull(dim.getSource());
    std::optional<int64_t> number = dim.getConstantIndex();
    if (!source || !number || !isa<tile::GlobalType>(source.getType()))
      return op->emitOpError()
             << "expected the size of an operand of the attention";
    values.map(dim.getResult(),
               tile::DimOp::create(builder, op->getLoc(), source, *number)
                   .getResult());
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return copyRead(extract);
  if (auto range = dyn_cast<RangeKeysOp>(op)) {
    if (!worklist)
      return op->emitOpError() << "expected a plan of the splits";
    values.map(range.getKeys(), readWorklist(constant(kRangeKeys)));
    return success();
  }
  hoist(builder.clone(*op, values));
  return success();
}

/// Reads an entry of a table, or an element of an operand: a length, a flag.
LogicalResult KernelScope::copyRead(tensor::ExtractOp op) {
  Operation *read;
  if (isTableRead(op)) {
    DenseIntElementsAttr table;
    matchPattern(op.getTensor(), m_Constant(&table));
    read = tile::LookupOp::create(builder, op.getLoc(), table,
                                  values.lookup(op.getIndices().front()));
  } else {
    Value source = values.lookupOrNull(op.getTensor());
    if (!source)
      return op.emitOpError()
             << "expected to read an operand of the attention, or a constant "
                "vector of i32";
    SmallVector<Value> indices =
        llvm::map_to_vector(op.getIndices(), [&](Value index) -> Value {
          return arith::IndexCastOp::create(
              builder, op.getLoc(), builder.getI64Type(), values.lookup(index));
        });
    read = tile::ExtractOp::create(builder, op.getLoc(), op.getType(), source,
                                   indices);
  }
  values.map(op.getResult(), read->getResult(0));
  hoist(read);
  return success();
}

FailureOr<Value> KernelScope::materialize(Value value) {
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.back();
    if (values.contains(next)) {
      worklist.pop_back();
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (!op || !isScalarOp(op)) {
      emitError(next.getLoc())
          << "expected scalars used by an attention on the GPU to be "
             "constants or tensor sizes; pass others in a tensor";
      return failure();
    }
    size_t before = worklist.size();
    for (Value operand : op->getOperands())
      if (!isa<TensorType>(operand.getType()) && !values.contains(operand) &&
          !isa<tensor::DimOp>(op))
        worklist.push_back(operand);
    if (worklist.size() != before)
      continue;
    if (failed(copyScalar(op)))
      return failure();
    worklist.pop_back();
  }
  return values.lookup(value);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelScope::getIndices(Value number, Value tensor,
                                           int64_t rank) {
  Location loc = attention.getLoc();
  SmallVector<Value> sizes =
      llvm::map_to_vector(llvm::seq(rank), [&](int64_t dim) -> Value {
        return tile::DimOp::create(builder, loc, tensor, dim);
      });
  return getIndices(number, sizes);
}

SmallVector<Value> KernelScope::getIndices(Value number, ValueRange sizes) {
  Location loc = attention.getLoc();
  SmallVector<Value> indices(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 1;) {
    indices[dim] = arith::RemUIOp::create(builder, loc, number, sizes[dim]);
    number = arith::DivUIOp::create(builder, loc, number, sizes[dim]);
  }
  if (!indices.empty())
    indices[0] = number;
  return indices;
}

FailureOr<tile::KernelOp> KernelScope::beginKernel(StringRef name,
                                                   int64_t warps) {
  Location loc = attention.getLoc();
  auto kernel = tile::KernelOp::create(
      builder, loc, name, warps ? warps : attention.schedule.getValues().warps,
      /*sharing=*/IntegerAttr(), /*producer_warps=*/IntegerAttr(),
      /*cluster_ctas=*/IntegerAttr(),
      /*shared_bytes=*/IntegerAttr(), attention.schedule, /*forward=*/false,
      /*mapped=*/DenseI64ArrayAttr(), /*mapped_heads=*/DenseI64ArrayAttr());
  Block *body = builder.createBlock(&kernel.getBody());
  for (const KernelOperand &operand : attention.operands)
    values.map(operand.tensor, body->addArgument(getGlobalType(operand), loc));
  for (const PrologueOp &prologue : attention.prologue) {
    SmallVector<Value> &views = prologueViews.emplace_back();
    for (const WorkspaceView &view : prologue.views)
      views.push_back(body->addArgument(view.type, loc));
    for (auto [result, view] : llvm::zip(prologue.op->getResults(), views))
      values.map(result, view);
  }
  if (attention.worklist)
    worklist = body->addArgument(attention.worklist->type, loc);
  // Tiles of a query that changes in them are those of what it was before.
  if (Operation *last =
          attention.first ? getFusedRows(attention.first) : nullptr)
    values.map(last->getResult(0), values.lookup(RowChain::get(last).source));
  if (attention.forall && failed(materializeOutside(attention.forall)))
    return failure();
  return kernel;
}

LogicalResult KernelScope::materializeOutside(Operation *outer) {
  for (Value operand : outer->getOperands())
    if (operand.getType().isIntOrIndexOrFloat() && failed(materialize(operand)))
      return failure();
  return failure(llvm::any_of(outer->getRegions(), [&](Region &region) {
    return failed(materializeOutside(region));
  }));
}

LogicalResult KernelScope::materializeOutside(Region &region) {
  return failure(region
                     .walk([&](Operation *op) {
                       for (Value operand : op->getOperands())
                         if (operand.getType().isIntOrIndexOrFloat() &&
                             !region.isAncestor(operand.getParentRegion()) &&
                             failed(materialize(operand)))
                           return WalkResult::interrupt();
                       return WalkResult::advance();
                     })
                     .wasInterrupted());
}

Value KernelScope::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, attention.getLoc(), value);
}

FailureOr<Value> KernelScope::getExtent(unsigned loop) {
  OpFoldResult size = attention.forall.getMixedUpperBound()[loop];
  if (auto value = dyn_cast<Value>(size))
    return materialize(value);
  return constant(*getConstantIntValue(size));
}

Value KernelScope::readOffset(Value offsets, Value number) {
  Location loc = attention.getLoc();
  auto type = cast<tile::GlobalType>(offsets.getType()).getElementType();
  Value at =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
  Value offset =
      tile::ExtractOp::create(builder, loc, type, offsets, ValueRange{at});
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    offset);
}

SequenceRows KernelScope::getSequence(Value offsets, Value batch, Value all) {
  Location loc = attention.getLoc();
  Value first = readOffset(offsets, batch);
  first = arith::MaxSIOp::create(builder, loc, first, constant(0));
  Value next = arith::AddIOp::create(builder, loc, batch, constant(1));
  Value end =
      arith::MinSIOp::create(builder, loc, readOffset(offsets, next), all);
  return {first, arith::SubIOp::create(builder, loc, end, first)};
}

Value KernelScope::getKeyLength(Value batch) {
  Location loc = attention.getLoc();
  OnlineAttentionOp step = attention.first;
  if (auto packed = step.getKeyLengths().getDefiningOp<SequenceLengthsOp>()) {
    Value offsets = values.lookup(packed.getOffsets());
    Value next = arith::AddIOp::create(builder, loc, batch, constant(1));
    return arith::SubIOp::create(builder, loc, readOffset(offsets, next),
                                 readOffset(offsets, batch));
  }
  Value lengths = values.lookup(step.getKeyLengths());
  Value at =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), batch);
  Value keys = tile::ExtractOp::create(
      builder, loc, cast<tile::GlobalType>(lengths.getType()).getElementType(),
      lengths, at);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), keys);
}

FailureOr<Value> KernelScope::getExistingKeys(Value batch) {
  Location loc = attention.getLoc();
  FailureOr<Value> splits = getExtent(kLoopSplit);
  if (failed(splits))
    return failure();
  Value keys = getKeyLength(batch);
  // No more than the kernel has splits for, whatever the length says.
  Value most =
      arith::MulIOp::create(builder, loc, *splits,
                            constant(attention.schedule.getValues().splitKeys));
  keys = arith::MaxSIOp::create(builder, loc, keys, constant(0));
  return arith::MinSIOp::create(builder, loc, keys, most).getResult();
}

Value KernelScope::getQueryRows(Value batch) {
  Location loc = attention.getLoc();
  OnlineAttentionOp step = attention.first;
  RaggedOp query = getRagged(step.getQuery());
  Value all = tile::DimOp::create(builder, loc,
                                  values.lookup(query.getPacked()), /*dim=*/0);
  Value rows = getSequence(values.lookup(query.getOffsets()), batch, all).count;
  rows = arith::MaxSIOp::create(builder, loc, rows, constant(0));
  int64_t room = query.getType().getDimSize(kSequence);
  if (ShapedType::isDynamic(room))
    return rows;
  return arith::MinSIOp::create(builder, loc, rows, constant(room));
}

Value KernelScope::readWorklist(Value at) {
  Location loc = attention.getLoc();
  at = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
  Value number =
      tile::ExtractOp::create(builder, loc, builder.getI32Type(), worklist, at);
  return tile::CoordinateOp::create(builder, loc, number);
}

FailureOr<Value> KernelScope::getWorklistHeader() {
  if (!plansRanges(attention))
    return constant(kEntryCount + 1);
  FailureOr<Value> batches = getExtent(kLoopB);
  if (failed(batches))
    return failure();
  return arith::AddIOp::create(builder, attention.getLoc(), *batches,
                               constant(kFirstStates))
      .getResult();
}

Value KernelScope::readFirstState(Value batch) {
  return readWorklist(arith::AddIOp::create(builder, attention.getLoc(), batch,
                                            constant(kFirstStates)));
}

FailureOr<PlannedSplits> KernelScope::getPlannedSplits(Value batch) {
  Location loc = attention.getLoc();
  FailureOr<Value> keys = getExistingKeys(batch);
  if (failed(keys))
    return failure();
  Value range = rangeKeys;
  if (!plansRanges(attention))
    range = constant(attention.schedule.getValues().splitKeys);
  else if (!range)
    range = readWorklist(constant(kRangeKeys));
  PlannedSplits planned;
  planned.whole = arith::DivUIOp::create(builder, loc, *keys, range);
  planned.rest = arith::RemUIOp::create(builder, loc, *keys, range);
  auto compare = [&](arith::CmpIPredicate predicate, Value value) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, value, constant(0));
  };
  planned.hasRest = compare(arith::CmpIPredicate::ne, planned.rest);
  planned.hasRest = arith::OrIOp::create(
      builder, loc, planned.hasRest, compare(arith::CmpIPredicate::eq, *keys));
  return planned;
}

Value KernelScope::getBlockId(gpu::Dimension dimension) {
  return gpu::BlockIdOp::create(builder, attention.getLoc(), dimension);
}

/// Whether arithmetic alone leads from `source` to `value`. Of lengths, which
/// are read at other places, it may be a function, too.
static bool isFunctionOf(Value value, Value source) {
  if (value == source)
    return true;
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  if (failed(getBackwardSlice(value, &slice, options)))
    return false;
  // In the slice an op stands behind what it uses.
  DenseSet<Operation *> functions;
  for (Operation *op : slice) {
    bool isFunction = llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand == source || functions.contains(operand.getDefiningOp());
    });
    if (isFunction && isa<tensor::ExtractOp>(op))
      return false;
    if (isFunction)
      functions.insert(op);
  }
  return functions.contains(value.getDefiningOp());
}

bool attn::haveLoopsOfTheirPlace(Operation *root, Value position) {
  auto visit = [&](scf::ForOp loop) {
    return isFunctionOf(loop.getLowerBound(), position) ||
                   isFunctionOf(loop.getUpperBound(), position)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return root->walk(visit).wasInterrupted();
}

TileOfHead KernelScope::getTileOfEachHead(int64_t clusterCtas) {
  Value tile = getBlockId(gpu::Dimension::x);
  Value head = getBlockId(gpu::Dimension::y);
  Location loc = attention.getLoc();
  auto size = [&](gpu::Dimension dimension) -> Value {
    return gpu::GridDimOp::create(builder, loc, dimension);
  };
  Value tiles = size(gpu::Dimension::x), heads = size(gpu::Dimension::y);
  Value ctas, ofCluster;
  if (clusterCtas > 1) {
    ctas = constant(clusterCtas);
    ofCluster = arith::RemUIOp::create(builder, loc, tile, ctas);
    tile = arith::DivUIOp::create(builder, loc, tile, ctas);
    tiles = arith::DivUIOp::create(builder, loc, tiles, ctas);
  }
  Value number = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, head, tiles), tile);
  TileOfHead of = {arith::DivUIOp::create(builder, loc, number, heads),
                   arith::RemUIOp::create(builder, loc, number, heads)};
  if (clusterCtas > 1)
    of.tile = arith::AddIOp::create(
        builder, loc, arith::MulIOp::create(builder, loc, of.tile, ctas),
        ofCluster);
  return of;
}

WarpOfGrid attn::getWarpOfGrid(OpBuilder &builder, Location loc,
                               int64_t warps) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value cta = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value lanes = constant(kLanes);
  Value first = arith::MulIOp::create(builder, loc, cta, constant(warps));
  Value warp = arith::DivUIOp::create(builder, loc, thread, lanes);
  return {arith::AddIOp::create(builder, loc, first, warp),
          arith::RemUIOp::create(builder, loc, thread, lanes)};
}

/// They are in the order of their bits, with NaN at the end.
Value attn::reduceMagnitudes(OpBuilder &builder, Location loc,
                             Value magnitude) {
  Value bits =
      arith::BitcastOp::create(builder, loc, builder.getI32Type(), magnitude);
  bits = gpu::SubgroupReduceOp::create(
      builder, loc, bits, gpu::AllReduceOperation::MAXSI, /*uniform=*/true);
  return arith::BitcastOp::create(builder, loc, builder.getF32Type(), bits);
}

Value KernelScope::countFromLast(Value tile) {
  Location loc = attention.getLoc();
  Value ctas = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
  Value last = arith::SubIOp::create(builder, loc, ctas, constant(1));
  return arith::SubIOp::create(builder, loc, last, tile);
}

Value KernelScope::getReversedBlockId() {
  return countFromLast(getBlockId(gpu::Dimension::x));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value attn::loadTile(OpBuilder &builder, Location loc, Value tensor,
                     ValueRange indices, int64_t rows, int64_t cols,
                     int64_t heads) {
  auto type = cast<tile::GlobalType>(tensor.getType());
  int64_t rowBytes = cols * type.getElementType().getIntOrFloatBitWidth() / 8;
  auto tileType = tile::SharedType::get(
      builder.getContext(), {rows, cols}, type.getElementType(),
      tile::SharedType::getSwizzleFor(rowBytes));
  return tile::LoadOp::create(builder, loc, tileType, tensor, indices,
                              /*table=*/Value(), /*rows=*/Value(),
                              /*first=*/Value(), heads);
}

Value KernelScope::loadTile(Value tensor, ValueRange indices, int64_t rows,
                            int64_t cols, int64_t heads) {
  return attn::loadTile(builder, attention.getLoc(), tensor, indices, rows,
                        cols, heads);
}

FailureOr<Value> KernelScope::loadSlice(Value slice, int64_t rows, int64_t cols,
                                        Value column) {
  auto op = slice.getDefiningOp<tensor::ExtractSliceOp>();
  SmallVector<Value> indices;
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  for (OpFoldResult offset : ArrayRef<OpFoldResult>(offsets).drop_back()) {
    if (auto value = dyn_cast<Value>(offset)) {
      FailureOr<Value> copy = materialize(value);
      if (failed(copy))
        return failure();
      indices.push_back(*copy);
    } else {
      indices.push_back(constant(*getConstantIntValue(offset)));
    }
  }
  if (column)
    indices.push_back(column);
  int64_t heads = op.getType().getDimSize(kHead);
  PagedOp pages = getPages(slice);
  // Sequences are views of the kernel already.
  Value source = skipColumns(pages ? pages.getPool() : op.getSource());
  Value tile = loadTile(values.lookup(source), indices, rows, cols, heads);
  if (pages)
    tile.getDefiningOp<tile::LoadOp>().getTableMutable().assign(
        tables.lookupOrDefault(values.lookup(pages.getTable())));
  return tile;
}

Value KernelScope::loadSink() {
  Value tensor = attention.getSink();
  if (!tensor)
    return Value();
  Location loc = attention.normalize.getLoc();
  Value source = values.lookup(tensor);
  Value head = values.lookup(attention.forall.getInductionVars()[kHead]);
  head = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), head);
  Type rows = getRowType(builder, attention.schedule.getValues().tileM);
  // With pack_gqa the rows of a tile are those of one head after another.
  int64_t rowsOfHead = attention.getTilePositions();
  return Fragments(builder, loc).map(rows, {}, [&](ValueRange) -> Value {
    Value row = builder.getInsertionBlock()->getArgument(0);
    Value inTile = arith::DivUIOp::create(
        builder, loc, row,
        arith::ConstantIntOp::create(builder, loc, rowsOfHead, 32));
    Value at = arith::AddIOp::create(
        builder, loc, head,
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), inTile));
    Type element = cast<tile::GlobalType>(source.getType()).getElementType();
    Value sink =
        tile::ExtractOp::create(builder, loc, element, source, ValueRange{at});
    return element.isF32()
               ? sink
               : arith::ExtFOp::create(builder, loc, builder.getF32Type(), sink)
                     .getResult();
  });
}

FailureOr<Value> KernelScope::loadDescale() {
  Value tensor = attention.getDescale();
  if (!tensor)
    return Value();
  Location loc = attention.normalize.getLoc();
  SmallVector<OpFoldResult> position(
      cast<RankedTensorType>(tensor.getType()).getRank(),
      builder.getIndexAttr(0));
  if (auto slice = attention.normalize.getDescale()
                       .getDefiningOp<tensor::ExtractSliceOp>())
    position = slice.getMixedOffsets();
  SmallVector<Value> at;
  for (OpFoldResult offset : position) {
    FailureOr<Value> index;
    if (auto value = dyn_cast<Value>(offset))
      index = materialize(value);
    else
      index = constant(*getConstantIntValue(offset));
    if (failed(index))
      return failure();
    at.push_back(
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), *index));
  }
  return Value(tile::ExtractOp::create(builder, loc, builder.getF32Type(),
                                       values.lookup(tensor), at));
}

FailureOr<Value> KernelScope::getKeysInTile(OnlineAttentionOp step) {
  auto slice = step.getKey().getDefiningOp<tensor::ExtractSliceOp>();
  OpFoldResult keys = slice.getMixedSizes()[kSequence];
  if (auto dynamic = dyn_cast<Value>(keys))
    return materialize(dynamic);
  int64_t number = *getConstantIntValue(keys);
  return number == attention.schedule.getValues().tileN ? Value()
                                                        : constant(number);
}
