//===- DispatchParallelCalls.cpp - Calls that threads share -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-dispatch-parallel-calls.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Passes.h"

#include "attn/Support/Parallel.h"

#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace attn {
#define GEN_PASS_DEF_DISPATCHPARALLELCALLSPASS
#include "attn/Pipelines/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Arguments of an outlined loop before those that it captures: the first trip
/// and the end of the trips.
static constexpr unsigned kNumTripArguments = 2;

static Value buildField(OpBuilder &builder, Location loc, Type context,
                        Value address, size_t index) {
  return LLVM::GEPOp::create(
      builder, loc, address.getType(), context, address,
      ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
}

/// Makes `body` a function (context, begin, end), which loads what it captures
/// from the context.
static void takeContext(LLVM::LLVMFuncOp body, Type context) {
  Block &entry = body.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Location loc = body.getLoc();
  Value address = entry.insertArgument(0u, pointer, loc);
  unsigned numKept = 1 + kNumTripArguments;
  for (auto [i, argument] :
       llvm::enumerate(entry.getArguments().drop_front(numKept))) {
    Value field = buildField(builder, loc, context, address, i);
    argument.replaceAllUsesWith(
        LLVM::LoadOp::create(builder, loc, argument.getType(), field));
  }
  entry.eraseArguments(numKept, entry.getNumArguments() - numKept);
  body.removeArgAttrsAttr();
  body.setFunctionType(
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  llvm::to_vector(entry.getArgumentTypes())));
  body.setLinkage(LLVM::Linkage::Internal);
}

/// Stores what the loop captures in a context on the stack of its caller and
/// has the host call `body`.
static void dispatch(LLVM::CallOp call, LLVM::LLVMFuncOp body, Type context,
                     LLVM::LLVMFuncOp host) {
  auto parent = call->getParentOfType<LLVM::LLVMFuncOp>();
  Location loc = call.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&parent.getBody().front());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value one =
      LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
  Value address = LLVM::AllocaOp::create(builder, loc, pointer, context, one);
  builder.setInsertionPoint(call);
  OperandRange operands = call.getArgOperands();
  for (auto [i, value] :
       llvm::enumerate(operands.drop_front(kNumTripArguments)))
    LLVM::StoreOp::create(builder, loc, value,
                          buildField(builder, loc, context, address, i));
  Value function = LLVM::AddressOfOp::create(builder, loc, body);
  LLVM::CallOp::create(builder, loc, host,
                       ValueRange{function, address, operands[1]});
  call.erase();
}

/// void attnParallelFor(body, context, count)
static FailureOr<LLVM::LLVMFuncOp> declareHost(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return LLVM::lookupOrCreateFn(builder, module, kParallelForName,
                                {pointer, pointer, builder.getI64Type()},
                                LLVM::LLVMVoidType::get(builder.getContext()));
}

namespace {
/// The calls of a module that are marked, and how often each function is called
/// or its address taken.
struct Calls {
  explicit Calls(ModuleOp module) {
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      function.walk([&](Operation *op) {
        if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
          ++numUses[address.getGlobalName()];
        auto call = dyn_cast<LLVM::CallOp>(op);
        if (call && call.getCallee())
          ++numUses[*call.getCallee()];
        if (call && call->hasAttr(parallelAttrName))
          marked.push_back(call);
      });
  }

  SmallVector<LLVM::CallOp> marked;
  llvm::StringMap<unsigned> numUses;
};
} // namespace

/// The function of an outlined loop, which nothing but `call` uses.
static FailureOr<LLVM::LLVMFuncOp>
findBody(LLVM::CallOp call, SymbolTable &symbols, const Calls &calls) {
  auto body = call.getCallee()
                  ? symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee())
                  : LLVM::LLVMFuncOp();
  Type i64 = IntegerType::get(call.getContext(), 64);
  OperandRange operands = call.getArgOperands();
  bool isLoop = body && !body.isExternal() && !call.getResult() &&
                calls.numUses.lookup(body.getName()) == 1 &&
                operands.size() >= kNumTripArguments &&
                matchPattern(operands[0], m_Zero()) &&
                operands[0].getType() == i64 && operands[1].getType() == i64;
  if (!isLoop)
    return call.emitError("expected the only call of a function of a loop's "
                          "trips, from 0 on, that returns nothing");
  return body;
}

namespace {
struct DispatchParallelCalls
    : attn::impl::DispatchParallelCallsPassBase<DispatchParallelCalls> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Calls calls(module);
    if (calls.marked.empty())
      return;
    FailureOr<LLVM::LLVMFuncOp> host = declareHost(module);
    if (failed(host))
      return signalPassFailure();
    SymbolTable symbols(module);
    for (LLVM::CallOp call : calls.marked) {
      auto body = findBody(call, symbols, calls);
      if (failed(body))
        return signalPassFailure();
      auto captured = call.getArgOperands().drop_front(kNumTripArguments);
      Type context = LLVM::LLVMStructType::getLiteral(
          &getContext(), llvm::to_vector(captured.getTypes()));
      takeContext(*body, context);
      dispatch(call, *body, context, *host);
      ++numCalls;
    }
  }
};
} // namespace
