//===- CpuDevice.h - Compile and run on the CPU -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_CPUDEVICE_H
#define ATTN_TOOLS_ATTNRUN_CPUDEVICE_H

#include "Options.h"

#include "attn/Target/CPU/CpuJit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

namespace attn::run {

/// Ways to compile the module.
enum class CpuPath {
  /// What a user gets: raised if asked for, then the CPU pipeline.
  Device,
  /// The same for what is around kernels of a GPU, compiled in less time.
  Host,
  /// The graph as written in its own precision, unfused.
  Unfused,
  /// The graph as written in f64; arguments and results are f64 too.
  Float64,
};

/// Compiles a copy of the function's module, whose external functions are
/// `externals`; prints diagnostics.
mlir::FailureOr<std::unique_ptr<CpuJit>>
compileForCpu(mlir::func::FuncOp function, CpuPath path, const Options &options,
              const HostFunctions &externals = {});

/// Removes what `function` does not need, so that only this is compiled.
void addIsolation(mlir::OpPassManager &pm, mlir::ModuleOp module,
                  llvm::StringRef function);

/// True if the module holds ops of the attn dialect.
bool hasAttnOps(mlir::Operation *module);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_CPUDEVICE_H
