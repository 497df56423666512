//===- CpuDevice.cpp - Compile and run on the CPU -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDevice.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines/CpuPipeline.h"
#include "attn/Pipelines/ReferencePipeline.h"
#include "attn/Reference/Tensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace attn;
using namespace attn::run;

bool attn::run::hasAttnOps(Operation *module) {
  return module
      ->walk([](Operation *op) {
        return isa_and_present<AttnDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Adds the raising pass if `options` and the module ask for it.
static void addRaising(OpPassManager &pm, ModuleOp module,
                       const Options &options) {
  bool isWanted = options.raise == Raise::Always ||
                  (options.raise == Raise::Auto && !hasAttnOps(module));
  if (!isWanted)
    return;
  // A module that is only to be run need not hold an attention.
  AttnRaiseOptions raise;
  raise.allowNone = options.raise == Raise::Auto;
  raise.maskThreshold = options.maskThreshold;
  raise.assumeVisibleRows = options.assumeVisibleRows;
  pm.addPass(createAttnRaise(raise));
  pm.addPass(createRaiseAppendPass());
}

void attn::run::addIsolation(OpPassManager &pm, ModuleOp module,
                             StringRef function) {
  eraseInnerModules(module);
  for (auto other : module.getOps<func::FuncOp>())
    if (other.getName() != function)
      other.setPrivate();
  pm.addPass(createSymbolDCEPass());
}

/// The function's type once every float in it is f64.
static FunctionType promoteSignature(FunctionType type) {
  Type f64 = Float64Type::get(type.getContext());
  auto promote = [&](Type old) -> Type {
    if (isa<FloatType>(old))
      return f64;
    auto tensor = dyn_cast<RankedTensorType>(old);
    return tensor && isa<FloatType>(tensor.getElementType()) ? tensor.clone(f64)
                                                             : old;
  };
  return FunctionType::get(type.getContext(),
                           llvm::map_to_vector(type.getInputs(), promote),
                           llvm::map_to_vector(type.getResults(), promote));
}

/// Fills what attn.pack leaves as it was, where that is nothing, with
/// reference::getUnwritten, as the interpreter does.
static void markUnwritten(ModuleOp module) {
  SmallVector<PackOp> packs;
  module.walk([&](PackOp pack) {
    if (pack.getInit().getDefiningOp<tensor::EmptyOp>())
      packs.push_back(pack);
  });
  for (PackOp pack : packs) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(pack.getInit()));
    if (!type)
      continue;
    ImplicitLocOpBuilder builder(pack.getLoc(), pack);
    APFloat unwritten(reference::getUnwritten());
    bool losesInfo;
    unwritten.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                      &losesInfo);
    Value value = arith::ConstantOp::create(
        builder, builder.getFloatAttr(type, unwritten));
    pack.getInitMutable().assign(
        linalg::FillOp::create(builder, value, pack.getInit()).getResult(0));
  }
}

FailureOr<std::unique_ptr<CpuJit>>
attn::run::compileForCpu(func::FuncOp function, CpuPath path,
                         const Options &options,
                         const HostFunctions &externals) {
  auto original = function->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> module = original.clone();
  FunctionType signature = function.getFunctionType();
  if (path == CpuPath::Float64)
    markUnwritten(*module);
  PassManager pm(module->getContext(), ModuleOp::getOperationName());
  addIsolation(pm, *module, function.getName());
  // Each pass checks what it takes; checking all ops after each of seventy
  // would be a third of the time.
  pm.enableVerifier(false);
  bool isFused = path == CpuPath::Device || path == CpuPath::Host;
  if (path == CpuPath::Device)
    addRaising(pm, *module, options);
  if (isFused) {
    CpuPipelineOptions pipeline;
    pipeline.bf16Dot = llvm::sys::getHostCPUFeatures().lookup("avx512bf16");
    buildCpuPipeline(pm, pipeline);
  } else {
    ReferencePipelineOptions pipeline;
    pipeline.promote = path == CpuPath::Float64;
    pipeline.roundFactors =
        path == CpuPath::Unfused && options.device != Device::Cpu;
    buildReferencePipeline(pm, pipeline);
  }
  if (failed(pm.run(*module)))
    return failure(reportError("cannot compile @" + function.getName().str() +
                               " for the cpu"));
  if (path == CpuPath::Float64)
    signature = promoteSignature(signature);
  // Only the fused path runs more than once.
  auto jit = CpuJit::compile(*module, function.getName(), signature,
                             /*simplify=*/isFused, externals);
  if (succeeded(jit))
    (*jit)->setNumThreads(static_cast<size_t>(options.threads));
  return jit;
}
