//===- FloatArith.cpp - Arithmetic of f32 as llvm ops -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has a thousand ops on f32 and more, each of which has an llvm op of
// the same operands and types. One walk replaces them in a tenth of the time of
// upstream's conversion, whose rewriter keeps what it would need to go back;
// that lowers what is left.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

/// Replaces the op if it is a `From` of f32. True if it was.
template <typename From, typename To>
static bool replace(Operation *op) {
  auto from = dyn_cast<From>(op);
  if (!from || !from->getOperand(0).getType().isF32())
    return false;
  OpBuilder builder(op);
  auto to = To::create(builder, op->getLoc(), op->getResultTypes(),
                       op->getOperands());
  to.setFastmathFlags(
      arith::convertArithFastMathFlagsToLLVM(from.getFastmath()));
  op->replaceAllUsesWith(to);
  op->erase();
  return true;
}

void attn::tile::lowerFloatArith(FunctionOpInterface function) {
  function.walk([](Operation *op) {
    (void)(replace<arith::AddFOp, LLVM::FAddOp>(op) ||
           replace<arith::SubFOp, LLVM::FSubOp>(op) ||
           replace<arith::MulFOp, LLVM::FMulOp>(op) ||
           replace<arith::NegFOp, LLVM::FNegOp>(op) ||
           replace<arith::MaxNumFOp, LLVM::MaxNumOp>(op) ||
           replace<arith::MaximumFOp, LLVM::MaximumOp>(op));
  });
}
