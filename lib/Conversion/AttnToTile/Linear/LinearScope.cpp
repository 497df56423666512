//===- LinearScope.cpp - In a kernel of linear attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linear/LinearScope.h"

#include "Kernel/KernelScope.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void LinearScope::beginKernel(StringRef name) {
  workspace =
      kernels.beginKernel(builder, name, kernels.schedule.warps, values);
  mapGrid();
}

/// Grid: x = slices of a head, which read the same rows, y = heads, z =
/// batches.
void LinearScope::mapGrid() {
  auto block = [&](gpu::Dimension dimension) -> Value {
    return gpu::BlockIdOp::create(builder, loc, dimension);
  };
  batch = block(gpu::Dimension::z);
  head = block(gpu::Dimension::y);
  Value heads = dim(op.getQuery(), kHead);
  Value group =
      arith::DivUIOp::create(builder, loc, heads, dim(op.getKey(), kHead));
  keyHead = arith::DivUIOp::create(builder, loc, head, group);
  if (kernels.getSlices() > 1) {
    firstColumn = block(gpu::Dimension::x);
    firstColumn = arith::MulIOp::create(builder, loc, firstColumn,
                                        constant(kernels.getColumns()));
  }
}

Value LinearScope::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value LinearScope::dim(Value tensor, int64_t number) {
  return tile::DimOp::create(builder, loc, values.lookup(tensor), number);
}

Value LinearScope::toI64(Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

Value LinearScope::createZeros(int64_t rows) {
  return createFill(builder, loc,
                    getAccumulatorType(builder, rows, kernels.getColumns()), 0);
}

Value LinearScope::multiply(Value a, Value b, bool transposeB, Value acc) {
  return tile::MmaOp::create(builder, loc, a, b, transposeB, acc);
}

SmallVector<Value> LinearScope::atColumn(SmallVector<Value> indices) const {
  if (firstColumn)
    indices.push_back(firstColumn);
  return indices;
}

ValueRange LinearScope::loop(
    Value count, ValueRange state,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Value lower = constant(0);
  auto made = scf::ForOp::create(builder, loc, lower, count,
                                 constant(kernels.getChunk()), state);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.getBody());
  SmallVector<Value> next =
      body(made.getInductionVar(), made.getRegionIterArgs());
  // Without results the loop has its terminator.
  if (!next.empty())
    scf::YieldOp::create(builder, loc, next);
  return made.getResults();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value LinearScope::load(Value tensor, ArrayRef<Value> at, int64_t columns) {
  return attn::loadTile(builder, loc, values.lookup(tensor), at,
                        kernels.getChunk(), columns);
}

Value LinearScope::loadQuery(Value row) {
  return load(op.getQuery(), {batch, head, row}, kernels.stateRows);
}

Value LinearScope::loadKey(Value row) {
  return load(op.getKey(), {batch, keyHead, row}, kernels.stateRows);
}

Value LinearScope::loadValue(Value row) {
  return load(op.getValue(), atColumn({batch, keyHead, row}),
              kernels.getColumns());
}

Value LinearScope::transposeKey(Value key) {
  Type type = tile::FragmentType::getOperandA(
      {kernels.stateRows, kernels.getChunk()},
      getElementTypeOrSelf(op.getKey().getType()));
  return tile::LoadOperandOp::create(builder, loc, type, key,
                                     /*transpose=*/true);
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

/// An element of the given state, 0 past its ends.
Value LinearScope::readState(Value row, Value column) {
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
  Value exists = isBelow(row, dims.headDim);
  exists = arith::AndIOp::create(builder, loc, exists,
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

Value LinearScope::buildFirstState() {
  Type type =
      getAccumulatorType(builder, kernels.stateRows, kernels.getColumns());
  if (!op.getState())
    return createFill(builder, loc, type, 0.0f);
  return fragments.map(type, {}, [&](ValueRange) {
    Block *body = builder.getInsertionBlock();
    return readState(body->getArgument(0), body->getArgument(1));
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void LinearScope::storeOutput(Value acc, Value row) {
  double scale = op.getScaleValue();
  Value output = scale == 1 ? acc : fragments.multiply(acc, scale);
  tile::StoreOp::create(builder, loc, output, values.lookup(op.getOutput()),
                        atColumn({batch, head, row}));
}

void LinearScope::storeState(Value state) {
  if (op.getFinalState())
    tile::StoreOp::create(builder, loc, state,
                          values.lookup(op.getFinalState()),
                          atColumn({batch, head, constant(0)}));
}

void LinearScope::storeCarried(Value state, Value row) {
  if (!op.getStates())
    return;
  Value chunk =
      arith::DivUIOp::create(builder, loc, row, constant(kernels.getChunk()));
  tile::StoreOp::create(builder, loc, state, values.lookup(op.getStates()),
                        atColumn({batch, head, chunk, constant(0)}));
}
