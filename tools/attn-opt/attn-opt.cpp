//===- attn-opt.cpp - Optimizer and compiler for attention ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With --target, a compiler (CompileMode.h); otherwise mlir-opt with this
// project's dialects, passes and pipelines added.
//
//===----------------------------------------------------------------------===//

#include "CompileMode.h"
#include "CrashGuard.h"
#include "Heap.h"

#include "attn/Dialect/Attn/Sharding/ShardingInterfaceImpl.h"
#include "attn/Pipelines/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

static mlir::LogicalResult runTool(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  attn::registerAllAttnDialects(registry);
  attn::registerShardingInterfaceExternalModels(registry);

  attn::CompileMode compiler;
  if (attn::CompileMode::isRequested(argc, argv))
    return compiler.run(argc, argv, registry);

  if (failed(compiler.rejectOwnOptions(argc, argv)))
    return mlir::failure();
  mlir::registerAllPasses();
  attn::registerAllAttnPasses();
  return mlir::MlirOptMain(argc, argv, "attention optimizer and compiler\n",
                           registry);
}

int main(int argc, char **argv) {
  attn::growHeapInHugePages();
  llvm::InitLLVM init(argc, argv);
  return attn::runGuarded(
      "attn-opt", [&] { return mlir::asMainReturnCode(runTool(argc, argv)); });
}
