//===- Assert.cpp - Conditions that a kernel checks -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The function that CUDA's assert() calls: it prints, and stops the kernels of
// the context (CUDA C++ Programming Guide, "Assertion").
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace attn::tile;

/// void __assertfail(message, file, line, function, bytes of a character).
static LLVM::LLVMFuncOp declareAssertFail(ModuleOp module,
                                          RewriterBase &rewriter) {
  constexpr StringLiteral kName = "__assertfail";
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(kName))
    return known;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  MLIRContext *context = module.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, pointer, rewriter.getI32Type(),
                                   pointer, rewriter.getI64Type()});
  return LLVM::LLVMFuncOp::create(rewriter, module.getLoc(), kName, type);
}

/// A pointer to a string of the module.
static Value createText(ModuleOp module, Location loc, StringRef text,
                        RewriterBase &rewriter) {
  unsigned number = 0;
  std::string name;
  do
    name = "attn_assert_text" + std::to_string(number++);
  while (module.lookupSymbol(name));
  return LLVM::createGlobalString(loc, rewriter, name, text.str() + '\0',
                                  LLVM::Linkage::Internal);
}

namespace {
struct AssertLowering : public OpConversionPattern<cf::AssertOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(cf::AssertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto module = op->getParentOfType<ModuleOp>();
    LLVM::LLVMFuncOp function = declareAssertFail(module, rewriter);
    Value isWrong = arith::XOrIOp::create(
        rewriter, loc, adaptor.getArg(),
        arith::ConstantIntOp::create(rewriter, loc, 1, 1));
    auto guarded = scf::IfOp::create(rewriter, loc, isWrong);
    rewriter.setInsertionPointToStart(guarded.thenBlock());
    auto place = loc->findInstanceOf<FileLineColLoc>();
    Value arguments[] = {
        createText(module, loc, op.getMsg(), rewriter),
        createText(module, loc, place ? place.getFilename().getValue() : "",
                   rewriter),
        LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32Type(),
                                 place ? place.getLine() : 0),
        createText(module, loc, "attn.device_assert", rewriter),
        LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(), 1)};
    LLVM::CallOp::create(rewriter, loc, function, arguments);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void attn::tile::populateAssertPatterns(TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<AssertLowering>(converter, patterns.getContext());
}
