//===- LookupBuilder.cpp - Searches in sorted tensors -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/LookupBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

static Value constantLike(OpBuilder &builder, Location loc, Value like,
                          int64_t number) {
  return arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(like.getType(), number));
}

Value attn::buildCountAtMost(OpBuilder &builder, Location loc, Value count,
                             Value number, EntryReader read) {
  Type type = count.getType();
  Value zero = constantLike(builder, loc, count, 0);
  Value one = constantLike(builder, loc, count, 1);
  // Entries before `low` are at most `number`, those from `high` on are not.
  auto loop =
      scf::WhileOp::create(builder, loc, {type, type}, ValueRange{zero, count});
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, {type, type},
                                      SmallVector<Location>(2, loc));
  Value goesOn =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                            before->getArgument(0), before->getArgument(1));
  scf::ConditionOp::create(builder, loc, goesOn, before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, {type, type},
                                     SmallVector<Location>(2, loc));
  Value low = after->getArgument(0), high = after->getArgument(1);
  Value sum = arith::AddIOp::create(builder, loc, low, high);
  Value middle = arith::ShRUIOp::create(builder, loc, sum, one);
  Value isAtMost = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sle, read(builder, middle), number);
  Value next = arith::AddIOp::create(builder, loc, middle, one);
  low = arith::SelectOp::create(builder, loc, isAtMost, next, low);
  high = arith::SelectOp::create(builder, loc, isAtMost, high, middle);
  scf::YieldOp::create(builder, loc, ValueRange{low, high});
  return loop.getResult(0);
}

Value attn::buildSegment(OpBuilder &builder, Location loc, Value entries,
                         Value position, EntryReader read) {
  // Of all entries but the first and the last.
  Value two = constantLike(builder, loc, entries, 2);
  Value count = arith::SubIOp::create(builder, loc, entries, two);
  return buildCountAtMost(
      builder, loc, count, position, [&](OpBuilder &inner, Value middle) {
        Value one = constantLike(inner, loc, middle, 1);
        return read(inner, arith::AddIOp::create(inner, loc, middle, one));
      });
}

Value attn::buildBlockListed(OpBuilder &builder, Location loc, Value count,
                             Value block, EntryReader read) {
  Value atMost = buildCountAtMost(builder, loc, count, block, read);
  Value zero = constantLike(builder, loc, count, 0);
  Value one = constantLike(builder, loc, count, 1);
  // The last of them is the block, if there is any.
  Value isSome = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                       atMost, zero);
  auto choice = scf::IfOp::create(builder, loc, TypeRange{builder.getI1Type()},
                                  isSome, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 1);
  scf::YieldOp::create(builder, loc, none);
  builder.setInsertionPointToStart(choice.thenBlock());
  Value last = arith::SubIOp::create(builder, loc, atMost, one);
  Value isBlock = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        read(builder, last), block);
  scf::YieldOp::create(builder, loc, isBlock);
  return choice.getResult(0);
}
