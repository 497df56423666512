//===- TensorProducts.cpp - Products in tensor memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorProducts.h"

using namespace mlir;
using namespace attn::tile;

/// A fragment is written to tensor memory; what is loaded once for all steps
/// stays in shared memory.
static FragmentType getStoredOperand(MmaOp op) {
  auto type = dyn_cast<FragmentType>(op.getA().getType());
  return type && !op.getA().getDefiningOp<LoadOperandOp>() ? type
                                                           : FragmentType();
}

LogicalResult TensorProducts::create(OpBuilder &builder, KernelOp kernel,
                                     scf::ForOp loop,
                                     SmallVectorImpl<Value> &barriers) {
  Location loc = kernel.getLoc();
  auto getTile = [](FragmentType type) -> Type {
    return TensorTileType::get(type.getContext(), type.getShape(),
                               type.getElementType());
  };
  SmallVector<Type> types;
  for (MmaOp op : loop.getOps<MmaOp>()) {
    if (FragmentType operand = getStoredOperand(op))
      types.push_back(getTile(operand));
    types.push_back(getTile(op.getResult().getType()));
  }
  if (int64_t columns = TensorTileType::getAllocation(types);
      columns > TensorTileType::kMostColumns)
    return kernel.emitOpError()
           << "expected at most " << TensorTileType::kMostColumns
           << " columns of tensor memory, got products that need " << columns
           << ": choose a smaller tile_n or tile_m";
  alloc = AllocTensorsOp::create(builder, loc, types, /*offset=*/IntegerAttr());
  int64_t groups = cast<TensorTileType>(types.front()).getWarpgroups();
  unsigned next = 0;
  for (MmaOp op : loop.getOps<MmaOp>()) {
    Product product;
    if (getStoredOperand(op))
      product.operand = alloc.getResult(next++);
    product.tile = alloc.getResult(next++);
    product.barrier = AllocMbarrierOp::create(
        builder, loc, MbarrierType::get(builder.getContext(), groups, 1),
        /*offset=*/IntegerAttr());
    barriers.push_back(product.barrier);
    products.push_back(product);
  }
  chooseMeetings();
  return success();
}

/// The warps meet before a product of what they have stored. That is once in
/// each step, between what they read of a product and the next one of its tile:
/// the others need no meeting of their own.
void TensorProducts::chooseMeetings() {
  for (Product &product : products)
    product.meets = static_cast<bool>(product.operand);
  if (llvm::none_of(products, [](const Product &p) { return p.meets; }))
    products.front().meets = true;
}

static bool isZero(Value fragment) {
  auto fill = fragment.getDefiningOp<FillOp>();
  return fill && fill.getValue().isZero();
}

/// The sum stays in registers: what is rescaled there need not go to tensor
/// memory and back.
void TensorProducts::convert(OpBuilder &builder, MmaOp op,
                             const Product &product, Value warpgroup,
                             Value parity) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value a = op.getA();
  if (product.operand) {
    StoreTensorOp::create(builder, loc, a, product.operand, warpgroup);
    a = product.operand;
  }
  MmaTensorOp::create(builder, loc, a, op.getB(), op.getTransposeB(),
                      product.tile, warpgroup, product.barrier, product.meets);
  MbarrierWaitOp::create(builder, loc, product.barrier, warpgroup, parity);
  Value result = LoadTensorOp::create(
      builder, loc, op.getResult().getType(), product.tile, warpgroup,
      isZero(op.getAcc()) ? Value() : op.getAcc());
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

void TensorProducts::convert(OpBuilder &builder, scf::ForOp loop,
                             Value warpgroup, Value parity) {
  SmallVector<MmaOp> ops(loop.getOps<MmaOp>());
  for (auto [op, product] : llvm::zip_equal(ops, products))
    convert(builder, op, product, warpgroup, parity);
}

void TensorProducts::free(OpBuilder &builder, Location loc) {
  FreeTensorsOp::create(builder, loc, alloc.getTiles());
}
