//===- HostObject.h - Machine code for this host ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_CPU_HOSTOBJECT_H
#define ATTN_LIB_TARGET_CPU_HOSTOBJECT_H

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <memory>
#include <string>

namespace attn {

/// What an object's entry is called: void (void **arguments), with the
/// addresses of what the function's C interface takes.
inline constexpr const char *kPackedEntry = "attn_packed_entry";

/// The bytes of an object file with `function` of a module in the LLVM
/// dialect. Without `simplify` the code is made faster and runs slower.
llvm::Expected<std::string>
compileToObject(mlir::ModuleOp module, llvm::StringRef function, bool simplify);

/// The object's code in this process; it calls what the process has, and
/// `symbols`.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> loadObject(
    llvm::StringRef object,
    llvm::function_ref<llvm::orc::SymbolMap(llvm::orc::MangleAndInterner)>
        symbols);

} // namespace attn

#endif // ATTN_LIB_TARGET_CPU_HOSTOBJECT_H
