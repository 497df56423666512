//===- PastLength.cpp - How many rows caches have ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PastLength.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

/// Of a function: the number of the argument.
static constexpr StringLiteral kPastLength = "attn.past_length";

Value attn::getPastLength(func::FuncOp function) {
  Location loc = function.getLoc();
  auto builder = OpBuilder::atBlockBegin(&function.getBody().front());
  auto known = function->getAttrOfType<IntegerAttr>(kPastLength);
  unsigned number = known ? known.getInt() : function.getNumArguments();
  if (!known) {
    // A function takes any argument.
    (void)function.insertArgument(
        number, RankedTensorType::get({}, builder.getI64Type()),
        /*argAttrs=*/{}, loc);
    function->setAttr(kPastLength, builder.getIndexAttr(number));
  }
  Value rows =
      tensor::ExtractOp::create(builder, loc, function.getArgument(number));
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), rows);
}

void attn::emitRoomCheck(ImplicitLocOpBuilder &builder, Value holds) {
  cf::AssertOp::create(
      builder, holds,
      "expected past_length from 0 on, with room for new rows behind it");
}

bool attn::isCacheOf(Value past, ArrayRef<Operation *> readers) {
  auto argument = dyn_cast<BlockArgument>(past);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : nullptr;
  return function && function.getBody().hasOneBlock() &&
         llvm::all_of(readers,
                      [&](Operation *reader) {
                        return reader->getBlock() == argument.getOwner();
                      }) &&
         SymbolTable::symbolKnownUseEmpty(
             function, function->getParentOfType<ModuleOp>()) &&
         llvm::all_of(past.getUsers(), [&](Operation *user) {
           auto dim = dyn_cast<tensor::DimOp>(user);
           return llvm::is_contained(readers, user) ||
                  (dim && dim.getConstantIndex());
         });
}
