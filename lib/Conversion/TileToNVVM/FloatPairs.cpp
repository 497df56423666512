//===- FloatPairs.cpp - Arithmetic of two f32 at once ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatPairs.h"

#include "Common.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attn::tile;

bool attn::tile::isPaired(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(op) &&
         op->getResult(0).getType().isF32();
}

Value attn::tile::packPair(OpBuilder &builder, Location loc, ValuePair values) {
  IndexBuilder index(builder, loc);
  Value pair = LLVM::PoisonOp::create(builder, loc,
                                      VectorType::get(2, builder.getF32Type()));
  for (auto [number, value] : llvm::enumerate(values))
    pair = LLVM::InsertElementOp::create(builder, loc, pair, value,
                                         index.i32(number));
  return pair;
}

ValuePair attn::tile::unpackPair(OpBuilder &builder, Location loc, Value pair) {
  IndexBuilder index(builder, loc);
  auto extract = [&](int64_t number) -> Value {
    return LLVM::ExtractElementOp::create(builder, loc, pair,
                                          index.i32(number));
  };
  return {extract(0), extract(1)};
}

Value attn::tile::createPaired(OpBuilder &builder, Operation *op,
                               ValueRange pairs) {
  Location loc = op->getLoc();
  if (isa<arith::AddFOp>(op))
    return LLVM::FAddOp::create(builder, loc, pairs[0], pairs[1]);
  if (isa<arith::SubFOp>(op))
    return LLVM::FSubOp::create(builder, loc, pairs[0], pairs[1]);
  if (isa<arith::MulFOp>(op))
    return LLVM::FMulOp::create(builder, loc, pairs[0], pairs[1]);
  return LLVM::FMAOp::create(builder, loc, pairs[0], pairs[1], pairs[2]);
}
