//===- AttnToTile.cpp - Tiled attention to one CTA's program -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass: walks a tiled attention (docs/Forms.md) and builds its kernel. The
// scf.forall becomes the grid, key loops stay loops, slices become tile loads.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"

#include "KernelOperands.h"
#include "OnlineStep.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOTILE
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Builds the kernel of one tiled attention.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, TiledAttention &attention)
      : builder(builder), attention(attention), mods(builder, values) {}

  FailureOr<tile::KernelOp> build(StringRef name);

private:
  void mapGrid();
  LogicalResult materializeOuter();
  LogicalResult copyScalar(Operation *op);
  LogicalResult convertBlock(Block &block);
  LogicalResult convertLoop(scf::ForOp loop);
  LogicalResult convertStep(OnlineAttentionOp step);
  void convertNormalize(NormalizeOp op);
  void convertStores(scf::InParallelOp op);
  Value getQuery();
  Value loadTile(Value slice, int64_t rows);
  FragmentState getState(ValueRange state);
  void setState(ValueRange results, ArrayRef<Value> fragments);

  OpBuilder &builder;
  TiledAttention &attention;
  IRMapping values; ///< outside tensors, scalars and state -> in the kernel
  ModToMap mods;
  Value query;
};

/// True if `op` computes scalars only, from scalars or from a tensor's size.
bool isScalarOp(Operation *op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (op->getNumResults() == 0 || !llvm::all_of(op->getResultTypes(), isScalar))
    return false;
  return isa<tensor::DimOp>(op) ||
         (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
          llvm::all_of(op->getOperandTypes(), isScalar));
}

} // namespace

//===----------------------------------------------------------------------===//
// Scalars and the grid
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
LogicalResult KernelBuilder::copyScalar(Operation *op) {
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
  hoist(builder.clone(*op, values));
  return success();
}

/// Copies the scalars from outside the forall that it uses, operands first.
LogicalResult KernelBuilder::materializeOuter() {
  Region &body = attention.forall.getRegion();
  SmallVector<Value> worklist;
  attention.forall->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getType().isIntOrIndexOrFloat() &&
          !body.isAncestor(operand.getParentRegion()))
        worklist.push_back(operand);
  });
  while (!worklist.empty()) {
    Value value = worklist.back();
    if (values.contains(value)) {
      worklist.pop_back();
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op || !isScalarOp(op))
      return emitError(value.getLoc())
             << "expected scalars used by an attention on the GPU to be "
                "constants or tensor sizes; pass others in a tensor";
    size_t before = worklist.size();
    if (!isa<tensor::DimOp>(op))
      for (Value operand : op->getOperands())
        if (!values.contains(operand))
          worklist.push_back(operand);
    if (worklist.size() != before)
      continue;
    if (failed(copyScalar(op)))
      return failure();
    worklist.pop_back();
  }
  return success();
}

/// Grid: x = row tiles, last first (under a causal mask they have the most
/// keys), y = query heads, z = batch.
void KernelBuilder::mapGrid() {
  Location loc = attention.forall.getLoc();
  auto blockId = [&](gpu::Dimension dimension) -> Value {
    return gpu::BlockIdOp::create(builder, loc, dimension);
  };
  Value tiles = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value last = arith::SubIOp::create(builder, loc, tiles, one);
  Value rowTile =
      arith::SubIOp::create(builder, loc, last, blockId(gpu::Dimension::x));
  Value tileM = arith::ConstantIndexOp::create(builder, loc,
                                               attention.schedule.getTileM());
  Value row = arith::MulIOp::create(builder, loc, rowTile, tileM);
  SmallVector<Value> ids = {blockId(gpu::Dimension::z),
                            blockId(gpu::Dimension::y), row};
  values.map(attention.forall.getInductionVars(), ids);
}

//===----------------------------------------------------------------------===//
// Tiles and steps
//===----------------------------------------------------------------------===//

/// Loads the tile of `rows` rows that `slice` starts.
Value KernelBuilder::loadTile(Value slice, int64_t rows) {
  auto op = slice.getDefiningOp<tensor::ExtractSliceOp>();
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getSource().getType());
  int64_t cols = padHeadDim(type.getDimSize(kHeadDim));
  auto tileType = tile::SharedType::get(
      builder.getContext(), {rows, cols}, type.getElementType(),
      tile::SharedType::getSwizzleFor(cols * type.getElementTypeBitWidth() /
                                      8));
  SmallVector<Value> indices;
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  for (OpFoldResult offset : ArrayRef<OpFoldResult>(offsets).drop_back()) {
    if (auto value = dyn_cast<Value>(offset))
      indices.push_back(values.lookup(value));
    else
      indices.push_back(arith::ConstantIndexOp::create(
          builder, loc, *getConstantIntValue(offset)));
  }
  return tile::LoadOp::create(builder, loc, tileType,
                              values.lookup(op.getSource()), indices);
}

/// The query as an operand: in registers if the schedule says so, else in
/// shared memory, from which every mma reads it again.
Value KernelBuilder::getQuery() {
  if (query)
    return query;
  OnlineAttentionOp op = attention.first;
  ScheduleAttr schedule = attention.schedule;
  AttentionDims dims = AttentionDims::get(op);
  int64_t rows = schedule.getTileM();
  query = loadTile(op.getQuery(), rows);
  auto operandType = tile::FragmentType::get(
      builder.getContext(), {rows, padHeadDim(dims.headDim)},
      getElementTypeOrSelf(op.getQuery().getType()),
      tile::FragmentLayout::OperandA);
  if (getSchedule(schedule).queryInRegisters)
    query =
        tile::LoadOperandOp::create(builder, op.getLoc(), operandType, query);
  return query;
}

FragmentState KernelBuilder::getState(ValueRange state) {
  return {values.lookup(state[0]), values.lookup(state[1]),
          values.lookup(state[2])};
}

void KernelBuilder::setState(ValueRange results, ArrayRef<Value> fragments) {
  for (auto [result, fragment] : llvm::zip_equal(results, fragments))
    values.map(result, fragment);
}

LogicalResult KernelBuilder::convertStep(OnlineAttentionOp step) {
  int64_t tileN = attention.schedule.getTileN();
  Value key = loadTile(step.getKey(), tileN);
  Value value = loadTile(step.getValue(), tileN);
  auto slice = step.getKey().getDefiningOp<tensor::ExtractSliceOp>();
  OpFoldResult keys = slice.getMixedSizes()[kSequence];
  Value keysInTile;
  if (auto dynamic = dyn_cast<Value>(keys))
    keysInTile = values.lookup(dynamic);
  else if (*getConstantIntValue(keys) != tileN)
    keysInTile = arith::ConstantIndexOp::create(builder, step.getLoc(),
                                                *getConstantIntValue(keys));
  FailureOr<FragmentState> next =
      buildStep(mods, step, getQuery(), key, value, keysInTile,
                getState({step.getAcc(), step.getMax(), step.getSum()}));
  if (failed(next))
    return failure();
  setState(step->getResults(), next->values());
  return success();
}

LogicalResult KernelBuilder::convertLoop(scf::ForOp loop) {
  Location loc = loop.getLoc();
  // The first loop starts from the initial state.
  FragmentState init;
  if (values.contains(loop.getInitArgs()[0])) {
    init = getState(loop.getInitArgs());
  } else {
    init = buildInitialState(
        builder, loc, attention.schedule.getTileM(),
        padHeadDim(AttentionDims::get(attention.first).valueDim));
    getQuery();
  }
  auto copy =
      scf::ForOp::create(builder, loc, values.lookup(loop.getLowerBound()),
                         values.lookup(loop.getUpperBound()),
                         values.lookup(loop.getStep()), init.values());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  values.map(loop.getInductionVar(), copy.getInductionVar());
  setState(loop.getRegionIterArgs(),
           SmallVector<Value>(copy.getRegionIterArgs()));
  if (failed(convertBlock(*loop.getBody())))
    return failure();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  scf::YieldOp::create(builder, loc, getState(yield.getOperands()).values());
  setState(loop.getResults(), SmallVector<Value>(copy.getResults()));
  return success();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void KernelBuilder::convertNormalize(NormalizeOp op) {
  auto [output, lse] =
      buildNormalize(builder, op.getLoc(), ScoreUnits::get(attention.first),
                     getState({op.getAcc(), op.getMax(), op.getSum()}));
  values.map(op.getOutput(), output);
  if (op.getLse())
    values.map(op.getLse(), lse);
}

void KernelBuilder::convertStores(scf::InParallelOp op) {
  for (Operation &yielding : op.getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(yielding);
    SmallVector<Value> indices(
        llvm::map_range(attention.forall.getInductionVars(),
                        [&](Value iv) { return values.lookup(iv); }));
    tile::StoreOp::create(builder, insert.getLoc(),
                          values.lookup(insert.getSource()),
                          values.lookup(insert.getDest()), indices);
  }
}

LogicalResult KernelBuilder::convertBlock(Block &block) {
  for (Operation &op : block) {
    LogicalResult result =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](scf::ForOp loop) { return convertLoop(loop); })
            .Case([&](OnlineAttentionOp step) { return convertStep(step); })
            .Case([&](NormalizeOp end) {
              convertNormalize(end);
              return success();
            })
            .Case([&](scf::InParallelOp stores) {
              convertStores(stores);
              return success();
            })
            // Slices are loaded where they are used; the initial state is
            // built with the first loop.
            .Case<tensor::ExtractSliceOp, tensor::EmptyOp, linalg::FillOp,
                  scf::YieldOp>([](Operation *) { return success(); })
            .Default([&](Operation *other) -> LogicalResult {
              if (isScalarOp(other))
                return copyScalar(other);
              return other->emitOpError()
                     << "expected only ops of the tiled form";
            });
    if (failed(result))
      return failure();
  }
  return success();
}

FailureOr<tile::KernelOp> KernelBuilder::build(StringRef name) {
  Location loc = attention.forall.getLoc();
  auto kernel = tile::KernelOp::create(
      builder, loc, name, attention.schedule.getWarps(),
      /*shared_bytes=*/IntegerAttr(), buildManifest(attention, name));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&kernel.getBody());
  for (const KernelOperand &operand : attention.operands)
    values.map(operand.tensor, body->addArgument(getGlobalType(operand), loc));
  if (failed(materializeOuter()))
    return failure();
  mapGrid();
  if (failed(convertBlock(*attention.forall.getBody())))
    return failure();
  tile::ReturnOp::create(builder, loc);
  return kernel;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertAttnToTile
    : public attn::impl::ConvertAttnToTileBase<ConvertAttnToTile> {
  using ConvertAttnToTileBase::ConvertAttnToTileBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<FunctionOpInterface> functions(
        getOperation().getOps<FunctionOpInterface>());
    for (FunctionOpInterface function : functions) {
      if (!holdsAttention(function))
        continue;
      FailureOr<TiledAttention> attention = findTiledAttention(function);
      if (failed(attention))
        return signalPassFailure();
      builder.setInsertionPoint(function);
      if (failed(KernelBuilder(builder, *attention).build(function.getName())))
        return signalPassFailure();
      function.erase();
      ++numKernels;
    }
  }

private:
  static bool holdsAttention(Operation *function) {
    return function
        ->walk([](OnlineAttentionOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  }
};
} // namespace
