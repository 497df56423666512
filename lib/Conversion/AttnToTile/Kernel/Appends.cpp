//===- Appends.cpp - Caches that grow ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/Appends.h"

#include "Kernel/Prologue.h"
#include "Kernel/RowChains.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn;

/// In a kernel a pool is memory, to which a kernel before it has appended: what
/// reads the results of `append` reads the pools.
static LogicalResult writeInPlace(AppendOp append) {
  auto function = append->getParentOfType<FunctionOpInterface>();
  if (append->getParentOp() != function ||
      !function.getFunctionBody().hasOneBlock())
    return append.emitOpError()
           << "expected an append that its function does once, whatever its "
              "arguments are, got one in "
           << (append->getParentOp() == function
                   ? "a block of several"
                   : ("'" + append->getParentOp()->getName().getStringRef() +
                      "'")
                         .str());
  llvm::SmallPtrSet<Value, 4> written;
  for (auto [pool, result] :
       llvm::zip_equal(append.getDpsInits(), append.getResults())) {
    if (!written.insert(pool).second)
      return append.emitOpError()
             << "expected each pool and each tensor of scales once on a GPU, "
                "where they are written in place, got one of type "
             << pool.getType() << " twice";
    if (pool.getDefiningOp<AppendOp>())
      return append.emitOpError()
             << "expected a pool to which nothing is appended before, on a GPU";
    for (OpOperand &use : pool.getUses())
      if (use.getOwner() != append && !isa<tensor::DimOp>(use.getOwner())) {
        InFlightDiagnostic diag =
            append.emitOpError()
            << "expected pools that are read as they are after it only: on a "
               "GPU they are written in place";
        diag.attachNote(use.getOwner()->getLoc()) << "read here";
        return diag;
      }
    result.replaceUsesWithIf(pool, [](OpOperand &use) {
      return !use.getOwner()->hasTrait<OpTrait::ReturnLike>();
    });
  }
  for (auto [rows, pool] :
       llvm::zip_equal(append.getRows(), append.getPools())) {
    for (Value tensor : {pool, rows})
      if (Type element = getElementTypeOrSelf(tensor.getType());
          element.isF64())
        return append.emitOpError()
               << "expected f16, bf16 or f32 rows and pools on a GPU, got "
               << element;
  }
  return success();
}

LogicalResult attn::appendInPlace(Operation *function) {
  SmallVector<AppendOp> appends;
  function->walk([&](AppendOp append) { appends.push_back(append); });
  // A pool that a second one takes is a result of the first still.
  for (AppendOp append : llvm::reverse(appends))
    if (failed(writeInPlace(append)))
      return failure();
  return success();
}

/// The name of the operand `tensor`, in place of which `result` is: `name`, if
/// it is none yet.
static std::string addAppendedTo(TiledAttention &attention,
                                 const std::string &name, Value tensor,
                                 Value result) {
  addInput(attention, name, tensor, 1);
  KernelOperand *operand =
      llvm::find_if(attention.operands, [&](const KernelOperand &known) {
        return known.tensor == tensor;
      });
  operand->appended = result;
  return operand->name;
}

/// The operands of attn.append number `number`: pools that the attention does
/// not read, new rows and slots.
static void addOperands(TiledAttention &attention, AppendOp append,
                        unsigned number) {
  std::string suffix = getPrologueName("", number);
  for (auto [i, rows] : llvm::enumerate(append.getRows())) {
    Value pool = append.getPools()[i];
    std::string name =
        addAppendedTo(attention, ("cache" + suffix + "_" + Twine(i)).str(),
                      pool, append.getResults()[i]);
    Operation *last = getOnlyRowChain(rows);
    addInput(attention, "new_" + name, last ? RowChain::get(last).source : rows,
             1);
    if (Value descale = append.getDescale(i))
      addInput(attention, "descale_" + name, descale, 1);
    if (Value scale = append.getScale(i))
      addAppendedTo(attention, "scale_" + name, scale,
                    append.getScaleResult(i));
  }
  addInput(attention, "slots" + suffix, append.getSlots(), 1);
}

void attn::addAppended(TiledAttention &attention) {
  for (auto [number, prologue] : llvm::enumerate(attention.prologue))
    if (auto append = dyn_cast<AppendOp>(prologue.op))
      addOperands(attention, append, number);
}

FailureOr<TiledAttention> attn::findAppends(Operation *function) {
  if (failed(appendInPlace(function)))
    return failure();
  TiledAttention appends;
  appends.semantics = "append";
  function->walk([&](Operation *op) {
    if (isa<DeviceAssertOp, AppendOp>(op))
      appends.prologue.push_back({op, {}});
  });
  addAppended(appends);
  if (failed(addRowOperands(appends)))
    return failure();
  return appends;
}
