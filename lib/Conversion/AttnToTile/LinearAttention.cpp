//===- LinearAttention.cpp - Kernels of linear attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA walks the chunks of a head, with `tile_dv` columns of the state in
// registers. With b the sums of log decays inside the chunk:
//
//   O  = scale (exp(b) (Q S) + ((Q K^T) * L) V),  L[i,j] = exp(b[i] - b[j])
//   S' = exp(b[C-1]) S + (K * exp(b[C-1] - b))^T V
//
// No exponent is positive. As an operand of Q S the state is rounded in shared
// memory; it is carried in f32.
//
//===----------------------------------------------------------------------===//

#include "LinearAttention.h"

#include "Fragments.h"
#include "KernelScope.h"
#include "LaunchProgram.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// What the kernels share
//===----------------------------------------------------------------------===//

int64_t LinearKernels::getSlices() const {
  int64_t columns = llvm::alignTo(AttentionDims::get(op).valueDim, 16);
  return llvm::divideCeil(columns, getColumns());
}

Value LinearKernels::beginKernel(OpBuilder &builder, StringRef name,
                                 int64_t warps, IRMapping &values) const {
  LinearAttentionOp source = op;
  Location loc = source.getLoc();
  auto kernel = tile::KernelOp::create(
      builder, loc, name, warps, /*producer_warps=*/IntegerAttr(),
      /*cluster_ctas=*/IntegerAttr(), /*shared_bytes=*/IntegerAttr(),
      source.getScheduleAttr(), /*forward=*/false,
      /*mapped=*/DenseI64ArrayAttr(), /*mapped_heads=*/DenseI64ArrayAttr());
  Block *body = builder.createBlock(&kernel.getBody());
  for (const KernelOperand &operand : operands)
    values.map(operand.tensor, body->addArgument(getGlobalType(operand), loc));
  return decays ? body->addArgument(decays->type, loc) : Value();
}

static SmallVector<KernelOperand> getOperands(LinearAttentionOp op) {
  SmallVector<KernelOperand> operands;
  auto add = [&](StringRef name, Value tensor, int64_t vector, bool isOutput) {
    if (!tensor || llvm::any_of(operands, [&](const KernelOperand &known) {
          return known.tensor == tensor;
        }))
      return;
    operands.push_back({name.str(), tensor,
                        cast<RankedTensorType>(tensor.getType()), isOutput,
                        vector});
  };
  // Tiles are copied by 16 bytes, results written by pairs.
  add("query", op.getQuery(), 8, /*isOutput=*/false);
  add("key", op.getKey(), 8, /*isOutput=*/false);
  add("value", op.getValue(), 8, /*isOutput=*/false);
  add("decay", op.getDecay(), 1, /*isOutput=*/false);
  add("slope", op.getSlope(), 1, /*isOutput=*/false);
  add("state", op.getState(), 1, /*isOutput=*/false);
  add("output", op.getOutput(), 2, /*isOutput=*/true);
  add("final_state", op.getFinalState(), 2, /*isOutput=*/true);
  return operands;
}

static WorkspaceView getDecays(LinearAttentionOp op, int64_t chunk) {
  SmallVector<int64_t> shape(
      cast<ShapedType>(op.getQuery().getType()).getShape().take_front(3));
  if (!ShapedType::isDynamic(shape[kSequence]))
    shape[kSequence] = llvm::alignTo(shape[kSequence], chunk);
  return {"decays", tile::GlobalType::get(op.getContext(), shape,
                                          Float32Type::get(op.getContext()))};
}

//===----------------------------------------------------------------------===//
// The kernel of the chunks
//===----------------------------------------------------------------------===//

namespace {
class LinearKernelBuilder {
public:
  LinearKernelBuilder(OpBuilder &builder, const LinearKernels &kernels)
      : builder(builder), kernels(kernels), op(kernels.op), loc(op.getLoc()),
        fragments(builder, loc) {}

  void build(StringRef name);

private:
  /// Of a chunk; null without decays.
  struct Decays {
    Value rows, columns; ///< b
    Value last;          ///< b[C-1], a number
  };
  /// Of a chunk, in shared memory.
  struct Tiles {
    Value query, key, value;
  };

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value dim(Value tensor, int64_t number) {
    return tile::DimOp::create(builder, loc, values.lookup(tensor), number);
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      index);
  }
  Type getType(tile::FragmentLayout layout, ArrayRef<int64_t> shape,
               Type element) {
    return tile::FragmentType::get(builder.getContext(), shape, element,
                                   layout);
  }
  Value multiply(Value a, Value b, bool transposeB, Value acc) {
    return tile::MmaOp::create(builder, loc, a, b, transposeB, acc);
  }
  SmallVector<Value> atColumn(SmallVector<Value> indices) const {
    if (firstColumn)
      indices.push_back(firstColumn);
    return indices;
  }
  void mapGrid();
  Value buildFirstState();
  Value readState(Value row, Value column);
  Tiles loadTiles(Value row);
  Decays loadDecays(Value row);
  Value buildOutput(const Tiles &tiles, const Decays &decays);
  Value buildWeights(Value scores, const Decays &decays);
  Value buildNextState(const Tiles &tiles, const Decays &decays, Value state);
  Value buildChunk(Value row, Value state);

  OpBuilder &builder;
  const LinearKernels &kernels;
  LinearAttentionOp op;
  Location loc;
  Fragments fragments;
  IRMapping values;
  Value sums;                 ///< of decays; null without
  Value batch, head, keyHead; ///< of the CTA
  Value firstColumn;          ///< of its slice; null for all columns
  Value stateTile;            ///< the state as an operand
};
} // namespace

/// Grid: x = slices of a head, which read the same rows, y = heads, z =
/// batches.
void LinearKernelBuilder::mapGrid() {
  auto block = [&](gpu::Dimension dimension) -> Value {
    return gpu::BlockIdOp::create(builder, loc, dimension);
  };
  batch = block(gpu::Dimension::z);
  head = block(gpu::Dimension::y);
  Value group = arith::DivUIOp::create(builder, loc, dim(op.getQuery(), kHead),
                                       dim(op.getKey(), kHead));
  keyHead = arith::DivUIOp::create(builder, loc, head, group);
  if (kernels.getSlices() > 1)
    firstColumn = arith::MulIOp::create(builder, loc, block(gpu::Dimension::x),
                                        constant(kernels.getColumns()));
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

/// An element of the given state, 0 past its ends.
Value LinearKernelBuilder::readState(Value row, Value column) {
  AttentionDims dims = AttentionDims::get(op);
  auto isBelow = [&](Value index, int64_t size) -> Value {
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, index,
        arith::ConstantIntOp::create(builder, loc, size, 32));
  };
  if (firstColumn)
    column = arith::AddIOp::create(
        builder, loc, column,
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                   firstColumn));
  Value exists = arith::AndIOp::create(builder, loc, isBelow(row, dims.headDim),
                                       isBelow(column, dims.valueDim));
  auto choice = scf::IfOp::create(builder, loc, builder.getF32Type(), exists,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, fragments.constant(0));
  builder.setInsertionPointToStart(choice.thenBlock());
  auto widen = [&](Value index) -> Value {
    return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), index);
  };
  Value element = tile::ExtractOp::create(
      builder, loc, builder.getF32Type(), values.lookup(op.getState()),
      ValueRange{toI64(batch), toI64(head), widen(row), widen(column)});
  scf::YieldOp::create(builder, loc, element);
  return choice.getResult(0);
}

Value LinearKernelBuilder::buildFirstState() {
  Type type =
      getAccumulatorType(builder, kernels.stateRows, kernels.getColumns());
  if (!op.getState())
    return createFill(builder, loc, type, 0.0f);
  return fragments.map(type, {}, [&](ValueRange) {
    Block *body = builder.getInsertionBlock();
    return readState(body->getArgument(0), body->getArgument(1));
  });
}

/// The state after a chunk.
Value LinearKernelBuilder::buildNextState(const Tiles &tiles,
                                          const Decays &decays, Value state) {
  int64_t chunk = kernels.getChunk();
  Type element = getElementTypeOrSelf(op.getKey().getType());
  Value key =
      tile::LoadOperandOp::create(builder, loc,
                                  getType(tile::FragmentLayout::OperandA,
                                          {kernels.stateRows, chunk}, element),
                                  tiles.key, /*transpose=*/true);
  if (decays.last) {
    Value toEnd = fragments.map(
        decays.columns.getType(), decays.columns, [&](ValueRange args) {
          return fragments.exp2(fragments.sub(decays.last, args[0]));
        });
    key = tile::ScaleColumnsOp::create(builder, loc, key, toEnd);
    Value all = fragments.exp2(decays.last);
    state = fragments.map(state.getType(), state, [&](ValueRange args) {
      return fragments.mul(args[0], all);
    });
  }
  return multiply(key, tiles.value, /*transposeB=*/false, state);
}

//===----------------------------------------------------------------------===//
// A chunk
//===----------------------------------------------------------------------===//

LinearKernelBuilder::Tiles LinearKernelBuilder::loadTiles(Value row) {
  auto load = [&](Value tensor, ArrayRef<Value> at, int64_t columns) {
    return attn::loadTile(builder, loc, values.lookup(tensor), at,
                          kernels.getChunk(), columns);
  };
  return {load(op.getQuery(), {batch, head, row}, kernels.stateRows),
          load(op.getKey(), {batch, keyHead, row}, kernels.stateRows),
          load(op.getValue(), atColumn({batch, keyHead, row}),
               kernels.getColumns())};
}

LinearKernelBuilder::Decays LinearKernelBuilder::loadDecays(Value row) {
  if (!sums)
    return {};
  int64_t chunk = kernels.getChunk();
  SmallVector<Value> at = {batch, head, row};
  Decays decays;
  Type rowType = getRowType(builder, chunk);
  Value parts = tile::LoadRowOp::create(builder, loc, rowType, sums, at);
  decays.rows = tile::RowAllReduceOp::create(builder, loc, rowType,
                                             tile::Reduction::max, parts);
  decays.columns = tile::LoadColumnOp::create(
      builder, loc,
      getType(tile::FragmentLayout::Column, chunk, builder.getF32Type()), sums,
      at);
  Value last = arith::AddIOp::create(builder, loc, row, constant(chunk - 1));
  decays.last = tile::ExtractOp::create(
      builder, loc, builder.getF32Type(), sums,
      ValueRange{toI64(batch), toI64(head), toI64(last)});
  return decays;
}

/// Scores with their decays; a row sees no position behind it.
Value LinearKernelBuilder::buildWeights(Value scores, const Decays &decays) {
  SmallVector<Value> inputs = {scores};
  if (decays.last)
    inputs.append({decays.rows, decays.columns});
  return fragments.map(scores.getType(), inputs, [&](ValueRange args) -> Value {
    Block *body = builder.getInsertionBlock();
    Value row = body->getArgument(inputs.size());
    Value column = body->getArgument(inputs.size() + 1);
    Value sees = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                       column, row);
    Value weight = args[0];
    if (decays.last)
      weight = fragments.mul(weight,
                             fragments.exp2(fragments.sub(args[1], args[2])));
    return arith::SelectOp::create(builder, loc, sees, weight,
                                   fragments.constant(0));
  });
}

/// What the state gives, with its decay, and then what the chunk itself does.
Value LinearKernelBuilder::buildOutput(const Tiles &tiles,
                                       const Decays &decays) {
  int64_t chunk = kernels.getChunk();
  Value acc = multiply(
      tiles.query, stateTile, /*transposeB=*/false,
      createFill(builder, loc,
                 getAccumulatorType(builder, chunk, kernels.getColumns()), 0));
  if (decays.last) {
    Value factor =
        fragments.map(decays.rows.getType(), decays.rows,
                      [&](ValueRange args) { return fragments.exp2(args[0]); });
    acc = fragments.scale(acc, factor);
  }
  Value scores = multiply(
      tiles.query, tiles.key, /*transposeB=*/true,
      createFill(builder, loc, getAccumulatorType(builder, chunk, chunk), 0));
  Type element = getElementTypeOrSelf(op.getValue().getType());
  Value weights = tile::ToOperandOp::create(
      builder, loc,
      getType(tile::FragmentLayout::OperandA, {chunk, chunk}, element),
      buildWeights(scores, decays));
  acc = multiply(weights, tiles.value, /*transposeB=*/false, acc);
  double scale = op.getScaleValue();
  return scale == 1 ? acc : fragments.multiply(acc, scale);
}

/// Writes the outputs of the chunk that begins at `row`, and returns the state
/// after it. The step before has read the state's tile when all warps are here.
Value LinearKernelBuilder::buildChunk(Value row, Value state) {
  Tiles tiles = loadTiles(row);
  Decays decays = loadDecays(row);
  tile::StoreSharedOp::create(builder, loc, state, stateTile,
                              /*transpose=*/false, /*pairs=*/true);
  gpu::BarrierOp::create(builder, loc);
  Value output = buildOutput(tiles, decays);
  tile::StoreOp::create(builder, loc, output, values.lookup(op.getOutput()),
                        atColumn({batch, head, row}));
  return buildNextState(tiles, decays, state);
}

void LinearKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  sums = kernels.beginKernel(builder, name, kernels.schedule.warps, values);
  mapGrid();
  int64_t columns = kernels.getColumns();
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  stateTile = tile::AllocOp::create(
      builder, loc,
      tile::SharedType::get(builder.getContext(), {kernels.stateRows, columns},
                            element,
                            tile::SharedType::getSwizzleFor(2 * columns)),
      /*offset=*/IntegerAttr());
  auto loop = scf::ForOp::create(
      builder, loc, constant(0), dim(op.getQuery(), kSequence),
      constant(kernels.getChunk()), ValueRange(buildFirstState()));
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(
        builder, loc,
        buildChunk(loop.getInductionVar(), loop.getRegionIterArgs()[0]));
  }
  if (op.getFinalState())
    tile::StoreOp::create(builder, loc, loop.getResult(0),
                          values.lookup(op.getFinalState()),
                          atColumn({batch, head, constant(0)}));
  tile::ReturnOp::create(builder, loc);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static std::string getDecayName(StringRef name) {
  return (name + "_decays").str();
}

static void buildProgram(OpBuilder &builder, const LinearKernels &kernels,
                         StringRef name) {
  LinearAttentionOp op = kernels.op;
  LaunchProgram program(
      builder, ProgramHeader{op, kernels.operands, "linear_attention",
                             op.getScaleValue(),
                             /*deterministic=*/true, op.getScheduleAttr()});
  Size batches = program.dim("query", kBatch),
       heads = program.dim("query", kHead),
       rows = program.dim("query", kSequence);
  // linear_attention_c2, where the verifier could not check it.
  program.addConstraint(rows - program.dim("key", kSequence),
                        "expected as many keys as queries");
  if (kernels.decays) {
    program.addWorkspace(*kernels.decays,
                         {batches, heads, rows.alignTo(kernels.getChunk())});
    Size chunks = batches * heads * rows.ceilDiv(kernels.getChunk());
    program.addKernel(getDecayName(name), chunks.ceilDiv(kDecayWarps));
  }
  program.addKernel(name, program.constant(kernels.getSlices()), heads,
                    batches);
  program.finish();
}

static FailureOr<LinearAttentionOp> findOnly(Operation *function) {
  SmallVector<LinearAttentionOp> ops;
  function->walk([&](LinearAttentionOp op) { ops.push_back(op); });
  if (ops.size() > 1)
    return ops[1].emitOpError()
           << "expected one linear attention in a function on a GPU, got "
           << ops.size() << ": put each into a function of a module of its own";
  return ops.front();
}

FailureOr<int64_t> attn::buildLinearKernels(OpBuilder &builder,
                                            Operation *function,
                                            StringRef name) {
  FailureOr<LinearAttentionOp> op = findOnly(function);
  if (failed(op))
    return failure();
  std::optional<ScheduleAttr> schedule = op->getSchedule();
  if (!schedule || !schedule->isComplete())
    return op->emitOpError()
           << "expected a complete schedule, as --attn-select-schedule gives";
  LinearKernels kernels;
  kernels.op = *op;
  kernels.schedule = getSchedule(*schedule);
  LinearProblem problem = getProblem(*op);
  if (Status status = checkLinearSchedule(problem, kernels.schedule); !status)
    return op->emitOpError() << status.error();
  kernels.stateRows = getStateRows(problem, kernels.schedule);
  kernels.operands = getOperands(*op);
  if (op->getDecay() || op->getSlope())
    kernels.decays = getDecays(*op, kernels.getChunk());
  buildProgram(builder, kernels, name);
  if (kernels.decays)
    buildDecayKernel(builder, kernels, getDecayName(name));
  LinearKernelBuilder(builder, kernels).build(name);
  return kernels.decays ? 2 : 1;
}
