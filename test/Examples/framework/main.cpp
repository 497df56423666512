// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host-compiler FILE: a compiler of its own that knows the attn dialect. It
// builds an attention, lowers it to tiled loops, and compiles it to PTX.
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Pipelines/Compiler.h"
#include "attn/Pipelines/InitAll.h"
#include "attn/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 1;
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  attn::registerAllAttnDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  // The stages are pass pipelines, to be mixed with a host's own passes.
  attn::AttentionPipelineOptions target;
  target.target = "sm_90a";
  mlir::PassManager pm(&context);
  attn::buildTensorPipeline(pm, target);
  attn::buildSchedulePipeline(pm, target);
  if (mlir::failed(pm.run(*module)))
    return 1;
  module->walk([](attn::AttentionOp op) {
    llvm::outs() << "attention of " << op.getQuery().getType() << "\n";
  });

  // From whatever form the module is in to the kernel.
  attn::CompileOptions options;
  options.target = "sm_90a";
  options.artifacts = {attn::ArtifactKind::Ptx, attn::ArtifactKind::Manifest};
  auto result = attn::compile(*module, options);
  if (mlir::failed(result))
    return 1;
  llvm::outs() << result->artifacts[0].content.size() << " bytes of PTX\n";
}
