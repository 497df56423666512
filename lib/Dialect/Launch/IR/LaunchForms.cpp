//===- LaunchForms.cpp - What forms demand of launches ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchForms.h"

#include "attn/Dialect/Launch/IR/Launch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace attn;
using namespace attn::launch;

/// True for what a program launches, in either form.
static bool isKernel(Operation &op) {
  return isa<tile::KernelOp>(op) ||
         (isa<LLVM::LLVMFuncOp>(op) &&
          op.hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()));
}

LogicalResult LaunchForms::verifyForm(ModuleOp module, NormalForm form) const {
  if (form != NormalForm::Tile && form != NormalForm::Nvvm)
    return success();
  DenseSet<StringAttr> launched;
  module.walk([&](LaunchOp launch) {
    launched.insert(launch.getKernelAttr().getAttr());
  });
  for (Operation &op : *module.getBody())
    if (isKernel(op) && !launched.contains(SymbolTable::getSymbolName(&op)))
      return op.emitOpError()
             << "expected an attn_launch.launch of @"
             << SymbolTable::getSymbolName(&op).getValue() << " in the form '"
             << stringifyNormalForm(form) << "'";
  return success();
}
