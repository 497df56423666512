//===- TranslateToPTX.h - From the nvvm form to PTX -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last step for a GPU: a module in the `nvvm` form (docs/Forms.md) becomes
// LLVM IR, and LLVM's NVPTX backend, in process, writes PTX text.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_PTX_TRANSLATETOPTX_H
#define ATTN_TARGET_PTX_TRANSLATETOPTX_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace attn {

struct PTXOptions {
  /// The chip as LLVM and ptxas spell it: "sm_80", "sm_90a". The PTX ISA
  /// version is the lowest that knows the chip, so that every driver for it
  /// can load the result.
  std::string chip = "sm_80";
};

/// Registers what the functions below need in the context of their module.
void registerPTXTranslation(mlir::DialectRegistry &registry);

/// Returns PTX for `module`: top-level `llvm.func` kernels (`nvvm.kernel`),
/// device functions and globals. Emits an error and fails if the chip is not
/// known to LLVM, the module is not in the nvvm form or holds no kernel, an
/// operation needs a newer chip, or code generation fails.
mlir::FailureOr<std::string> translateToPTX(mlir::ModuleOp module,
                                            const PTXOptions &options);

/// As translateToPTX, but stops at the text of the LLVM IR that code generation
/// starts from.
mlir::FailureOr<std::string> translateToNVPTXLLVMIR(mlir::ModuleOp module,
                                                    const PTXOptions &options);

/// Fails with a diagnostic at an llvm op that names a type, as of what is at an
/// address, which LLVM IR does not have: its translation, also for a host,
/// would crash.
mlir::LogicalResult checkLLVMTypes(mlir::ModuleOp module);

} // namespace attn

#endif // ATTN_TARGET_PTX_TRANSLATETOPTX_H
